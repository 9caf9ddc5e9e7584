/** The journey of the demo, by mouse and by keyboard: a release is seen to arrive, approved, merged, and reaches prod. */
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Demo, entry, environment, eventually, openBrowser, openPage, runs, violations } from "./house";

let browser: Browser;
let demo: Demo;

beforeAll(async () => {
  [browser, demo] = await Promise.all([openBrowser(), Demo.start()]);
  // People merge, so that there is something to merge.
  demo.define((yaml) => yaml.replace("merge: auto", "merge: manual"));
});

afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

/** How a person presses something. */
type Press = (control: Locator) => Promise<void>;

const byMouse: Press = (control) => control.click();

/** Goes there with the Tab key alone, as far as it takes, and presses Enter. */
const byKeyboard: Press = async (control) => {
  await control.waitFor();
  const page = control.page();
  for (let count = 0; count < 100; count++) {
    if (await control.evaluate((element) => element === document.activeElement)) {
      await page.keyboard.press("Enter");
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`cannot be reached by keyboard: ${control}`);
};

async function merge(page: Page, press: Press, name: string) {
  await press(entry(page, name).getByRole("link", { name: "proposal (open)" }));
  await press(page.getByRole("button", { name: "Merge" }));
  const dialog = page.getByRole("dialog");
  await press(dialog.getByRole("button", { name: "Merge" }));
  await page.getByText(/merged by/).waitFor();
  await press(page.getByRole("link", { name: "default/podinfo" }));
}

async function journey(page: Page, press: Press, before: string, version: string) {
  await page.goto(demo.url);
  await press(page.getByRole("link", { name: "podinfo" }));
  await runs(page, "prod", before);
  demo.release(version);
  await runs(page, "dev", version);
  await merge(page, press, "qa");
  await runs(page, "qa", version);

  await entry(page, "prod").getByText("0 of 1 approvals").waitFor();
  await press(entry(page, "prod").getByRole("button", { name: "Approve" }));
  const dialog = page.getByRole("dialog", { name: `Approve ${version} for prod` });
  await dialog.getByRole("region", { name: "What will happen" }).getByText(`Weir proposes ${version}.`).waitFor();
  await dialog.getByLabel(/Why/).pressSequentially("it ran well in qa");
  await press(dialog.getByRole("button", { name: "Approve" }));
  await dialog.waitFor({ state: "detached" });
  await entry(page, "prod").getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
  await eventually("whoever works by keyboard goes on", () =>
    page.evaluate(() => document.activeElement !== document.body),
  );
  await merge(page, press, "prod");
  await runs(page, "prod", version);
  await entry(page, "prod").getByText("Succeeded").waitFor();
}

test("by mouse", async () => {
  const { page, wrong } = await openPage(browser);
  await journey(page, byMouse, "6.0.0", "6.1.0");

  await entry(page, "prod").getByRole("link", { name: "6.1.0" }).click();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("Succeeded").waitFor();
  const told = await timeline.getByRole("listitem").allTextContents();
  const story = [
    "6.1.0 healthy in qa",
    "approved 6.1.0",
    "proposal opened",
    "wants it merged",
    "healthy on",
    "Succeeded",
  ];
  const places = story.map((words) => told.findIndex((line) => line.includes(words)));
  expect(places, told.join("\n")).toEqual([...places].sort((one, other) => one - other));
  expect(places).not.toContain(-1);
  expect(told.join()).toContain("it ran well in qa");

  await page.goto(`${demo.url}/pipelines/default/podinfo/history/prod`);
  const ran = page.getByRole("table", { name: "What ran in prod, newest first" }).getByRole("row");
  await ran.nth(2).waitFor();
  const rows = await ran.allTextContents();
  expect(rows[1]).toContain("6.1.0");
  expect(rows[1]).toContain("from qa");
  expect(rows[2]).toContain("6.0.0");
  expect(rows[2]).toContain("not by a promotion");
  await page.goto(`${demo.url}/pipelines/default/podinfo/history/dev`);
  await page.getByRole("table", { name: "What ran in dev, newest first" }).getByText("6.1.0").waitFor();
  await page.getByText("Nothing was promoted into dev.").waitFor();
  expect(wrong).toEqual([]);
});

test("by keyboard alone, with what is rejected and frozen", async () => {
  const { page, wrong } = await openPage(browser);
  await journey(page, byKeyboard, "6.1.0", "6.2.0");

  await byKeyboard(page.getByRole("link", { name: "Freezes" }));
  await byKeyboard(page.getByRole("button", { name: "Freeze …" }));
  const freeze = page.getByRole("dialog", { name: "Stop promotions" });
  await freeze.getByLabel(/Why/).fill("it is Friday");
  await byKeyboard(freeze.getByRole("button", { name: "Freeze" }));
  await page.getByRole("cell", { name: "it is Friday" }).waitFor();
  await byKeyboard(page.getByRole("link", { name: "Pipelines" }));
  await byKeyboard(page.getByRole("link", { name: "podinfo" }));
  demo.release("6.3.0");
  await entry(page, "qa").getByText("it is Friday").first().waitFor();

  await byKeyboard(page.getByRole("link", { name: "Freezes" }));
  await byKeyboard(page.getByRole("button", { name: "Lift" }));
  await byKeyboard(page.getByRole("dialog").getByRole("button", { name: "Lift" }));
  await page.getByText("Nothing is frozen").waitFor();
  await byKeyboard(page.getByRole("link", { name: "Pipelines" }));
  await byKeyboard(page.getByRole("link", { name: "podinfo" }));
  await entry(page, "qa").getByRole("link", { name: "proposal (open)" }).waitFor();
  await byKeyboard(entry(page, "qa").getByRole("button", { name: "Reject" }));
  const reject = page.getByRole("dialog", { name: "Reject 6.3.0 for qa" });
  await reject.getByText(/Weir closes the proposal/).waitFor();
  await reject.getByLabel(/Why/).fill("not this one");
  await byKeyboard(reject.getByRole("button", { name: "Reject" }));
  await entry(page, "qa").getByText("Rejected", { exact: true }).waitFor();
  await environment(page, "qa").getByText("Refused here: 1").waitFor();
  expect(wrong).toEqual([]);
});

test("what is confirmed is what was looked at, whatever comes meanwhile", async () => {
  const { page, wrong } = await openPage(browser);
  const sent: unknown[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/approve")) sent.push(request.postDataJSON());
  });
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  demo.release("6.4.0");
  await merge(page, byMouse, "qa");
  await entry(page, "prod").getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Approve 6.4.0 for prod" });
  await dialog.waitFor();
  const other = await openPage(browser);
  await other.page.goto(`${demo.url}/pipelines/default/podinfo`);
  demo.release("6.5.0");
  await merge(other.page, byMouse, "qa");
  await dialog.getByRole("alert").getByText('by now it would be "Approve 6.5.0 for prod"').waitFor();
  await dialog.getByLabel(/Why/).fill("I looked at 6.4.0");
  await dialog.getByRole("button", { name: "Approve" }).click();
  await eventually("it is asked for", () => sent.length > 0);
  expect(sent).toEqual([{ version: "6.4.0", why: "I looked at 6.4.0" }]);
  expect(wrong).toEqual([]);
});

test("before a version is asked for, it is said what will come of it", async () => {
  const { page, wrong } = await openPage(browser);
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  await entry(page, "prod").getByRole("button", { name: "Promote …" }).click();
  const dialog = page.getByRole("dialog", { name: "Ask for a version in prod" });
  const preview = dialog.getByRole("region", { name: "What will happen" });
  const version = dialog.getByLabel("Version");
  const offered = dialog.locator("datalist option");
  await eventually("what ran here before is offered", async () => (await offered.count()) > 2);
  const versions = await offered.evaluateAll((all) => all.map((it) => (it as HTMLOptionElement).value));
  expect(versions.slice(0, 2)).toEqual(["6.1.0", "6.0.0"]);
  expect(versions).not.toContain("6.2.0");
  await version.fill("9.9.9");
  await preview.getByText("It would be refused: `9.9.9` cannot go to prod: it was never seen to run").waitFor();
  expect(await dialog.getByRole("button", { name: "Promote" }).isDisabled()).toBe(true);
  await version.fill("6.1.0");
  await preview.getByText("prod runs 6.2.0: 6.1.0 is older; once it is there, 6.2.0 is refused.").waitFor();
  await preview.getByText(/^6\.[45]\.0, which is on its way, gives way to it\.$/).waitFor();
  await preview.getByText("0 of 1 approvals for 6.1.0").waitFor();
  expect(await violations(page)).toEqual([]);
  await version.fill("6.2.0");
  await preview.getByText("prod runs 6.2.0 already.").waitFor();
  await version.fill("6.1.0");
  await preview.getByText("6.1.0 is older").waitFor();
  await dialog.getByLabel(/Why/).fill("6.2.0 loses orders");
  await dialog.getByRole("button", { name: "Promote" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("You asked for 6.1.0 in prod").waitFor();
  await entry(page, "prod").getByText("0 of 1 approvals for 6.1.0").waitFor();

  // Something newer waits behind it; people are asked about what has its turn.
  await entry(page, "prod").getByText("is next, and waits:").waitFor();
  await entry(page, "prod").getByRole("button", { name: "Approve 6.1.0 for prod" }).click();
  const approve = page.getByRole("dialog", { name: "Approve 6.1.0 for prod" });
  await approve.getByText("Weir proposes 6.1.0.").waitFor();
  await approve.getByLabel(/Why/).fill("it is an outage");

  // Somebody else is faster: the question stays, and says so.
  const url = `${demo.url}/api/v1/pipelines/default/podinfo/environments/prod/approve`;
  expect((await page.request.post(url, { data: { version: "6.1.0" } })).status()).toBe(200);
  await approve.getByText("This is not there to be done any more").waitFor();
  expect(await approve.getByLabel(/Why/).inputValue()).toBe("it is an outage");
  await approve.getByRole("button", { name: "Cancel" }).click();

  await entry(page, "prod").getByRole("link", { name: "proposal (open)" }).click();
  await page.getByRole("button", { name: "Merge" }).click();
  const merge = page.getByRole("dialog");
  await merge.getByText("Now prod runs 6.2.0: 6.1.0 is older; once it is there, 6.2.0 is refused.").waitFor();
  await merge.getByRole("button", { name: "Merge" }).click();
  await page.getByText(/merged by/).waitFor();
  await page.getByRole("link", { name: "default/podinfo" }).click();
  await runs(page, "prod", "6.1.0");
  expect(wrong).toEqual([]);
});

test("what is rejected is what was looked at, and nothing that came meanwhile", async () => {
  const { page } = await openPage(browser);
  const prod = `${demo.url}/api/v1/pipelines/default/podinfo/environments/prod`;
  const ask = async (version: string) => {
    const asked = await page.request.post(`${prod}/promote`, { data: { version } });
    expect(asked.status()).toBe(201);
  };
  await ask("6.0.0");
  await page.goto(`${demo.url}/pipelines/default/podinfo`);
  await entry(page, "prod").getByRole("button", { name: "Reject 6.0.0 for prod" }).click();
  const dialog = page.getByRole("dialog", { name: "Reject 6.0.0 for prod" });
  await dialog.getByRole("region", { name: "What will happen" }).getByText("waits before prod.").waitFor();
  await dialog.getByLabel(/Why/).fill("too old");
  await ask("6.2.0");
  await dialog.getByText('by now it would be "Reject 6.2.0 for prod". This would be refused').waitFor();
  await dialog
    .getByText("It would be refused: `6.0.0` is not what is on its way into `prod`: that is `6.2.0`; look at it again")
    .waitFor();
  expect(await dialog.getByRole("button", { name: "Reject" }).isDisabled()).toBe(true);
});
