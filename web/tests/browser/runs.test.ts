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
  writeFileSync(join(world.folder, "slow.sh"), 'echo "reading the task"\nwhile [ ! -e go ]; do sleep 0.1; done\nsh agent.sh "$1"\n');
});
after(() => world.end());

test("a run is watched until it is finished", async () => {
  const look = await world.open("/runs");
  const { page } = look;
  const run = world.starts("run", "T6", "--command", "sh slow.sh {prompt_file}");
  await page.getByRole("link", { name: /Implement search over notes/ }).click();
  await page.waitForURL(/\/runs\/run_/);
  await page.getByRole("region", { name: /^Log of T6/ }).getByText("reading the task").waitFor();
  await page.getByText("Live", { exact: true }).first().waitFor();
  writeFileSync(join(world.folder, "go"), "");
  await page.getByText("1 verified, 0 open").waitFor();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
  assert.deepEqual(look.faults, []);
  await look.shot("run-finished-desk-light");
  await look.close();
});

test("what the agent said and what cleo found stand apart", async () => {
  const look = await world.open("/runs?status=failed");
  const { page } = look;
  await page.getByRole("link", { name: /Specify the HTTP interface/ }).first().click();
  await page.getByRole("heading", { name: /What the agent said/ }).waitFor();
  await page.getByText("Task complete. See MANIFEST.jsonl for summary.").first().waitFor();
  await page.getByRole("heading", { name: "What cleo found" }).waitFor();
  await page.getByText(/Refused/).first().waitFor();
  await page.keyboard.press(",");
  await page.waitForURL(/attempt=1/);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a run is cancelled after a question", async () => {
  const run = world.starts("run", "T12", "--command", "sleep 60");
  const look = await world.open("/runs?status=running");
  const { page } = look;
  await page.getByRole("link", { name: /Test the store with power cuts/ }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
  await look.close();
});
