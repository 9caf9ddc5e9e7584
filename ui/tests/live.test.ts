/** What is shown stays true, also after the connection was lost. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Demo, entry, Guarded, openBrowser, openPage, runs } from "./house";

let browser: Browser;
let demo: Demo;

beforeAll(async () => {
  [browser, demo] = await Promise.all([openBrowser(), Demo.start()]);
});

afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

test("a lost connection is shown, and resumed without a reload", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  await runs(page, "dev", "6.0.0");
  await page.getByRole("status").getByText("Live").waitFor();
  await page.evaluate("window.stayed = true");
  await demo.pause();
  await page.getByText("Connection lost").waitFor();
  // Pages that nobody has been to are there all the same, and say that there is nothing to show.
  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByText("The server does not answer.").waitFor();
  await page.goBack();
  await runs(page, "dev", "6.0.0");
  demo.release("6.1.0");
  await demo.begin();
  await page.getByRole("status").getByText("Live").waitFor();
  await runs(page, "dev", "6.1.0");
  expect(await page.evaluate("window.stayed")).toBe(true);
});

test("a server that has hung is noticed, and so is its return", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  await page.getByRole("status").getByText("Live").waitFor();
  demo.signal("SIGSTOP");
  try {
    await page.getByText("Connection lost").waitFor({ timeout: 90_000 });
  } finally {
    demo.signal("SIGCONT");
  }
  await page.getByRole("status").getByText("Live").waitFor();
  await page.context().close();
});

test("a server that answers, and cannot tell what changes, says why", async () => {
  const { page } = await openPage(browser);
  const detail = "checking who this is failed: the API server is away";
  await page.route("**/api/v1/events", (route) =>
    route.fulfill({ status: 503, contentType: "application/problem+json", json: { title: "Unavailable", detail } }),
  );
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  await page.getByRole("status").getByText(`No updates, trying again: ${detail}`).waitFor();
  await page.unroute("**/api/v1/events");
  await page.getByRole("status").getByText("Live").waitFor();
  await page.context().close();
});

test("who may only look is offered nothing else, and who may approve is", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  await entry(page, "prod").getByText("0 of 1 approvals").waitFor();
  await page.context().close();
  await demo.pause();
  const guarded = await Guarded.start(demo, ["viewer", "approver"]);
  try {
    for (const [role, may] of [
      ["viewer", false],
      ["approver", true],
    ] as const) {
      const { page, wrong } = await openPage(browser);
      await page.goto(`${guarded.url}/pipelines/default/podinfo`);
      await page.getByLabel("Token").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("The token is not known").waitFor();
      await page.getByLabel("Token").fill(guarded.tokens[role] ?? "");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText(`${role}-of-ours`).waitFor();
      const waits = page.getByRole("listitem", { name: "On the way to prod" });
      await waits.getByText("0 of 1 approvals").waitFor();
      const approve = waits.getByRole("button", { name: "Approve" });
      if (may) await approve.waitFor();
      else expect(await approve.count()).toBe(0);
      expect(await waits.getByRole("button", { name: "Promote …" }).count()).toBe(0);
      expect(await page.getByRole("button", { name: "Suspend" }).count()).toBe(0);
      await page.getByRole("link", { name: "Freezes" }).click();
      await page.getByText("Nothing is frozen").waitFor();
      expect(await page.getByRole("button", { name: "Freeze …" }).count()).toBe(0);
      await page.getByRole("link", { name: "Proposals" }).click();
      await page.getByRole("link", { name: /Promote podinfo/ }).click();
      await page.getByText("clusters/qa-eu/podinfo.yaml").waitFor();
      const write = page.getByLabel("Write something");
      if (may) await write.waitFor();
      else expect(await write.count()).toBe(0);
      expect(wrong).toEqual([]);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Token").waitFor();
    }
  } finally {
    await guarded.stop();
  }
});
