// Thousands of tasks: a page holds what is to be seen, and every task can still be come to.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { World } from "./world";

const TASKS = 3_000;
/** In one wave. */
const WIDE = 1_960;

const world = new World();
before(async () => {
  world.cleo("init");
  const lines = [{ title: "Everything", type: "epic", key: "e" } as Record<string, unknown>];
  for (let part = 0; part < 100; part++) lines.push({ title: `Part ${part}`, key: `p${part}`, parent: "@e" });
  for (let number = 0; number < TASKS; number++)
    lines.push({ title: `Do thing ${number}`, key: `t${number}`, parent: `@p${number % 100}`, depends: [137, 253].filter((back) => number >= back).map((back) => `@t${number - back}`) });
  lines.push({ title: "Side by side", type: "epic", key: "w" });
  for (let number = 0; number < WIDE; number++) lines.push({ title: `At once ${number}`, parent: "@w" });
  const file = join(world.folder, "plan.jsonl");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  world.cleo("add", "--batch", file);
  await world.serve();
});
after(() => world.end());

for (const path of ["/work?view=graph", "/work?view=list", "/agents/tasks"]) {
  test(`${path} holds what is to be seen of 3,000 tasks`, async () => {
    const look = await world.open(path);
    look.page.setDefaultTimeout(60_000);
    await look.settled();
    const elements = await look.page.locator("main *").count();
    assert.ok(elements > 50 && elements < 6000, `${elements} elements`);
    assert.equal(await look.sideways(), false);
    assert.deepEqual(look.faults, []);
    await look.close();
  });
}

test("one of 3,000 tasks is found by its words", async () => {
  const look = await world.open("/work?view=list");
  const { page } = look;
  page.setDefaultTimeout(60_000);
  await page.getByRole("group", { name: "Tasks by wave" }).getByRole("link").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find or run" }).getByRole("combobox").fill("thing 2999");
  await page
    .getByRole("option", { name: /Do thing 2999/ })
    .first()
    .waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

/** Goes through a list from top to end a window at a time, and gives back the ids in the order in which they were shown. */
async function walked(page: Page, most: number): Promise<string[]> {
  return page.evaluate(async (most) => {
    const scroller = document.querySelector<HTMLElement>("main .rows");
    if (!scroller) throw new Error("there is no list");
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const tops = new Map<string, number>();
    const seen = () => {
      for (const link of scroller.querySelectorAll<HTMLElement>("[data-task]")) {
        const top = new DOMMatrix(getComputedStyle(link.closest("li") ?? link).transform).m42;
        tops.set(link.dataset["task"] ?? "", top);
      }
    };
    scroller.scrollTop = 0;
    // At the end of what was read, the next page comes; a machine may take its time.
    for (let still = 0; still < (tops.size < most ? 1200 : 60); ) {
      await frame();
      await frame();
      seen();
      const before = scroller.scrollTop;
      // Rows beside the window are there too.
      scroller.scrollTop += scroller.clientHeight + 400;
      still = scroller.scrollTop === before ? still + 1 : 0;
    }
    return [...tops].sort(([, one], [, other]) => one - other).map(([id]) => id);
  }, most);
}

test("a list of 3,000 tasks is scrolled to its end and shows each of them once, also while they change", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  page.setDefaultTimeout(120_000);
  const rows = page.getByRole("group", { name: "Tasks by wave" });
  await rows.getByRole("link").first().waitFor();
  const read = async (offset: number) => ((await (await fetch(`${world.address}/api/work/rows?epic=T1&limit=500&offset=${offset}`)).json()) as { rows: { id: string }[] }).rows.map((row) => row.id);
  const all: string[] = [];
  for (let offset = 0; offset < TASKS; offset += 500) all.push(...(await read(offset)));
  const ids = await walked(page, TASKS);
  assert.deepEqual(ids, all);

  const place = () => rows.evaluate((scroller) => scroller.scrollTop);
  const before = await place();
  const last = ids.at(-1) ?? "";
  const added = world.starts("add", "One more", "--parent", "T2", "--depends", last);
  await page.getByText(`${(TASKS + 1).toLocaleString("en")} tasks`).waitFor({ state: "attached" });
  assert.equal(added.exitCode, 0);
  assert.equal(await place(), before, "the list stays where it is");
  await rows.evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
  await rows.getByRole("link", { name: /One more/ }).waitFor();
  await rows.locator(`[data-task=${last}]`).waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a column of the board is scrolled to its end, and holds only the cards in sight", async () => {
  const look = await world.open("/agents/tasks");
  const { page } = look;
  page.setDefaultTimeout(120_000);
  const { total } = (await (await fetch(`${world.address}/api/tasks?status=todo&limit=1`)).json()) as { total: number };
  await page.waitForFunction((total) => {
    const box = document.querySelector('[data-column="todo"] .agent-cards');
    if (!box) return false;
    box.scrollTop = box.scrollHeight;
    return [...box.querySelectorAll("li")].some((card) => card.getAttribute("aria-posinset") === String(total));
  }, total);
  const cards = await page.locator("[data-task]").count();
  assert.ok(cards < 100, `${cards} cards`);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a graph of 3,000 tasks shows each of them, by itself or in a stack", async () => {
  const look = await world.open("/work?view=graph&epic=T1");
  const { page } = look;
  page.setDefaultTimeout(120_000);
  const cards = page.locator(".task-node, .stack-node");
  await cards.first().waitFor();
  const graph = (await (await fetch(`${world.address}/api/work/graph?epic=T1`)).json()) as { nodes: unknown[]; stacks: { total: number }[]; counts: { total: number } };
  assert.equal(graph.nodes.length + graph.stacks.reduce((sum, stack) => sum + stack.total, 0), graph.counts.total);
  await page.getByRole("button", { name: "Fit to view" }).click();
  await page.waitForFunction(
    (all) => new Set([...document.querySelectorAll(".task-node, .stack-node")].map((card) => card.closest(".react-flow__node")?.getAttribute("data-id"))).size === all,
    graph.nodes.length + graph.stacks.length,
  );
  const totals = await cards.evaluateAll((all) => all.map((card) => (card.matches(".task-node") ? 1 : parseInt(card.getAttribute("aria-label") ?? "0", 10))));
  assert.equal(
    totals.reduce((sum, total) => sum + total, 0),
    graph.counts.total,
  );
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a wave of 1,960 tasks fits into the window as a sheet, not as a line", async () => {
  const look = await world.open(`/work?view=graph&epic=T${TASKS + 102}&unfold=w0`, "light", "wide");
  const { page } = look;
  page.setDefaultTimeout(120_000);
  await page.locator(".task-node").first().waitFor();
  await page.getByRole("button", { name: "Fit to view" }).click();
  await page.waitForFunction((all) => document.querySelectorAll(".task-node").length === all, WIDE);
  await page.getByRole("button", { name: /^Zoom (1\d|[2-9]\d) %/ }).waitFor();
  const { width, height } = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".task-node")].map((card) => card.getBoundingClientRect());
    const span = (from: "left" | "top", to: "right" | "bottom") => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
    return { width: span("left", "right"), height: span("top", "bottom") };
  });
  assert.ok(width > 600 && height > 500, `${width} by ${height}`);
  await look.shot("wide-wave-wide-light");
  assert.deepEqual(look.faults, []);
  await look.close();
});
