// Ten thousand tasks: a page holds what is to be seen, and every task can still be come to.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { World } from "./world";

const TASKS = 10_000;

const world = new World();
before(async () => {
  world.cleo("init");
  const lines = [{ title: "Everything", type: "epic", key: "e" } as Record<string, unknown>];
  for (let part = 0; part < 100; part++) lines.push({ title: `Part ${part}`, key: `p${part}`, parent: "@e" });
  for (let number = 0; number < TASKS; number++)
    lines.push({ title: `Do thing ${number}`, key: `t${number}`, parent: `@p${number % 100}`, depends: [137, 253].filter((back) => number >= back).map((back) => `@t${number - back}`) });
  const file = join(world.folder, "plan.jsonl");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  world.cleo("add", "--batch", file);
  await world.serve();
});
after(() => world.end());

for (const view of ["graph", "list", "board"]) {
  test(`/work as ${view} holds what is to be seen of 10,000 tasks`, async () => {
    const look = await world.open(`/work?view=${view}`);
    look.page.setDefaultTimeout(60_000);
    await look.settled();
    const elements = await look.page.locator("main *").count();
    assert.ok(elements > 50 && elements < 6000, `${elements} elements`);
    assert.equal(await look.sideways(), false);
    assert.deepEqual(look.faults, []);
    await look.close();
  });
}

test("one of 10,000 tasks is found by its words", async () => {
  const look = await world.open("/work?view=list");
  const { page } = look;
  page.setDefaultTimeout(60_000);
  await page.getByRole("group", { name: "Tasks by wave" }).getByRole("link").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find or run" }).getByRole("combobox").fill("thing 9999");
  await page.getByRole("option", { name: /Do thing 9999/ }).first().waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});
