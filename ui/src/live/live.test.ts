import { expect, test } from "vitest";
import type { PipelineSummary } from "../api/queries";
import { concerns, replaced } from "./live";

const change = { kind: "promotion", pipeline: { namespace: "a", name: "x" } };

test("a change concerns its pipeline, and lists that may show it", () => {
  expect(concerns(change, ["pipeline", "a", "x"])).toBe(true);
  expect(concerns(change, ["pipeline", "a", "y"])).toBe(false);
  expect(concerns(change, ["promotion", "a", "x-prod-1"])).toBe(true);
  expect(concerns(change, ["promotion", "b", "x-prod-1"])).toBe(false);
  expect(concerns(change, ["versions"])).toBe(true);
  expect(concerns(change, ["diff", "a", "x", "head"])).toBe(false);
  expect(concerns(change, ["rights", "a"])).toBe(false);
  expect(concerns(change, ["manifest", "a", "x"])).toBe(false);
  expect(concerns({ ...change, kind: "definition" }, ["manifest", "a", "x"])).toBe(true);
});

test("a change of no pipeline concerns all of them", () => {
  expect(concerns({ kind: "freeze" }, ["pipeline", "a", "y"])).toBe(true);
});

const summary = (namespace: string, name: string, suspended = false): PipelineSummary => ({
  namespace,
  name,
  suspended,
  defined: true,
  problem: false,
  environments: [],
});

test("a pipeline in the list is replaced, added in its place, or gone", () => {
  const list = [summary("a", "x"), summary("b", "x")];
  const names = (all: PipelineSummary[]) => all.map((it) => `${it.namespace}/${it.name}`);
  expect(replaced(list, "a", "x", summary("a", "x", true))[0]?.suspended).toBe(true);
  expect(names(replaced(list, "a", "y", summary("a", "y")))).toEqual(["a/x", "a/y", "b/x"]);
  expect(names(replaced(list, "b", "x", undefined))).toEqual(["a/x"]);
});
