/** Every chart version and image on every cluster. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import { type Running, versions } from "../api/queries";
import { Answer } from "../parts/ask";
import { Badge } from "../parts/badge";
import { Choice, Filters, Words } from "../parts/filters";
import { Empty } from "../parts/state";
import { Cell, Row, Table } from "../parts/table";
import { Ago } from "../parts/time";
import { PipelineLink } from "../pipeline/link";
import { distinct } from "../pipelines/summary";
import { clusterOf, healthOf } from "./cluster";

const route = getRouteApi("/versions");

/** So many rows are shown; whoever looks for more narrows the search. */
const MOST = 500;

export function VersionsPage() {
  const found = useQuery(versions);
  return (
    <>
      <h1 className="mb-3 text-xl font-semibold">Versions</h1>
      <Answer of={found} what="versions" level="part">
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing is known to run">
              What Flux or CI reports, and what runs on clusters that Weir watches, appears here.
            </Empty>
          ) : (
            <Versions all={all} />
          )
        }
      </Answer>
    </>
  );
}

function Versions({ all }: { all: Running[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const wanted = useDeferredValue(search);
  const shown = useMemo(() => all.filter((it) => fits(it, wanted)), [all, wanted]);
  const set = (name: "q" | "namespace" | "cluster") => (value: string | undefined) =>
    navigate({ search: (known) => ({ ...known, [name]: value }), replace: true });
  return (
    <>
      <Filters label="Versions">
        <Words label="Search for a workload, a version or an image" value={search.q} onChange={set("q")} />
        <Choice
          label="Namespace"
          value={search.namespace}
          options={distinct(all.map((it) => it.pipeline.namespace))}
          onChange={set("namespace")}
        />
        <Choice
          label="Cluster"
          value={search.cluster}
          options={distinct(all.map(clusterOf))}
          onChange={set("cluster")}
        />
      </Filters>
      {shown.length > MOST && (
        <p role="status" className="mb-2 text-muted">
          {MOST} of {shown.length} are shown.
        </p>
      )}
      <Table
        caption="What runs where"
        heads={["Pipeline", "Environment", "Cluster", "Workload", "Version", "Health", "Since", "Images"]}
      >
        {shown.slice(0, MOST).map((it) => (
          <Row key={[it.pipeline.namespace, it.pipeline.name, it.environment, it.target, it.workload].join("/")}>
            <Cell>
              <PipelineLink pipeline={it.pipeline} />
            </Cell>
            <Cell>{it.environment}</Cell>
            <Cell>{clusterOf(it)}</Cell>
            <Cell>{it.workload}</Cell>
            <Cell>
              <span className="font-mono">{it.version ?? "–"}</span>
            </Cell>
            <Cell>
              <Badge tone={it.healthy ? "good" : "bad"}>{healthOf(it)}</Badge>
            </Cell>
            <Cell>{it.since && <Ago at={it.since} />}</Cell>
            <Cell>
              <ul className="font-mono text-xs">
                {it.images.map((image) => (
                  <li key={image}>{image}</li>
                ))}
              </ul>
            </Cell>
          </Row>
        ))}
      </Table>
    </>
  );
}

function fits(it: Running, wanted: { q?: string; namespace?: string; cluster?: string }): boolean {
  const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const parts = [it.pipeline.name, it.environment, it.workload, it.version ?? "", ...it.images];
  const text = parts.join(" ").toLowerCase();
  return (
    words.every((word) => text.includes(word)) &&
    (!wanted.namespace || it.pipeline.namespace === wanted.namespace) &&
    (!wanted.cluster || clusterOf(it) === wanted.cluster)
  );
}
