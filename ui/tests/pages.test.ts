/**
 * Every page, in light and dark, wide and narrow: what axe finds is mended, and nothing is wider than the screen. With
 * `SCREENSHOTS=1` the pictures of the documentation are made anew.
 */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Demo, entry, openBrowser, openPage, violations } from "./house";

const IMAGES = join(import.meta.dirname, "../../docs/images");

const SHOP = `apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: shop, namespace: default}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: shop}
  environments:
    - {name: dev, targets: [{namespace: shop}]}
`;

let browser: Browser;
let demo: Demo;
let promotion: string;
let proposal: string;

beforeAll(async () => {
  [browser, demo] = await Promise.all([openBrowser(), Demo.start()]);
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  demo.release("6.1.0");
  await entry(page, "prod").getByRole("button", { name: "Approve" }).waitFor();
  promotion = (await entry(page, "prod").getByRole("link", { name: "6.1.0" }).getAttribute("href")) ?? "";
  proposal =
    (await entry(page, "qa")
      .getByRole("link", { name: /proposal/ })
      .getAttribute("href")) ?? "";
  await page.context().close();
  const proposed = await fetch(`${demo.url}/api/v1/drafts`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ manifest: SHOP, why: "we open a shop" }),
  });
  expect(proposed.status).toBe(201);
});

afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

/** Each page, and what is on it when it is there. */
const PAGES: Record<string, [path: () => string, there: (page: Page) => Promise<unknown>]> = {
  pipelines: [() => "/", (page) => page.getByRole("link", { name: "podinfo" }).waitFor()],
  pipeline: [
    () => "/pipelines/default/podinfo",
    (page) => entry(page, "prod").getByRole("button", { name: "Approve" }).waitFor(),
  ],
  everything: [
    () => "/pipelines/default/podinfo",
    async (page) => {
      await entry(page, "prod").getByRole("button", { name: "Approve" }).waitFor();
      await page.evaluate(() => {
        for (const part of document.querySelectorAll("details")) part.open = true;
      });
      await page.getByRole("cell", { name: "POST /promotion/default/podinfo/dev" }).waitFor();
      await page.getByText("kind: Pipeline").waitFor();
    },
  ],
  fleet: [() => "/fleet", (page) => page.getByRole("columnheader", { name: /prod/ }).waitFor()],
  versions: [() => "/versions", (page) => page.getByRole("cell", { name: "6.0.0" }).first().waitFor()],
  promotions: [() => "/promotions", (page) => page.getByRole("link", { name: "6.1.0" }).first().waitFor()],
  promotion: [() => promotion, (page) => page.getByRole("heading", { name: "What happened" }).waitFor()],
  history: [
    () => "/pipelines/default/podinfo/history/qa",
    (page) => page.getByRole("link", { name: "6.1.0" }).first().waitFor(),
  ],
  proposals: [() => "/proposals", (page) => page.getByText("merged", { exact: true }).waitFor()],
  proposal: [() => proposal, (page) => page.getByText("clusters/qa-eu/podinfo.yaml").first().waitFor()],
  define: [
    () => "/define",
    async (page) => {
      await page.getByRole("textbox", { name: "Name of the pipeline" }).fill("Shop");
      await page.getByRole("textbox", { name: "Name of the pipeline" }).blur();
      await page.getByText("5 findings").waitFor();
      await page.getByText("metadata.name: ").waitFor();
    },
  ],
  draft: [() => "/drafts/default/shop", (page) => page.getByRole("button", { name: "Merge" }).waitFor()],
  freezes: [() => "/freezes", (page) => page.getByText("Nothing is frozen").waitFor()],
  nothing: [() => "/pipelines/default/nope", (page) => page.getByText("It is not there").waitFor()],
};

describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
  test.each(Object.keys(PAGES))("%s", async (name) => {
    const [path, there] = PAGES[name] ?? [];
    const { page, wrong } = await openPage(browser, { colorScheme });
    await page.goto(demo.url + path?.());
    await there?.(page);
    expect(await violations(page)).toEqual([]);
    expect(wrong).toEqual([]);
    if (process.env["SCREENSHOTS"] && !["nothing", "everything"].includes(name))
      await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) });
    for (const width of [390, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      await there?.(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(wide, `${name} at ${width}`).toBeLessThanOrEqual(0);
    }
    await page.context().close();
  });
});
