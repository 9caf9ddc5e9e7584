/** Every pipeline, with its environments as a row of cells. Only the rows in sight are made. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useMemo, useRef } from "react";
import { Refusal } from "../api/client";
import { definitions, type EnvironmentSummary, type PipelineSummary, pipelines } from "../api/queries";
import { Answer } from "../parts/ask";
import { Badge, Sign } from "../parts/badge";
import { Choice, Filters, Words } from "../parts/filters";
import { Empty, Failed } from "../parts/state";
import { useMaySomewhere } from "../session/rights";
import { distinct, fits, health, isIn, isMoving, STATES, type Wanted } from "./summary";

const route = getRouteApi("/");

export function PipelinesPage() {
  const found = useQuery(pipelines);
  if (found.error instanceof Refusal && found.error.status === 403) return <Forbidden error={found.error} />;
  return (
    <Answer of={found} what="pipelines">
      {(all) => (all.length === 0 ? <Nothing /> : <Pipelines all={all} />)}
    </Answer>
  );
}

/** Whoever may look at no pipeline may still have a namespace that has none; who may what there is not known here. */
function Forbidden({ error }: { error: Refusal }) {
  const { data: where } = useQuery(definitions);
  return (
    <>
      <Failed error={error} />
      {where && (
        <p className="text-center text-muted">
          Is there a namespace that you may define pipelines in?{" "}
          <Link to="/define" className="link">
            Define one
          </Link>
        </p>
      )}
    </>
  );
}

function Nothing() {
  return (
    <Empty title="There is no pipeline yet">
      <p>
        Put a Pipeline into the folder that Weir follows, or <code>kubectl apply</code> one. It appears here by itself.
      </p>
      <div className="mt-4">
        <NewPipeline />
      </div>
    </Empty>
  );
}

function Pipelines({ all }: { all: PipelineSummary[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = useDeferredValue(search);
  const shown = useMemo(() => all.filter((it) => fits(it, wanted)), [all, wanted]);
  const set = (name: keyof Wanted) => (value: string | undefined) =>
    navigate({ search: (known) => ({ ...known, [name]: value }), replace: true });
  const clusters = useMemo(
    () => distinct(all.flatMap((it) => it.environments.flatMap((each) => each.clusters))),
    [all],
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-baseline gap-3">
        <h1 className="text-xl font-semibold">Pipelines</h1>
        <Counts all={all} />
        <div className="ml-auto">
          <NewPipeline />
        </div>
      </div>
      <Filters label="Pipelines">
        <Words label="Search for a name or a version" value={search.q} onChange={set("q")} />
        <Choice
          label="Namespace"
          value={search.namespace}
          options={distinct(all.map((it) => it.namespace))}
          onChange={set("namespace")}
        />
        <Choice label="State" value={search.state} options={STATES} onChange={set("state")} />
        <Choice label="Cluster" value={search.cluster} options={clusters} onChange={set("cluster")} />
      </Filters>
      {shown.length === 0 ? (
        <Empty title="No pipeline is like that">Change what is searched for.</Empty>
      ) : (
        <Rows shown={shown} />
      )}
    </>
  );
}

function NewPipeline() {
  const may = useMaySomewhere("define");
  if (!may) return null;
  return (
    <Link to="/define" className="button">
      New pipeline
    </Link>
  );
}

function Counts({ all }: { all: PipelineSummary[] }) {
  const count = (state: string) => all.filter((it) => isIn(it, state)).length;
  const [waiting, problem] = [count("waiting"), count("problem")];
  return (
    <p role="status" className="text-muted">
      {all.length} in all, {waiting} {waiting === 1 ? "waits" : "wait"}, {problem} with a problem
    </p>
  );
}

function Rows({ shown }: { shown: PipelineSummary[] }) {
  const list = useRef<HTMLUListElement>(null);
  const rows = useWindowVirtualizer({
    count: shown.length,
    estimateSize: () => 76,
    overscan: 10,
    scrollMargin: list.current?.offsetTop ?? 0,
    getItemKey: (index) => `${shown[index]?.namespace}/${shown[index]?.name}`,
  });
  return (
    <ul ref={list} className="relative" style={{ height: rows.getTotalSize() }}>
      {rows.getVirtualItems().map(({ index, key, start }) => {
        const pipeline = shown[index];
        if (!pipeline) return null;
        return (
          <li
            key={key}
            data-index={index}
            ref={rows.measureElement}
            aria-setsize={shown.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0 pb-2"
            style={{ transform: `translateY(${start - rows.options.scrollMargin}px)` }}
          >
            <Row pipeline={pipeline} />
          </li>
        );
      })}
    </ul>
  );
}

function Row({ pipeline }: { pipeline: PipelineSummary }) {
  const { namespace, name } = pipeline;
  return (
    <article className="card flex flex-wrap items-stretch gap-x-4 gap-y-2 px-4 py-2 hover:border-accent">
      <div className="w-full min-w-0 sm:w-64">
        <h2 className="truncate font-semibold">
          <Link to="/pipelines/$namespace/$name" params={{ namespace, name }} className="hover:underline">
            {name}
          </Link>
        </h2>
        <p className="flex flex-wrap gap-x-2 text-sm text-muted">
          {namespace}
          {pipeline.suspended && <Badge tone="plain">suspended</Badge>}
          {pipeline.unread && <Badge tone="bad">cannot be read</Badge>}
          {!pipeline.defined && !pipeline.unread && <Badge tone="plain">no longer defined</Badge>}
        </p>
      </div>
      {pipeline.unread && (
        <p className="min-w-0 flex-1 self-center text-sm wrap-anywhere text-bad">{pipeline.unread}</p>
      )}
      <ol className="flex min-w-0 flex-1 flex-wrap gap-2 empty:hidden">
        {pipeline.environments.map((environment) => (
          <Cell key={environment.name} environment={environment} />
        ))}
      </ol>
    </article>
  );
}

function Cell({ environment }: { environment: EnvironmentSummary }) {
  const [tone, words] = health(environment);
  const coming = isMoving(environment) && environment.release?.name !== environment.runs?.name;
  const hold = environment.holds[0];
  return (
    <li className="min-w-32 flex-1 rounded bg-raised/60 px-2 py-1">
      <p className="text-xs text-muted">{environment.name}</p>
      <p className="truncate font-mono text-sm" title={environment.runs?.name}>
        <Sign tone={tone} /> <span className="sr-only">{words}: </span>
        {environment.runs?.name ?? "–"}
        {coming && <span className="text-move"> → {environment.release?.name}</span>}
      </p>
      {hold && (
        <p className="truncate text-xs text-wait">
          <Sign tone="wait" /> {spaced(hold)}
        </p>
      )}
    </li>
  );
}

/** `AwaitingApproval`, as people write it. */
export function spaced(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
}
