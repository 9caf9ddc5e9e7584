/** A pipeline that is not there yet: from the form to the proposal, and from the merge to the list. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Demo, Guarded, openBrowser, openPage } from "./house";

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
/** Fields with a list of what is known are boxes of another kind. */
const choice = (page: Page, name: string) => page.getByRole("combobox", { name, exact: true });

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
  for (const [place, cluster] of ["default/dev", "default/prod"].entries()) {
    await choice(page, "Cluster").nth(place).fill(cluster);
    await field(page, "Namespace there").nth(place).fill("shop");
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
  await dialog.getByRole("button", { name: "Propose …" }).click();

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

test("what is there already is refused, and said so", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${demo.url}/define`);
  await field(page, "Name of the pipeline").fill("podinfo");
  await field(page, "Name of the application").fill("podinfo");
  await page.getByRole("combobox", { name: "By" }).selectOption("none");
  for (const place of [0, 1]) await field(page, "Namespace there").nth(place).fill(`podinfo-${place}`);
  await page.getByText("Nothing is wrong with it").waitFor();
  await page.getByRole("button", { name: "Propose …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Propose …" }).click();
  await page.getByRole("alert").getByText("there is a pipeline `default/podinfo` already").waitFor();
  await page.context().close();
});

test("a viewer is not offered it, and without a repository the text can be saved", async () => {
  await demo.pause();
  const guarded = await Guarded.start(demo, ["viewer", "operator"]);
  try {
    for (const [role, offered] of [
      ["viewer", 0],
      ["operator", 1],
    ] as const) {
      const { page } = await openPage(browser);
      await page.goto(guarded.url);
      await page.getByLabel("Token").fill(guarded.tokens[role] ?? "");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("link", { name: "podinfo" }).waitFor();
      const link = page.getByRole("link", { name: "New pipeline" });
      if (offered) await link.waitFor();
      expect(await link.count()).toBe(offered);
      await page.evaluate(() => history.pushState({}, "", "/define"));
      await page.reload();
      await page.getByText("--definitions").waitFor();
      expect(await page.getByRole("button", { name: "Propose …" }).count()).toBe(0);
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Save" }).click(),
      ]);
      expect(saved.suggestedFilename()).toBe("pipeline.yaml");
      await page.context().close();
    }
  } finally {
    await guarded.stop();
  }
});
