/** Stops, and setting and lifting them. */
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Action } from "../actions/dialog";
import { post, send } from "../api/client";
import { type Freeze, freezes, pipelines } from "../api/queries";
import { Answer } from "../parts/ask";
import { Badge } from "../parts/badge";
import { Empty } from "../parts/state";
import { Cell, Row, Table } from "../parts/table";
import { Ago } from "../parts/time";
import { useMay, useMaySomewhere, useNamespaces } from "../session/rights";
import { type Selector, selects } from "./selects";

export function FreezesPage() {
  const found = useQuery(freezes);
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold">Freezes</h1>
        <div className="ml-auto">
          <SetFreeze />
        </div>
      </div>
      <Answer of={found} what="freezes" level="part">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing is frozen">While something is, no promotion that it concerns goes on.</Empty>
          ) : (
            <Freezes all={all} />
          )
        }
      </Answer>
    </>
  );
}

function Freezes({ all }: { all: Freeze[] }) {
  return (
    <Table caption="Freezes" heads={["Name", "State", "Stops", "Why", "By", "From", "Until", ""]}>
      {all.map((freeze) => (
        <Row key={freeze.name}>
          <Cell>{freeze.name}</Cell>
          <Cell>
            <Badge tone={freeze.active ? "wait" : "plain"}>{freeze.active ? "in force" : "not in force"}</Badge>
          </Cell>
          <Cell>{stops(freeze)}</Cell>
          <Cell>{freeze.reason}</Cell>
          <Cell>{freeze.by}</Cell>
          <Cell>
            <Ago at={freeze.from} />
          </Cell>
          <Cell>{freeze.until ? <Ago at={freeze.until} /> : "it is lifted"}</Cell>
          <Cell>
            <Lift freeze={freeze} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function stops({ namespace, pipeline, environment, release, pipelines }: Freeze): string {
  const parts = [
    namespace && `namespace ${namespace}`,
    pipeline && `pipeline ${pipeline}`,
    environment && `environment ${environment}`,
    release && `version ${release}`,
  ].filter(Boolean);
  if (parts.length === 0) return "everything";
  return parts.join(", ") + (pipelines === 0 ? " (nothing now)" : "");
}

const FIELDS = [
  ["namespace", "Only this namespace"],
  ["pipeline", "Only pipelines of this name"],
  ["environment", "Only environments of this name"],
  ["release", "Only this version"],
] as const;

/** What is stopped, and how much that is now: a mistyped name stops nothing. */
function Selection() {
  const everywhere = useMay("pause");
  const namespaces = useNamespaces();
  const list = useId();
  const own = everywhere ? "" : (namespaces[0] ?? "");
  const [typed, setTyped] = useState<Selector>({});
  const wanted = { namespace: own, ...typed };
  const { data } = useQuery(pipelines);
  const count = (data ?? []).filter((it) => selects(wanted, it)).length;
  return (
    <>
      {FIELDS.map(([name, label]) => (
        <label key={name} className="flex flex-col gap-1">
          {label}
          <input
            name={name}
            className="field"
            // Whoever may not stop everything has to say where.
            required={name === "namespace" && !everywhere}
            defaultValue={name === "namespace" ? own : ""}
            list={name === "namespace" ? list : undefined}
            onChange={(event) => setTyped({ ...typed, [name]: event.target.value.trim() })}
          />
        </label>
      ))}
      <datalist id={list}>
        {namespaces.map((it) => (
          <option key={it} value={it} />
        ))}
      </datalist>
      <p role="status" className={count === 0 ? "text-wait" : ""}>
        {count === 0
          ? "Stops no pipeline that you see now."
          : `Stops ${count === 1 ? "1 pipeline" : `${count} pipelines`} now.`}
      </p>
    </>
  );
}

function SetFreeze() {
  const may = useMaySomewhere("pause");
  if (!may) return null;
  const act = ({ why, fields }: { why: string; fields: FormData }) => {
    const field = (name: string) => String(fields.get(name) ?? "").trim() || null;
    const selected = Object.fromEntries(FIELDS.map(([name]) => [name, field(name)]));
    const until = field("until");
    return post("/freezes", { ...selected, until: until && new Date(until).toISOString(), reason: why });
  };
  return (
    <Action label="Freeze …" title="Stop promotions" needsReason act={act}>
      <p>
        While it is in force, nothing that it concerns is proposed or merged by Weir. What is left empty stops
        everything.
      </p>
      <Selection />
      <label className="flex flex-col gap-1">
        Until (left empty: until somebody lifts it)
        <input name="until" type="datetime-local" className="field" />
      </label>
    </Action>
  );
}

function Lift({ freeze }: { freeze: Freeze }) {
  const may = useMay("pause", freeze.namespace ?? undefined, freeze.pipeline ?? undefined);
  if (!may) return null;
  return (
    <Action
      label="Lift"
      names={freeze.name}
      title={`Lift ${freeze.name}`}
      act={({ why }) => send(`/freezes/${freeze.name}`, { method: "DELETE" }, { why })}
    >
      <p>What it stopped goes on, unless something else holds it: {stops(freeze)}.</p>
    </Action>
  );
}
