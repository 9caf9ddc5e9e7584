/** What Flux deployed on a real cluster, and the objects behind it. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment, Leaf, openBrowser, openPage, serve, violations } from "./house";

let browser: Browser;
let leaf: Leaf;
let server: Awaited<ReturnType<typeof serve>>;

/** Beside the target that is watched, one that is known by events. */
const PIPELINE = `
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: podinfo, namespace: default}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: podinfo}
  environments:
    - name: dev
      targets: [{namespace: default, clusterRef: {kind: GitopsCluster, name: dev}}]
    - name: prod
      targets: [{namespace: default, clusterRef: {kind: GitopsCluster, name: prod}}]
`;

const CLUSTER = `
apiVersion: gitops.weave.works/v1alpha1
kind: GitopsCluster
metadata: {name: dev, namespace: default}
spec: {secretRef: {name: dev-kubeconfig}}
`;

beforeAll(async () => {
  [browser, leaf] = await Promise.all([openBrowser(), Leaf.start()]);
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "dev-kubeconfig", namespace: "default" },
    stringData: { value: leaf.kubeconfig },
  };
  server = await serve([PIPELINE, CLUSTER, JSON.stringify(secret)]);
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await leaf?.stop();
});

test("the source, the release and what it applied are a tree", async () => {
  const { page, wrong } = await openPage(browser);
  await page.goto(`${server.url}/pipelines/default/podinfo`);
  const dev = environment(page, "dev");
  await dev.getByText("6.1.0", { exact: true }).first().waitFor();
  await dev.getByText("1 workload").press("Enter");
  await dev.getByText("Flux objects").press("Enter");
  const tree = dev.getByRole("list", { name: "Flux objects behind HelmRelease/podinfo" });
  await tree.getByText("Deployment").waitFor();
  const words = (await tree.textContent()) ?? "";
  const places = [
    "HelmRepository charts",
    "HelmChart default-podinfo",
    "HelmRelease podinfo",
    "Deployment podinfo",
  ].map((object) => words.indexOf(object));
  expect(places, words).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(words).toContain("example.org/podinfo:6.1.0");
  expect(words).toContain("0 of 1 are ready");
  expect(await violations(page)).toEqual([]);
  // Nobody watches prod, so there is nothing to look at.
  expect(await environment(page, "prod").getByText("Flux objects").count()).toBe(0);
  expect(wrong).toEqual([]);
});

test("a cluster that is gone says so in place of the tree", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/pipelines/default/podinfo`);
  const dev = environment(page, "dev");
  await dev.getByText("1 workload").click();
  await leaf.stop();
  await dev.getByText("Flux objects").click();
  await dev.getByText(/the cluster cannot be read/).waitFor();
});
