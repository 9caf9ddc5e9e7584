/** The fleet at a glance: applications down, environments and their clusters across. What differs stands out. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import { type PipelineSummary, pipelines, type Running, versions } from "../api/queries";
import { Answer } from "../parts/ask";
import { Sign } from "../parts/badge";
import { Filters, Words } from "../parts/filters";
import { Scroll } from "../parts/scroll";
import { Empty } from "../parts/state";
import { PipelineLink } from "../pipeline/link";
import { clusterOf, healthOf } from "./cluster";

const route = getRouteApi("/fleet");

interface Column {
  environment: string;
  cluster: string;
}

interface Line {
  pipeline: PipelineSummary;
  cells: Map<string, Running[]>;
  /** What runs where it comes from: the first environment. */
  newest: string | undefined;
}

const place = (environment: string, cluster: string) => `${environment}\n${cluster}`;

/** So many applications are shown; whoever looks for more narrows the search. */
const MOST = 500;

export function matrix(all: PipelineSummary[], running: Running[]): { columns: Column[]; lines: Line[] } {
  const order = new Map<string, number>();
  for (const pipeline of all) {
    pipeline.environments.forEach(({ name }, number) => {
      order.set(name, Math.max(order.get(name) ?? 0, number));
    });
  }
  const cells = new Map<string, Map<string, Running[]>>();
  const columns = new Map<string, Column>();
  for (const it of running) {
    const [key, at] = [`${it.pipeline.namespace}/${it.pipeline.name}`, place(it.environment, clusterOf(it))];
    columns.set(at, { environment: it.environment, cluster: clusterOf(it) });
    const line = cells.get(key) ?? new Map<string, Running[]>();
    cells.set(key, line.set(at, [...(line.get(at) ?? []), it]));
  }
  const sorted = [...columns.values()].sort(
    (one, other) =>
      (order.get(one.environment) ?? 0) - (order.get(other.environment) ?? 0) ||
      one.environment.localeCompare(other.environment) ||
      one.cluster.localeCompare(other.cluster),
  );
  const lines = all.map((pipeline) => ({
    pipeline,
    cells: cells.get(`${pipeline.namespace}/${pipeline.name}`) ?? new Map<string, Running[]>(),
    newest: pipeline.environments[0]?.runs?.name,
  }));
  return { columns: sorted, lines };
}

export function FleetPage() {
  const all = useQuery(pipelines);
  const running = useQuery(versions);
  return (
    <>
      <h1 className="mb-3 text-xl font-semibold">Fleet</h1>
      <Answer of={all} what="pipelines" level="part">
        {(known) => (
          <Answer of={running} what="versions" level="part">
            {(seen) => <Matrix all={known} running={seen} />}
          </Answer>
        )}
      </Answer>
    </>
  );
}

function Matrix({ all, running }: { all: PipelineSummary[]; running: Running[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const words = useDeferredValue(search.q ?? "").toLowerCase();
  const { columns, lines } = useMemo(() => matrix(all, running), [all, running]);
  const shown = lines.filter(({ pipeline }) => `${pipeline.namespace}/${pipeline.name}`.includes(words));
  if (columns.length === 0) {
    return <Empty title="Nothing is known to run">What Flux or CI reports appears here.</Empty>;
  }
  return (
    <>
      <Filters label="Applications">
        <Words
          label="Search for an application"
          value={search.q}
          onChange={(q) => navigate({ search: q ? { q } : {}, replace: true })}
        />
      </Filters>
      <p className="mb-2 text-sm text-muted">
        What is framed runs another version than the first environment of its pipeline.
        {shown.length > MOST && ` ${MOST} of ${shown.length} applications are shown.`}
      </p>
      <Scroll label="Application, environment and cluster" className="card">
        <table className="text-left text-sm">
          <caption className="sr-only">Which version of each application runs in which environment and cluster</caption>
          <thead className="text-muted">
            <tr className="border-b border-line">
              <th scope="col" className="sticky left-0 bg-card px-3 py-2 font-medium">
                Application
              </th>
              {columns.map(({ environment, cluster }) => (
                <th key={place(environment, cluster)} scope="col" className="px-3 py-2 font-medium whitespace-nowrap">
                  {environment}
                  <span className="block text-xs font-normal">{cluster}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {shown.slice(0, MOST).map((line) => (
              <FleetLine key={`${line.pipeline.namespace}/${line.pipeline.name}`} line={line} columns={columns} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function FleetLine({ line, columns }: { line: Line; columns: Column[] }) {
  const { namespace, name } = line.pipeline;
  return (
    <tr>
      <th scope="row" className="sticky left-0 bg-card px-3 py-1 font-normal whitespace-nowrap">
        <PipelineLink pipeline={{ namespace, name }} />
      </th>
      {columns.map(({ environment, cluster }) => {
        const found = line.cells.get(place(environment, cluster)) ?? [];
        return (
          <td key={place(environment, cluster)} className="px-3 py-1 whitespace-nowrap">
            {found.map((it) => (
              <Version key={it.workload} running={it} newest={line.newest} />
            ))}
          </td>
        );
      })}
    </tr>
  );
}

function Version({ running, newest }: { running: Running; newest: string | undefined }) {
  const differs = newest !== undefined && running.version !== newest;
  return (
    <span
      className={`mr-1 inline-block rounded px-1 font-mono ${differs ? "border border-wait" : "border border-transparent"}`}
      title={`${running.workload}: ${healthOf(running)}`}
    >
      <Sign tone={running.healthy ? "good" : "bad"} /> <span className="sr-only">{healthOf(running)}: </span>
      {running.version ?? "–"}
      {differs && <span className="sr-only"> (differs)</span>}
    </span>
  );
}
