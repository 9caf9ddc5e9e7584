/** A pipeline that is not there yet: from the form to the proposal, and from the merge to the list. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Demo, Guarded, openBrowser, openPage, signIn } from "./house";

let browser: Browser;
let demo: Demo;

beforeAll(async () => {
  [browser, demo] = await Promise.all([openBrowser(), Demo.start()]);
});

afterAll(async () => {
  await browser?.close();
  await demo?.stop();
});

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });
const definition = (page: Page) => page.getByRole("region", { name: "The definition, in YAML" });

test("a pipeline is defined in the form, proposed, merged, and appears", async () => {
  const { page, wrong } = await openPage(browser);
  await page.goto(demo.url);
  await page.getByRole("link", { name: "New pipeline" }).click();
  await page.getByRole("heading", { name: "New pipeline" }).waitFor();
  const propose = page.getByRole("button", { name: "Propose …" });
  await page.getByText("5 findings").waitFor();
  expect(await propose.isDisabled()).toBe(true);

  // By keyboard, from field to field.
  await field(page, "Name of the pipeline").focus();
  await page.keyboard.type("Shop");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("shop");
  await definition(page).getByText("name: Shop", { exact: true }).waitFor();
  const name = field(page, "Name of the pipeline");
  const repository = `file://${join(demo.folder, "demo/config.git")}`;
  for (const environment of ["dev", "prod"]) {
    await page.getByRole("combobox", { name: `Cluster of target 1 of ${environment}` }).fill(`default/${environment}`);
    await field(page, `Namespace there of target 1 of ${environment}`).fill("shop");
  }
  await page.getByRole("combobox", { name: "By" }).selectOption("git");
  await field(page, "Repository that says what runs").fill(repository);

  // What is wrong stands at its line and at its field, and goes when it is mended.
  await definition(page).getByText("metadata.name: ").waitFor();
  expect(await name.getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("group", { name: "What is promoted" }).getByText("lowercase").waitFor();
  await name.fill("shop");
  await page.getByText("Nothing is wrong with it").waitFor();
  expect(await name.getAttribute("aria-invalid")).toBe("false");

  // Environments come, change places and go, and the focus stays where one works.
  await page.getByRole("button", { name: "Add an environment" }).press("Enter");
  await page.keyboard.type("qa");
  await page.getByRole("button", { name: "Move qa up" }).press("Enter");
  await definition(page).getByText("name: qa").waitFor();
  const lines = (await definition(page).textContent()) ?? "";
  expect(lines.indexOf("name: qa")).toBeGreaterThan(lines.indexOf("name: dev"));
  expect(lines.indexOf("name: qa")).toBeLessThan(lines.indexOf("name: prod"));
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Move qa up");
  await page.getByText("1 finding").waitFor();
  await page.getByRole("button", { name: "Remove qa" }).click();
  await page.getByText("Nothing is wrong with it").waitFor();

  // An accident loses nothing.
  await page.reload();
  await page.getByText("Nothing is wrong with it").waitFor();
  expect(await name.inputValue()).toBe("shop");

  await propose.click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("pipelines/default/shop.yaml").waitFor();
  await dialog.getByText("weir/define/default/shop into main").waitFor();
  await dialog.getByRole("textbox", { name: /Why/ }).fill("we open a shop");
  await dialog.getByRole("button", { name: "Propose" }).click();

  await page.getByRole("heading", { name: "Define pipeline default/shop" }).waitFor();
  await page.getByText("we open a shop").waitFor();
  await definition(page).getByText(`url: ${repository}`).waitFor();
  await page.getByRole("link", { name: "Proposals" }).first().click();
  await page.getByRole("link", { name: "Define pipeline default/shop" }).click();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.getByText(/^It is on main, with commit/).waitFor();

  // Whatever follows the repository takes it in, and it appears by itself.
  await page.getByRole("link", { name: "Look at the pipeline" }).click();
  await page.getByRole("heading", { name: "shop" }).first().waitFor();
  await page.getByRole("link", { name: "Pipelines" }).click();
  await page.getByRole("link", { name: "shop", exact: true }).waitFor();

  // What was proposed is not offered once more.
  await page.getByRole("link", { name: "New pipeline" }).click();
  expect(await name.inputValue()).toBe("");
  expect(wrong).toEqual([]);
  await page.context().close();
});

/** Fills in as little as a pipeline needs. */
async function fill(page: Page, name: string, verdict = "Nothing is wrong with it") {
  await field(page, "Name of the pipeline").fill(name);
  await field(page, "Name of the application").fill(name);
  await page.getByRole("combobox", { name: "By" }).selectOption("none");
  for (const environment of ["dev", "prod"]) {
    await field(page, `Namespace there of target 1 of ${environment}`).fill(`${name}-${environment}`);
  }
  await page.getByText(verdict).waitFor();
}

test("what is there already is refused, and said so", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/define`);
  await fill(page, "podinfo", "1 finding");
  await page.getByText("there is a pipeline of this name already").first().waitFor();
  expect(await page.getByRole("button", { name: "Propose …" }).isDisabled()).toBe(true);
  // Whoever is not told in time is told by the server.
  const manifest = (
    await page
      .getByRole("region", { name: "The definition, in YAML" })
      .locator("li > span:nth-child(2)")
      .allTextContents()
  ).join("\n");
  const refused = await fetch(`${demo.url}/api/v1/drafts`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ manifest }),
  });
  expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
    409,
    expect.stringContaining("there is a pipeline `default/podinfo` already"),
  ]);
  await page.context().close();
});

test("who takes the place of another's proposal is told whose it is", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/define`);
  await fill(page, "twice");
  await page.getByRole("button", { name: "Propose …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Propose" }).click();
  await page.getByRole("button", { name: "Merge" }).waitFor();
  await page.goto(`${demo.url}/define`);
  await fill(page, "twice");
  await page.getByRole("button", { name: "Propose …" }).click();
  await page
    .getByRole("dialog")
    .getByText(/has proposed one of this name .* This takes its place/)
    .waitFor();
  await page.context().close();
});

/** The form, as somebody with this role comes to it. */
async function come(guarded: Guarded, role: string, isOffered: boolean): Promise<Page> {
  const { page } = await openPage(browser);
  // Nothing is offered before it is known what they may do; of who may little, every namespace is asked for.
  const known = page.waitForResponse((it) => it.url().includes(isOffered ? "/rights" : "/rights?namespace=default"));
  await signIn(page, guarded, role);
  await page.getByRole("link", { name: "podinfo" }).waitFor();
  await (await known).finished();
  const link = page.getByRole("link", { name: "New pipeline" });
  if (isOffered) await link.waitFor();
  else expect(await link.count()).toBe(0);
  await page.evaluate(() => history.pushState({}, "", "/define"));
  await page.reload();
  await page.getByText("5 findings").waitFor();
  return page;
}

test("a viewer is told, and not offered it", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/define`);
  await fill(page, "web");
  await page.getByRole("button", { name: "Propose …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Propose" }).click();
  await page.getByRole("button", { name: "Merge" }).waitFor();
  await page.context().close();
  await demo.pause();
  const repository = `file://${join(demo.folder, "demo/config.git")}`;
  const guarded = await Guarded.start(demo, ["viewer", "operator"], "--definitions", repository);
  try {
    const viewer = await come(guarded, "viewer", false);
    await viewer.getByText("You may not define pipelines in default").waitFor();
    expect(await viewer.getByRole("button", { name: "Propose …" }).count()).toBe(0);
    await viewer.getByRole("link", { name: "Proposals" }).click();
    await viewer.getByRole("link", { name: "Define pipeline default/web" }).click();
    await definition(viewer).getByText("name: web").first().waitFor();
    expect(await viewer.getByRole("button", { name: "Merge" }).count()).toBe(0);
    await viewer.context().close();

    const operator = await come(guarded, "operator", true);
    await operator.getByRole("button", { name: "Propose …" }).waitFor();
    await operator.getByRole("link", { name: "Proposals" }).click();
    await operator.getByRole("link", { name: "Define pipeline default/web" }).click();
    await operator.getByRole("button", { name: "Close" }).click();
    const dialog = operator.getByRole("dialog");
    await dialog.getByRole("textbox", { name: /Why/ }).fill("not now");
    await dialog.getByRole("button", { name: "Close" }).click();
    await operator.getByText("It is closed.").waitFor();
    await operator.context().close();
  } finally {
    await guarded.stop();
  }
});

test("who has rights where no pipeline is yet is offered it", async () => {
  await demo.pause();
  const repository = `file://${join(demo.folder, "demo/config.git")}`;
  const guarded = await Guarded.start(demo, ["operator@shop"], "--definitions", repository);
  try {
    const { page, wrong } = await openPage(browser);
    await signIn(page, guarded, "operator@shop");
    await page.getByText("There is no pipeline yet").waitFor();
    await page.getByRole("link", { name: "New pipeline" }).click();
    await page.getByRole("button", { name: "Propose …" }).waitFor();
    expect(await page.getByLabel("Namespace of the pipeline").inputValue()).toBe("shop");
    await page.getByLabel("Namespace of the pipeline").fill("default");
    await page.getByText("You may not define pipelines in default").waitFor();

    // Whoever may not stop everything says what.
    await page.getByRole("link", { name: "Freezes" }).click();
    await page.getByRole("button", { name: "Freeze …" }).click();
    const namespace = page.getByRole("dialog").getByLabel("Only this namespace");
    expect(await namespace.inputValue()).toBe("shop");
    await namespace.fill("");
    expect(await namespace.evaluate((it) => (it as HTMLInputElement).validity.valueMissing)).toBe(true);
    expect(wrong).toEqual([]);
    await page.context().close();
  } finally {
    await guarded.stop();
  }
});

test("without a repository it is said what is missing, and the text can be saved", async () => {
  const guarded = await Guarded.start(demo, ["operator"]);
  try {
    const page = await come(guarded, "operator", true);
    await page.getByText("--definitions").waitFor();
    expect(await page.getByRole("button", { name: "Propose …" }).count()).toBe(0);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("pipeline.yaml");
    await page.context().close();
  } finally {
    await guarded.stop();
  }
});
