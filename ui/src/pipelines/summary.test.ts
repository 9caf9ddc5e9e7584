import { expect, test } from "vitest";
import type { EnvironmentSummary, PipelineSummary } from "../api/queries";
import { fits, stateOf } from "./summary";

const environment = (more: Partial<EnvironmentSummary>): EnvironmentSummary => ({
  name: "prod",
  holds: [],
  health: "healthy",
  clusters: ["fleet/eu"],
  ...more,
});

const pipeline = (...environments: EnvironmentSummary[]): PipelineSummary => ({
  namespace: "shop",
  name: "podinfo",
  defined: true,
  suspended: false,
  problem: false,
  environments,
});

test("the worst word is the one that is shown", () => {
  expect(stateOf(pipeline(environment({})))).toBe("settled");
  expect(stateOf(pipeline(environment({ phase: "Delivered" })))).toBe("moving");
  const waits = pipeline(environment({ phase: "Pending", holds: ["AwaitingApproval"] }));
  expect(stateOf(waits)).toBe("waiting");
  expect(stateOf({ ...waits, suspended: true })).toBe("suspended");
  expect(stateOf({ ...waits, suspended: true, problem: true })).toBe("problem");
  expect(fits({ ...waits, problem: true }, { state: "waiting" }), "somebody is waited for all the same").toBe(true);
  expect(fits({ ...waits, problem: true }, { state: "problem" })).toBe(true);
  expect(fits(pipeline(environment({})), { state: "waiting" })).toBe(false);
});

test("every word that is searched for has to be there", () => {
  const it = pipeline(environment({ runs: { name: "6.1.0", workloads: {} } }));
  expect(fits(it, {})).toBe(true);
  expect(fits(it, { q: "POD 6.1" })).toBe(true);
  expect(fits(it, { q: "pod 6.2" })).toBe(false);
  expect(fits(it, { namespace: "other" })).toBe(false);
  expect(fits(it, { cluster: "fleet/eu", state: "settled" })).toBe(true);
  expect(fits(it, { cluster: "fleet/us" })).toBe(false);
});
