// Several tasks are selected and changed at once; a task is looked at without leaving the list.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { notes } from "./notes";
import type { Look, World } from "./world";

let world: World;
before(async () => {
  world = await notes();
  for (const title of ["First chore", "Second chore", "Third chore"]) world.cleo("add", title);
});
after(() => world.end());

function task(title: string): { id: string; status: string; assignedAgent: string | null; priority: string } {
  const { tasks } = (JSON.parse(world.cleo("find", title, "--json")) as { result: { tasks: { id: string; status: string; assignedAgent: string | null; priority: string }[] } }).result;
  const [found] = tasks;
  assert.ok(found, title);
  return found;
}

test("selected tasks are assigned, started and taken back together", async () => {
  const look = await world.open("/work?view=list&q=chore&sort=title");
  const { page } = look;
  const [first, second, third] = ["First chore", "Second chore", "Third chore"].map((title) => task(title).id);
  await page.getByRole("link", { name: /First chore/ }).focus();
  await page.keyboard.press("x");
  await page.getByText("1 task selected").waitFor();
  await page.getByRole("link", { name: /Third chore/ }).click({ modifiers: ["Shift"] });
  await page.getByText("3 tasks selected").waitFor();
  assert.equal(page.url().includes("task="), false, "selecting opens nothing");
  await page.getByRole("checkbox", { name: `Select ${second}` }).uncheck();
  await page.getByText("2 tasks selected").waitFor();

  await page.getByRole("button", { name: "Assign", exact: true }).click();
  await page.getByRole("dialog", { name: "Assign 2 tasks" }).getByLabel("Agent").fill("dana");
  await page.keyboard.press("Enter");
  await page.getByText("2 tasks changed.").waitFor();
  assert.deepEqual(
    ["First chore", "Second chore", "Third chore"].map((title) => task(title).assignedAgent),
    ["dana", null, "dana"],
  );

  await page.getByRole("button", { name: "Start 2" }).click();
  await page.getByText("2 tasks started.").waitFor();
  assert.deepEqual(
    ["First chore", "Second chore", "Third chore"].map((title) => task(title).status),
    ["active", "pending", "active"],
  );
  await page.getByRole("button", { name: "Start 0" }).waitFor();
  assert.equal(await page.locator(".toast", { hasText: "2 tasks started." }).getByRole("button", { name: "Undo" }).count(), 0, "a claim is not undone");
  for (const id of [first, third]) world.cleo("release", id ?? "", "--force");
  await page.getByRole("button", { name: "Start 2" }).waitFor();

  await page.keyboard.press("Escape");
  await page.getByText("tasks selected").waitFor({ state: "detached" });
  assert.equal(await page.getByRole("checkbox", { name: /^Select T/ }).count(), 0);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("what is refused of several is said, and the rest is done", async () => {
  const look = await world.open("/work?view=list&q=chore");
  const { page } = look;
  const [second, third] = ["Second chore", "Third chore"].map((title) => task(title).id);
  world.cleo("spawn", second ?? "");
  await page.getByRole("button", { name: "Select" }).click();
  for (const id of [second, third]) await page.getByRole("checkbox", { name: `Select ${id}` }).check();
  await page.getByRole("button", { name: "Complete 2" }).click();
  await page.getByRole("alert").getByText(`${second} stays as it is`, { exact: false }).waitFor();
  await page.getByText("1 task completed.").waitFor();
  assert.deepEqual(
    ["Second chore", "Third chore"].map((title) => task(title).status),
    ["pending", "done"],
  );
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a task is looked at beside the list, and the list keeps the focus", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  const link = page.getByRole("link", { name: /Research how small services/ });
  await link.focus();
  await page.keyboard.press("Space");
  await page.getByRole("complementary", { name: "Task T2" }).waitFor();
  assert.equal(await link.evaluate((one) => one === document.activeElement), true);
  await page.keyboard.press("Space");
  await page.getByRole("complementary").waitFor({ state: "detached" });
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("several selected in the list, in both themes and at both widths", async () => {
  const onPhone = async ({ page }: Look) => {
    await page.getByRole("button", { name: "list", exact: false }).first().click();
    await page.getByRole("menuitem", { name: "Select tasks" }).click();
  };
  const onDesk = ({ page }: Look) => page.getByRole("button", { name: "Select" }).click();
  for (const [size, begin] of [
    ["desk", onDesk],
    ["phone", onPhone],
  ] as const) {
    const ready = async (look: Look) => {
      await begin(look);
      const boxes = look.page.getByRole("checkbox", { name: /^Select T/ });
      await boxes.nth(0).check();
      await boxes.nth(1).check();
      await look.page.getByText("2 tasks selected").waitFor();
      await look.settled();
    };
    await world.inspect("/work?view=list&epic=T1", "work-list-selected", { sizes: [size], ready });
  }
});
