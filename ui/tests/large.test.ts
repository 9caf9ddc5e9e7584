/** Much at once: only what is in sight is made, so that it stays quick. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment, openBrowser, openPage, serve } from "./house";
import { COUNT, many } from "./many";

let browser: Browser;
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  [browser, server] = await Promise.all([openBrowser(), serve(many())]);
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
