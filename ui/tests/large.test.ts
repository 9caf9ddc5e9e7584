/** Much at once: only what is in sight is made, so that it stays quick. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment, openBrowser, openPage, serve } from "./house";

const COUNT = 5000;

function pipeline(name: string, environments: number, targets: number): string {
  const places = Array.from({ length: environments }, (_, place) => {
    const each = Array.from(
      { length: targets },
      (_, number) => `{namespace: apps, clusterRef: {kind: GitopsCluster, name: c${place}-${number}}}`,
    );
    return `{name: e${place}, targets: [${each.join(", ")}]}`;
  });
  return `apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: ${name}, namespace: default}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: ${name}}
  environments: [${places.join(", ")}]`;
}

let browser: Browser;
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  const small = Array.from({ length: COUNT }, (_, number) => pipeline(`app-${String(number).padStart(4, "0")}`, 3, 1));
  [browser, server] = await Promise.all([openBrowser(), serve([...small, pipeline("large", 20, 50)])]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

test("thousands of pipelines", async () => {
  const { page, wrong } = await openPage(browser);
  await page.goto(server.url);
  await page.getByText(`${COUNT + 1} in all`).waitFor();
  const rows = page.getByRole("article");
  expect(await rows.count()).toBeLessThan(60);
  await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
  await page.getByRole("link", { name: "large" }).waitFor();
  expect(await rows.count()).toBeLessThan(60);
  await page.getByLabel("Search").fill("app-0042");
  await page.getByRole("link", { name: "app-0042" }).waitFor();
  expect(await rows.count()).toBe(1);
  expect(new URL(page.url()).searchParams.get("q")).toBe("app-0042");
  await page.reload();
  await page.getByRole("link", { name: "app-0042" }).waitFor();
  expect(wrong).toEqual([]);
});

test("a pipeline of twenty environments with fifty targets each", async () => {
  const { page, wrong } = await openPage(browser);
  await page.goto(`${server.url}/pipelines/default/large`);
  const last = environment(page, "e19");
  await last.waitFor();
  expect(await last.getByTitle("default/c19-").count()).toBe(10);
  await last.getByRole("button", { name: "Show all 50 targets" }).click();
  await last.getByTitle("default/c19-49").waitFor();
  expect(await last.getByTitle("default/c19-").count()).toBe(50);
  expect(wrong).toEqual([]);
});
