/** One environment: what it runs, and where. */
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Environment, Pipeline, Place, Target, Workload } from "../api/queries";
import { Badge, Sign, type Tone } from "../parts/badge";
import { Ago, For } from "../parts/time";
import { Explanation } from "./explanation";
import { Behind } from "./tree";

/** So many targets are shown before one is asked whether to show all. */
const FEW = 10;

export function EnvironmentColumn({ pipeline, environment }: { pipeline: Pipeline; environment: Environment }) {
  const [all, setAll] = useState(false);
  const { targets } = environment;
  const shown = all ? targets : targets.slice(0, FEW);
  const { namespace, name } = pipeline;
  return (
    <li
      className="card flex flex-col gap-3 p-4 lg:min-w-64 lg:flex-1"
      aria-labelledby={`environment-${environment.name}`}
    >
      <div>
        <h2 id={`environment-${environment.name}`} className="text-sm text-muted">
          {environment.name}
        </h2>
        <p className="font-mono text-lg font-semibold wrap-anywhere">{environment.runs?.name ?? "–"}</p>
      </div>
      <ul className="space-y-2">
        {shown.map((target) => (
          <TargetCard key={target.name} target={target} at={{ namespace, name, environment: environment.name }} />
        ))}
      </ul>
      {targets.length > FEW && (
        <button type="button" className="button" onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? `Show ${FEW} of ${targets.length}` : `Show all ${targets.length} targets`}
        </button>
      )}
      {environment.reported.length > 0 && (
        <div className="text-sm">
          <p className="text-muted">Reported without a target:</p>
          <Workloads workloads={environment.reported} />
        </div>
      )}
      <Refused environment={environment} />
      <Explanation explanation={environment.explanation} />
      <Link
        to="/pipelines/$namespace/$name/history/$environment"
        params={{ namespace, name, environment: environment.name }}
        className="link text-sm"
      >
        History of {environment.name}
      </Link>
    </li>
  );
}

function tone(target: Target): [Tone, string] {
  if (target.unreachable) return ["bad", "unreachable"];
  if (target.workloads.some((it) => it.state === "failed")) return ["bad", "failed"];
  if (target.workloads.some((it) => it.state === "progressing")) return ["move", "deploying"];
  return target.healthySince ? ["good", "healthy"] : ["plain", "nothing seen"];
}

/** The environment that something is in. */
type At = Pick<Place, "namespace" | "name" | "environment">;

function TargetCard({ target, at }: { target: Target; at: At }) {
  const [sign, words] = tone(target);
  return (
    <li className="rounded border border-line p-2 text-sm [contain-intrinsic-size:auto_4rem] [content-visibility:auto]">
      <p className="flex flex-wrap items-center gap-x-2">
        <span className="min-w-0 flex-1 wrap-anywhere" title={target.name}>
          {target.cluster ?? "this cluster"} <span className="text-muted">/ {target.namespace}</span>
        </span>
        <Badge tone={sign}>{words}</Badge>
      </p>
      <p>
        <span className="font-mono wrap-anywhere">{target.release?.name ?? "–"}</span>
        {target.healthySince && (
          <span className="text-muted">
            {" "}
            <For since={target.healthySince} />
          </span>
        )}
        <span className="text-muted">, {target.detection === "watch" ? "watched" : "by events"}</span>
      </p>
      {target.unreachable && (
        <p className="text-bad wrap-anywhere">
          {target.unreachable.error} (<For since={target.unreachable.since} />)
        </p>
      )}
      {target.message && <p className="wrap-anywhere text-muted">{target.message}</p>}
      <Workloads
        workloads={target.workloads}
        at={target.detection === "watch" ? { ...at, target: target.name } : undefined}
      />
    </li>
  );
}

const STATES: Record<string, Tone> = { healthy: "good", progressing: "move", failed: "bad" };

/** `at` says where they can be looked at. */
function Workloads({ workloads, at }: { workloads: Workload[]; at?: Omit<Place, "workload"> | undefined }) {
  if (workloads.length === 0) return null;
  return (
    <details className="mt-1">
      <summary className="cursor-pointer text-muted">
        {workloads.length === 1 ? "1 workload" : `${workloads.length} workloads`}
      </summary>
      <ul className="mt-1 space-y-1">
        {workloads.map((workload) => (
          <li key={`${workload.kind}/${workload.name}`}>
            <p>
              <Sign tone={STATES[workload.state] ?? "plain"} /> {workload.kind}/{workload.name}{" "}
              <span className="font-mono wrap-anywhere">{workload.version ?? "–"}</span>{" "}
              <span className="text-muted">{workload.state}</span>
            </p>
            {workload.message && <p className="pl-4 text-bad wrap-anywhere">{workload.message}</p>}
            {workload.images.map((image) => (
              <p key={image} className="pl-4 font-mono text-xs wrap-anywhere text-muted">
                {image}
              </p>
            ))}
            {(workload.lastReport ?? workload.since) && (
              <p className="pl-4 text-muted">
                last change <Ago at={workload.lastReport ?? workload.since ?? ""} />
              </p>
            )}
            {at && <Behind place={{ ...at, workload: `${workload.kind}/${workload.name}` }} />}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Refused({ environment }: { environment: Environment }) {
  if (environment.refusals.length === 0) return null;
  return (
    <details className="text-sm">
      <summary className="cursor-pointer text-muted">Refused here: {environment.refusals.length}</summary>
      <ul className="mt-1 space-y-1">
        {environment.refusals.map(({ release, at, why }) => (
          <li key={release.name + at}>
            <span className="font-mono">{release.name}</span>: {why} (<Ago at={at} />)
          </li>
        ))}
      </ul>
    </details>
  );
}
