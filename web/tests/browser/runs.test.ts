// Runs: one that is watched while it goes on, one that failed, one that is given up.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { notes } from "./notes";
import type { World } from "./world";

let world: World;
before(async () => {
  world = await notes();
  const tool = JSON.stringify({ type: "tool_use", name: "Bash", input: { command: "ls" } });
  writeFileSync(join(world.folder, "slow.sh"), `echo "reading the task"\necho '${tool}'\nwhile [ ! -e go ]; do sleep 0.1; done\nsh agent.sh "$1"\n`);
});
after(() => world.end());

test("a run is watched until it is finished", async () => {
  const look = await world.open("/runs");
  const { page } = look;
  const run = world.starts("run", "T6", "--command", "sh slow.sh {prompt_file}");
  await page.getByRole("link", { name: /Implement search over notes/ }).click();
  await page.waitForURL(/\/runs\/run_/);
  const lines = page.getByRole("region", { name: /^Log of T6/ }).locator(".log-line");
  const said = lines.filter({ hasText: "reading the task" });
  await said.waitFor();
  assert.match(await said.innerText(), /^\d+:\d\d\s+out\s+reading the task$/);
  assert.match(await lines.filter({ hasText: "▸ Bash ls" }).innerText(), /^\d+:\d\d\s+tool\s+▸ Bash ls\s*$/);
  await page.getByText("Live", { exact: true }).first().waitFor();
  writeFileSync(join(world.folder, "go"), "");
  await page.getByText("1 verified, 0 open").waitFor();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  assert.deepEqual(look.faults, []);
  await look.shot("run-finished-desk-light");
  await look.close();
});

test("rows of runs can be hit with a finger on a phone, and what they say stands in their middle", async () => {
  const look = await world.open("/runs", "light", "phone");
  await look.page.locator(".run-line").first().waitFor();
  const rows = await look.page.locator(".run-line").evaluateAll((all) =>
    all.map((row) => {
      const { top, bottom, height } = row.getBoundingClientRect();
      const inside = [...row.children].map((child) => child.getBoundingClientRect()).filter((box) => box.height > 0);
      const above = Math.min(...inside.map((box) => box.top)) - top;
      const below = bottom - Math.max(...inside.map((box) => box.bottom));
      return { height, aside: Math.abs(above - below) };
    }),
  );
  for (const { height, aside } of rows) {
    assert.ok(height >= 44, `${height} pixels high`);
    assert.ok(aside <= 2, `${aside} pixels off the middle`);
  }
  await look.close();
});

test("the looks of one page leave those of the next alone", async () => {
  const look = await world.open("/agents/architecture");
  const { page } = look;
  await page.getByRole("link", { name: "New agent" }).waitFor();
  await page.locator('a[href="/runs"]').first().click();
  await page.locator(".run-line").first().waitFor();
  await page.getByPlaceholder("Find a run").waitFor();
  await look.close();
});

test("keys open the filter of runs and go to the field", async () => {
  const look = await world.open("/runs");
  const { page } = look;
  await page.locator(".run-line").first().waitFor();
  await page.keyboard.press("f");
  await page.getByRole("menuitemcheckbox", { name: "failed", exact: true }).click();
  await page.waitForURL(/status=failed/);
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Find a run");
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("what the agent said and what cleo found stand apart", async () => {
  const look = await world.open("/runs?status=failed");
  const { page } = look;
  await page
    .getByRole("link", { name: /Specify the HTTP interface/ })
    .first()
    .click();
  await page.getByRole("heading", { name: /What the agent said/ }).waitFor();
  await page.getByText("Task complete. See MANIFEST.jsonl for summary.").first().waitFor();
  await page.getByRole("heading", { name: "What cleo found" }).waitFor();
  await page
    .getByText(/Refused/)
    .first()
    .waitFor();
  await page.keyboard.press(",");
  await page.waitForURL(/attempt=1/);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a dialog that a menu opened gives the focus back to the button of the menu", async () => {
  const look = await world.open("/runs?status=failed");
  const { page } = look;
  await page
    .getByRole("link", { name: /Specify the HTTP interface/ })
    .first()
    .click();
  await page.getByRole("button", { name: "More for this run" }).click();
  await page.getByRole("menuitem", { name: "Compare with another run" }).click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "More for this run");
  await look.close();
});

test("a run is cancelled after a question", async () => {
  const run = world.starts("run", "T12", "--command", "sleep 60");
  const look = await world.open("/runs?status=running");
  const { page } = look;
  await page.getByRole("link", { name: /Test the store with power cuts/ }).click();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop the run" }).click();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  await look.close();
});
