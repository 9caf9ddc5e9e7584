import { expect, test } from "vitest";
import type { PipelineSummary, Running } from "../api/queries";
import { matrix } from "./fleet";

const pipeline = (name: string, ...environments: string[]): PipelineSummary => ({
  namespace: "shop",
  name,
  defined: true,
  suspended: false,
  problem: false,
  environments: environments.map((it) => ({
    name: it,
    holds: [],
    health: "healthy",
    clusters: [],
    runs: { name: "2.0", workloads: {} },
  })),
});

const running = (name: string, environment: string, cluster: string): Running => ({
  pipeline: { namespace: "shop", name },
  environment,
  cluster,
  workload: `HelmRelease/${name}`,
  version: "1.0",
  healthy: true,
  unreachable: false,
  images: [],
});

test("columns are in the order of the pipelines, and then of the clusters", () => {
  const all = [pipeline("a", "dev", "prod"), pipeline("b", "dev", "qa", "prod")];
  const seen = [
    running("a", "prod", "us"),
    running("a", "prod", "eu"),
    running("a", "dev", "one"),
    running("b", "qa", "one"),
  ];
  const { columns, lines } = matrix(all, seen);
  expect(columns.map((it) => `${it.environment} ${it.cluster}`)).toEqual(["dev one", "qa one", "prod eu", "prod us"]);
  expect(lines.map((line) => line.cells.size)).toEqual([3, 1]);
  expect(lines[0]?.newest).toBe("2.0");
});
