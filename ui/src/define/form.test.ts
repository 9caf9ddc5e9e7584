import { expect, test } from "vitest";
import { EMPTY, moved, next, scalar, yaml } from "./form";

test("what YAML would read as something else is put in quotes", () => {
  for (const plain of ["podinfo", "a-b.c", "https://git.example.org/a/b.git", "ssh://git@host:22/x"]) {
    expect(scalar(plain)).toBe(plain);
  }
  for (const odd of [
    "",
    "1",
    "1.0",
    "true",
    "No",
    "~",
    "a: b",
    "a #b",
    "- a",
    '"',
    "a\nb",
    " a",
    "git@host:x",
    "*a",
    "a:",
  ]) {
    expect(scalar(odd)).toBe(JSON.stringify(odd));
  }
});

test("a definition has what was filled in, and nothing that was not", () => {
  const form = {
    ...EMPTY,
    namespace: "team",
    name: "shop",
    app: "shop",
    way: "git" as const,
    url: "file:///srv/config.git",
    environments: [
      { id: 1, name: "dev", targets: [{ id: 2, cluster: "", namespace: "shop" }] },
      {
        id: 3,
        name: "prod",
        targets: [
          { id: 4, cluster: "team/eu", namespace: "shop" },
          { id: 5, cluster: "ops/us", namespace: "shop" },
        ],
      },
    ],
  };
  expect(yaml(form)).toBe(`apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata:
  name: shop
  namespace: team
spec:
  appRef:
    apiVersion: helm.toolkit.fluxcd.io/v2
    kind: HelmRelease
    name: shop
  promotion:
    strategy:
      pull-request:
        type: git
        url: file:///srv/config.git
        baseBranch: main
  environments:
    - name: dev
      targets:
        - namespace: shop
    - name: prod
      targets:
        - namespace: shop
          clusterRef:
            kind: GitopsCluster
            name: eu
        - namespace: shop
          clusterRef:
            kind: GitopsCluster
            name: us
            namespace: ops
`);
  const pushed = yaml({ ...form, way: "push", secret: "git" });
  expect(pushed).toContain(
    "      push:\n        url: file:///srv/config.git\n        baseBranch: main\n        secretRef:\n          name: git\n",
  );
  expect(yaml({ ...form, way: "notification" })).toContain("      notification: {}\n");
  expect(yaml({ ...form, way: "none", environments: [] })).toContain("    name: shop\n  environments: []\n");
});

test("an item changes places with its neighbour, and stays at the ends", () => {
  expect(moved(["a", "b", "c"], 1, -1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b", "c"], 1, 1)).toEqual(["a", "c", "b"]);
  expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
  expect(moved(["a", "b"], 1, 1)).toEqual(["a", "b"]);
  expect(next(EMPTY)).toBe(5);
});

test("the Secret that signs events stands beside the one that opens the repository", () => {
  const form = { ...EMPTY, way: "git" as const, url: "file:///srv/config.git", secret: "git", events: "signed" };
  expect(yaml(form)).toContain(`    strategy:
      pull-request:
        type: git
        url: file:///srv/config.git
        baseBranch: main
        secretRef:
          name: git
      secretRef:
        name: signed
`);
  expect(yaml({ ...form, way: "notification" })).toContain(
    "      notification: {}\n      secretRef:\n        name: signed\n",
  );
});
