/**
 * How soon something is seen, and how smoothly it moves: printed, never asserted. Everything stands beside a page with one
 * word, because what a browser needs for that is not Weir's.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { openBrowser, openPage, serve } from "../tests/house";
import { COUNT, many } from "../tests/many";

const ROUNDS = 9;

let browser: Browser;
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  [browser, server] = await Promise.all([openBrowser(), serve(many())]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const median = (all: number[]) => [...all].sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN;

/** When a page showed something first, and when it showed what it is for, in milliseconds; without anything kept before. */
async function opened(path: string, there: (page: Page) => Promise<unknown>): Promise<[number, number]> {
  const first: number[] = [];
  const whole: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { page } = await openPage(browser);
    await page.goto(path.startsWith("/") ? server.url + path : path, { waitUntil: "commit" });
    await there(page);
    whole.push(await page.evaluate(() => performance.now()));
    first.push(
      await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN),
    );
    await page.context().close();
  }
  return [median(first), median(whole)];
}

/** How long the frames are while the list is scrolled, as by a wheel: the median, and the longest. */
async function scrolled(): Promise<[number, number]> {
  const { page } = await openPage(browser);
  await page.goto(server.url);
  await page.getByText(`${COUNT + 1} in all`).waitFor();
  const frames = await page.evaluate(async () => {
    const times: number[] = [];
    let before = performance.now();
    for (let step = 1; step <= 120; step++) {
      window.scrollTo(0, 200 * step);
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      times.push(now - before);
      before = now;
    }
    return times;
  });
  await page.context().close();
  return [median(frames), Math.max(...frames)];
}

test("paint", async () => {
  const rows: Record<string, Record<string, string>> = {};
  const told = (name: string, [first, whole]: [number, number], base: number) => {
    rows[name] = {
      "first paint": `${first.toFixed(0)} ms`,
      "all there": `${whole.toFixed(0)} ms`,
      "beside nothing": `${(first / base).toFixed(1)} x`,
    };
  };
  const nothing = await opened("data:text/html,<p>word</p>", (page) => page.getByText("word").waitFor());
  told("a page with one word", nothing, nothing[0]);
  const list = (page: Page) => page.getByRole("link", { name: "app-0000" }).waitFor();
  told(`${COUNT} pipelines`, await opened("/", list), nothing[0]);
  const small = (page: Page) => page.getByRole("heading", { name: "e2" }).waitFor();
  told("a pipeline of 3 x 1", await opened("/pipelines/default/app-0000", small), nothing[0]);
  const large = (page: Page) => page.getByRole("heading", { name: "e19" }).waitFor();
  told("a pipeline of 20 x 50", await opened("/pipelines/default/large", large), nothing[0]);
  console.table(rows);
  const [frame, longest] = await scrolled();
  console.log(`scrolling through ${COUNT}: a frame takes ${frame.toFixed(1)} ms, the longest ${longest.toFixed(0)} ms`);
});
