// A workspace of its own with a real server over it, and a browser that looks at its pages.
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";

export const project = projectFolder();
const cleo = resolve(process.env["CLEO"] ?? join(project, "target", "debug", "cleo"));
const shots = process.env["CLEO_SCREENSHOTS"];
/** A folder like web/dist that is newer than what is embedded. */
const freshPages = process.env["CLEO_PAGES"];
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export type Theme = "light" | "dark";
export type Size = "desk" | "wide" | "phone" | "zoomed";
/** A window of 1280 by 1024 is `zoomed` when its page is enlarged four times. */
export const SIZES: Record<Size, { width: number; height: number }> = {
  desk: { width: 1280, height: 800 },
  wide: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
  zoomed: { width: 320, height: 256 },
};

/** WCAG 2.2 A and AA; and what of it is about colors. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Until what a page shows is there, in milliseconds. */
const TIMEOUT = 30_000;
const COLORS = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

export class World {
  readonly folder = mkdtempSync(join(tmpdir(), "cleo-pages-"));
  private server: ChildProcess | null = null;
  private readonly started: ChildProcess[] = [];
  private browser: Promise<Browser> | null = null;
  /** Pages that were closed, by what they were opened with: one that is opened again has the code at hand. */
  private readonly spare = new Map<string, Look[]>();
  address = "";

  /** Runs a command in the workspace and gives back what it prints. */
  cleo(...words: string[]): string {
    return execFileSync(cleo, words, { cwd: this.folder, env: this.environment(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  /** The same where a failure is expected too. */
  tries(...words: string[]): string {
    try {
      return this.cleo(...words);
    } catch (fault) {
      return String((fault as { stdout?: unknown }).stdout ?? "");
    }
  }

  starts(...words: string[]): ChildProcess {
    const started = spawn(cleo, words, { cwd: this.folder, env: this.environment(), stdio: "ignore" });
    this.started.push(started);
    return started;
  }

  /** Any free port, or the one of a server that was there before. */
  async serve(port = "0", ...more: string[]) {
    const server = spawn(cleo, ["serve", "--port", port, "--json", ...more], { cwd: this.folder, env: this.environment(), stdio: ["ignore", "pipe", "inherit"] });
    this.server = server;
    this.address = await new Promise<string>((found, failed) => {
      let text = "";
      server.stdout.on("data", (piece: Buffer) => {
        text += piece.toString();
        const url = /"url":"([^"]+)"/.exec(text)?.[1];
        if (url) found(url.replace("0.0.0.0", "127.0.0.1"));
      });
      server.on("exit", (code) => failed(new Error(`cleo serve ended with ${code}: ${text}`)));
    });
  }

  async stopServer() {
    const server = this.server;
    this.server = null;
    if (!server || server.exitCode !== null) return;
    await new Promise((ended) => {
      server.on("exit", ended);
      server.kill("SIGTERM");
    });
  }

  async open(path: string, theme: Theme = "light", size: Size = "desk", more: BrowserContextOptions = {}): Promise<Look> {
    const kind = JSON.stringify([size, more]);
    const spare = this.spare.get(kind) ?? [];
    this.spare.set(kind, spare);
    const look = spare.pop() ?? (await this.begin(size, more, (one) => spare.push(one)));
    await look.page.emulateMedia({ colorScheme: theme });
    await look.go(path);
    return look;
  }

  private async begin(size: Size, more: BrowserContextOptions, release: (look: Look) => void): Promise<Look> {
    this.browser ??= launch();
    const phone = size === "phone";
    const context = await (await this.browser).newContext({
      viewport: SIZES[size],
      hasTouch: phone,
      isMobile: phone,
      locale: "en-GB",
      timezoneId: "UTC",
      permissions: ["clipboard-read", "clipboard-write"],
      ...more,
    });
    if (freshPages) await serveFresh(context, freshPages, this.address);
    return new Look(await context.newPage(), this.address, size, release);
  }

  /** Looks at a page at these widths and in both themes, once it is `ready`. */
  async inspect(path: string, name: string, { ready, sizes = ["desk", "phone"] }: { ready?: (look: Look) => Promise<unknown>; sizes?: readonly Size[] } = {}) {
    const one = async (size: Size) => {
      const look = await this.open(path, "light", size);
      await ready?.(look);
      await look.sound(name);
      await look.close();
    };
    const outcomes = await Promise.allSettled(sizes.map(one));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  async end() {
    // What a test that failed did not see to the end would keep the file of tests from ending.
    this.started.filter((one) => one.exitCode === null).forEach((one) => one.kill());
    await (await this.browser)?.close();
    await this.stopServer();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private environment() {
    return {
      PATH: `${dirname(cleo)}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: this.folder,
      XDG_CONFIG_HOME: join(this.folder, ".config"),
      XDG_DATA_HOME: join(this.folder, ".data"),
      CLEO_PROGRAM: cleo,
      USER: "dana",
      NO_COLOR: "1",
      LANG: "C.UTF-8",
      RUST_BACKTRACE: "0",
    };
  }
}

/** A page that is being looked at, and everything that went wrong on it. */
export class Look {
  readonly faults: string[] = [];
  /** Requests that are not answered yet, without the stream of events. */
  private readonly asked = new Set<unknown>();

  constructor(
    readonly page: Page,
    private readonly address: string,
    private readonly size: Size,
    private readonly release: (look: Look) => void,
  ) {
    page.setDefaultTimeout(TIMEOUT);
    page.on("pageerror", (fault) => this.faults.push(`fault: ${fault.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) this.faults.push(`console: ${message.text()}`);
    });
    page.on("requestfinished", (request) => this.asked.delete(request));
    page.on("requestfailed", (request) => this.asked.delete(request));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname !== "/api/events") this.asked.add(request);
      if (url.origin !== address && url.protocol.startsWith("http")) this.faults.push(`a request to ${url.origin}`);
    });
  }

  async go(path: string) {
    await this.page.goto(this.address + path, { waitUntil: "domcontentloaded" });
    await this.settled();
  }

  /** The page itself is there, everything that it asked for is answered, and it shows no ghosts any more. */
  async settled() {
    // The page that the server writes has a heading, too.
    await this.page
      .locator("main[class] h1")
      .filter({ hasNotText: /^cleo$/ })
      .first()
      .waitFor();
    for (let quiet = 0; quiet < 4; quiet = this.asked.size === 0 ? quiet + 1 : 0) await this.page.waitForTimeout(60);
    const ghosts = this.page.locator("main div.ghost");
    for (let turn = 0; turn < 200 && (await ghosts.count()) > 0; turn++) await this.page.waitForTimeout(50);
    await this.page.evaluate(() => document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))));
  }

  /** In both themes: nothing that axe finds, nothing sideways, no fault. */
  async sound(name: string) {
    for (const theme of ["light", "dark"] as const) {
      await this.page.emulateMedia({ colorScheme: theme });
      await this.page.evaluate(() => Promise.all(document.getAnimations().map((one) => one instanceof CSSTransition && one.finished)));
      await this.shot(`${name}-${this.size}-${theme}`);
      // The other theme has the same elements in other colors.
      assert.deepEqual(await this.axe(theme === "light" ? RULES : COLORS), [], `${name}, ${this.size}, ${theme}`);
    }
    assert.equal(await this.sideways(), false, `${name}, ${this.size}: something makes the page wider than its window`);
    assert.deepEqual(this.faults, [], `${name}, ${this.size}`);
  }

  /** What axe finds, one line each. */
  async axe(rules: unknown = RULES): Promise<string[]> {
    if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(axeSource);
    return this.page.evaluate(async (rules) => {
      const { axe } = window as unknown as {
        axe: { run: (context: unknown, options: unknown) => Promise<{ violations: { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] }[] }> };
      };
      const { violations } = await axe.run(document, { runOnly: rules });
      return violations.flatMap((one) => one.nodes.slice(0, 4).map((node) => `${one.id}: ${one.help} at ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
    }, rules);
  }

  /** Whether anything makes the page wider than its window. */
  async sideways(): Promise<boolean> {
    return this.page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  }

  /** Kept as a file when CLEO_SCREENSHOTS names a folder. */
  async shot(name: string) {
    if (!shots) return;
    mkdirSync(shots, { recursive: true });
    await this.page.screenshot({ path: join(shots, `${name}.png`), animations: "disabled" });
  }

  /** Leaves nothing of what was done here, and keeps the page for those after. */
  async close() {
    const { page } = this;
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.goto("about:blank");
    await page.context().clearCookies();
    await page.mouse.move(0, 0);
    page.setDefaultTimeout(TIMEOUT);
    this.faults.length = 0;
    this.asked.clear();
    this.release(this);
  }
}

/** Holds back requests, those of one method or all, until they are let through. */
export async function held({ page }: Look, files: string, method?: string): Promise<() => void> {
  let release = () => {};
  const gate = new Promise<void>((open) => {
    release = open;
  });
  await page.route(files, async (route) => {
    if (method === undefined || route.request().method() === method) await gate;
    await route.fallback();
  });
  return release;
}

/** Pages from a folder in the place of those in the binary: no cargo build after every change. */
async function serveFresh(context: BrowserContext, dist: string, address: string) {
  await context.route(`${address}/assets/*`, (route) => {
    const path = join(dist, new URL(route.request().url()).pathname);
    return existsSync(path) ? route.fulfill({ path }) : route.continue();
  });
  await context.route(
    (url) => url.origin === address && !/^\/(api|assets|health|query)/.test(url.pathname) && !url.pathname.includes("."),
    async (route) => {
      if (route.request().resourceType() !== "document" || route.request().method() !== "GET") return route.fallback();
      const response = await route.fetch({ maxRedirects: 0 });
      if (response.status() >= 300 && response.status() < 400) return route.continue();
      const workspace = /<meta name="workspace"[^>]*>/.exec(await response.text())?.[0] ?? "";
      const html = readFileSync(join(dist, "index.html"), "utf8").replace("</title>", `</title>${workspace}`);
      const policy = response.headers()["content-security-policy"]?.replace(/script-src [^;]*/, "script-src 'self' 'unsafe-inline'");
      return route.fulfill({ status: response.status(), contentType: "text/html", headers: policy ? { "content-security-policy": policy } : {}, body: html });
    },
  );
}

async function launch() {
  const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
  if (!path) throw new Error("there is no chromium");
  return chromium.launch({
    executablePath: path,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

function projectFolder() {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "Cargo.toml"))) folder = dirname(folder);
  return folder;
}
