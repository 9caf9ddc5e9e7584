/** What the list says about a pipeline and its environments, in a word. */
import type { EnvironmentSummary, PipelineSummary } from "../api/queries";
import type { Tone } from "../parts/badge";

export const STATES = ["waiting", "moving", "problem", "suspended", "settled"] as const;
export type State = (typeof STATES)[number];

const LIVE = new Set(["Pending", "Proposed"]);

/** Whether a release is on its way into an environment, and not there yet. */
export function isMoving(environment: EnvironmentSummary): boolean {
  return LIVE.has(environment.phase ?? "") || environment.phase === "Delivered";
}

export function stateOf(pipeline: PipelineSummary): State {
  if (pipeline.problem) return "problem";
  if (pipeline.suspended) return "suspended";
  if (waits(pipeline)) return "waiting";
  return pipeline.environments.some(isMoving) ? "moving" : "settled";
}

const waits = ({ environments }: PipelineSummary) => environments.some((it) => it.holds.length > 0);

/** Whether a pipeline is in a state; one with a problem may wait for somebody all the same. */
export function isIn(pipeline: PipelineSummary, state: string): boolean {
  return stateOf(pipeline) === state || (state === "waiting" && waits(pipeline));
}

export function health(environment: EnvironmentSummary): [Tone, string] {
  switch (environment.health) {
    case "healthy":
      return ["good", "healthy"];
    case "failed":
      return ["bad", "failed"];
    case "unreachable":
      return ["bad", "unreachable"];
    case "progressing":
      return ["move", "deploying"];
    default:
      return ["plain", "nothing seen"];
  }
}

export interface Wanted {
  q?: string;
  namespace?: string;
  state?: string;
  cluster?: string;
}

export function fits(pipeline: PipelineSummary, wanted: Wanted): boolean {
  const words = (wanted.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const versions = pipeline.environments.flatMap((it) => [it.runs?.name ?? "", it.release?.name ?? ""]);
  const text = [pipeline.namespace, pipeline.name, pipeline.workload ?? "", ...versions].join(" ").toLowerCase();
  return (
    words.every((word) => text.includes(word)) &&
    (!wanted.namespace || pipeline.namespace === wanted.namespace) &&
    (!wanted.state || isIn(pipeline, wanted.state)) &&
    (!wanted.cluster || pipeline.environments.some((it) => it.clusters.includes(wanted.cluster ?? "")))
  );
}

export function distinct(items: Iterable<string>): string[] {
  return [...new Set(items)].sort();
}
