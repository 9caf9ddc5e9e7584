/** The real program, and a real browser. */
import { type ChildProcess, type ExecFileSyncOptions, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const WEIR = process.env["WEIR"] ?? join(import.meta.dirname, "../../target/debug/weir");

const QUIET: ExecFileSyncOptions = { stdio: ["ignore", "pipe", "ignore"] };

/** How long something may take before it counts as never. */
export const PATIENCE = Number(process.env["PATIENCE"] ?? 60_000);

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

/** A program that was started, and what it said. */
class Running {
  said = "";
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;

  constructor(args: string[], program = WEIR) {
    this.child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    const hear = (piece: Buffer) => {
      this.said += piece.toString();
    };
    this.child.stdout?.on("data", hear);
    this.child.stderr?.on("data", hear);
    this.ended = new Promise((resolve) => this.child.once("exit", () => resolve()));
  }

  async until(words: string) {
    await eventually(`it says "${words}": ${this.said}`, () => this.said.includes(words));
  }

  async stop(signal: NodeJS.Signals = "SIGTERM") {
    this.child.kill(signal);
    await this.ended;
  }

  signal(signal: NodeJS.Signals) {
    this.child.kill(signal);
  }

  /** For those who end when nobody talks to them any more. */
  async leave() {
    this.child.stdin?.end();
    await this.ended;
  }
}

/** A real cluster on which Flux deploys podinfo: `crates/cli/examples/leaf.rs`. */
export class Leaf {
  readonly kubeconfig: string;
  private readonly running: Running;

  private constructor(kubeconfig: string, running: Running) {
    this.kubeconfig = kubeconfig;
    this.running = running;
  }

  static async start(): Promise<Leaf> {
    const running = new Running([], join(dirname(WEIR), "examples/leaf"));
    await eventually("the cluster is there", () => /^".*"$/m.test(running.said));
    const [line] = /^".*"$/m.exec(running.said) ?? [];
    return new Leaf(JSON.parse(line ?? "") as string, running);
  }

  async stop() {
    await this.running.leave();
  }
}

export async function eventually(what: string, condition: () => boolean | Promise<boolean>) {
  const end = Date.now() + PATIENCE;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** `weir demo`: a repository, a pipeline with an approval, agents that play Flux, and a server. */
export class Demo {
  readonly url: string;
  readonly folder = mkdtempSync(join(tmpdir(), "weir-ui-"));
  private running: Running | undefined;

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<Demo> {
    const demo = new Demo(await freePort());
    await demo.begin();
    return demo;
  }

  async begin() {
    this.running = new Running(["demo", "--folder", join(this.folder, "demo"), "--listen", this.url.slice(7)]);
    await this.running.until("Weir runs at");
  }

  /** Changes the definition of the pipeline. */
  define(change: (yaml: string) => string) {
    const folder = join(this.folder, "demo/manifests");
    for (const name of readdirSync(folder)) {
      const [file, before] = [join(folder, name), readFileSync(join(folder, name), "utf8")];
      if (before.includes("kind: Pipeline")) writeFileSync(file, change(before));
    }
  }

  release(version: string, ...more: string[]) {
    execFileSync(WEIR, ["demo", "release", version, ...more, "--folder", join(this.folder, "demo")], QUIET);
  }

  /** Tells the server something that it cannot refuse. */
  signal(signal: NodeJS.Signals) {
    this.running?.signal(signal);
  }

  /** The server and everything else end; what they have written stays. */
  async pause() {
    await this.running?.stop();
  }

  async stop() {
    await this.pause();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Signs in where a server wants a token. */
export async function signIn(page: Page, { url, tokens }: Guarded, role: string) {
  await page.goto(url);
  await page.getByLabel("Token").fill(tokens[role] ?? "");
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** A server on manifests, open to this machine. */
export async function serve(manifests: string[]): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "weir-ui-"));
  mkdirSync(join(folder, "manifests"));
  writeFileSync(join(folder, "manifests/all.yaml"), manifests.join("\n---\n"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const folders = ["--manifests", join(folder, "manifests"), "--data", join(folder, "data")];
  const running = new Running(["serve", ...folders, "--listen", url.slice(7)]);
  await eventually("it is ready", async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok ?? false);
  return {
    url,
    async stop() {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a demo has left behind, served to those who have a token. */
export class Guarded {
  readonly url: string;
  /** A token for each role. */
  readonly tokens: Record<string, string>;
  private readonly running: Running;

  private constructor(url: string, tokens: Record<string, string>, running: Running) {
    this.url = url;
    this.tokens = tokens;
    this.running = running;
  }

  /** A role may be in one namespace alone: `operator@shop`. */
  static async start(demo: Demo, roles: readonly string[], ...more: string[]): Promise<Guarded> {
    const url = `http://127.0.0.1:${await freePort()}`;
    const file = join(demo.folder, "tokens.yaml");
    rmSync(file, { force: true });
    const make = (named: string) => {
      const [role = "", namespace] = named.split("@");
      const where = namespace ? ["--namespace", namespace] : [];
      return execFileSync(
        WEIR,
        ["token", "create", `${role}-of-ours`, "--role", role, ...where, "--file", file],
        QUIET,
      );
    };
    const tokens = Object.fromEntries(roles.map((role) => [role, make(role).toString().trim()]));
    const folders = ["--manifests", join(demo.folder, "demo/manifests"), "--data", join(demo.folder, "demo/data")];
    const running = new Running(["serve", ...folders, "--listen", url.slice(7), "--tokens", file, ...more]);
    await running.until("weir serves");
    return new Guarded(url, tokens, running);
  }

  async stop() {
    await this.running.stop();
  }
}

const EXECUTABLES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? EXECUTABLES.find((path) => existsSync(path));
  if (!executablePath) throw new Error("there is no Chromium; install it, or name it in CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** A page, and everything that went wrong on it. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("Failed to load resource")) wrong.push(message.text());
  });
  return { page, wrong };
}

/** The part of a pipeline's page that is about an environment, and what stands before it. */
export const environment = (page: Page, name: string) => page.getByRole("listitem", { name, exact: true });
export const entry = (page: Page, name: string) => page.getByRole("listitem", { name: `On the way to ${name}` });

/** Waits until an environment runs a version. */
export const runs = (page: Page, name: string, version: string) =>
  environment(page, name).getByText(version, { exact: true }).first().waitFor();

/** What axe finds wrong with a page. */
export async function violations(page: Page): Promise<string[]> {
  // Not as a script of the page: its policy would refuse it.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: AxeViolation[] }> } };
    const found = await axe.run();
    return found.violations.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" | ")}`);
  });
}

interface AxeViolation {
  id: string;
  nodes: { html: string }[];
}
