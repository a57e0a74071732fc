// The tasks, as a person goes through them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { notes } from "./notes";
import type { World } from "./world";

let world: World;
before(async () => {
  world = await notes();
});
after(() => world.end());

test("a selected task opens beside the graph, and its address restores it", async () => {
  const look = await world.open("/work?epic=T1");
  const { page } = look;
  await page.getByRole("link", { name: /^Specify the HTTP interface of notes T4/ }).click();
  await page.getByRole("complementary", { name: "Task T4" }).waitFor();
  assert.match(page.url(), /task=T4/);
  await page.reload();
  await page.getByRole("complementary", { name: "Task T4" }).waitFor();
  await page.getByRole("tab", { name: "Receipt" }).click();
  await page.getByText("decided by").waitFor();
  assert.match(page.url(), /tab=receipt/);
  await page.keyboard.press("Escape");
  await page.getByRole("complementary").waitFor({ state: "detached" });
  await page.goBack();
  await page.getByRole("complementary", { name: "Task T4" }).waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a panel closes with its key, gives the focus back and opens again", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  await page.getByRole("link", { name: /Specify the HTTP interface/ }).click();
  const panel = page.getByRole("complementary", { name: "Task T4" });
  await panel.getByRole("tab", { name: "Prompt" }).click();
  await page.keyboard.press("]");
  await panel.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.getAttribute("data-task") === "T4");
  await page.keyboard.press("]");
  await panel.waitFor();
  assert.match(page.url(), /tab=prompt/);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a panel that opens again leaves the view as it is", async () => {
  const look = await world.open("/work?view=graph&epic=T1&task=T4&tab=prompt");
  const { page } = look;
  const panel = page.getByRole("complementary", { name: "Task T4" });
  await panel.waitFor();
  await page.keyboard.press("]");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("navigation", { name: "View" }).getByRole("link", { name: "List" }).click();
  await page.waitForURL(/view=list/);
  await page.keyboard.press("]");
  await panel.waitFor();
  assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { view: "list", epic: "T1", task: "T4", tab: "prompt" });
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("Alt shows all that a task waits for and all that waits for it", async () => {
  const look = await world.open("/work?view=graph&epic=T1&task=T4");
  const { page } = look;
  await page.getByRole("complementary", { name: "Task T4" }).waitFor();
  const dimmed = page.locator(".react-flow__node.dimmed");
  await page.keyboard.down("Alt");
  await dimmed.first().waitFor();
  assert.equal(await page.locator(".dimmed #node-T4").count(), 0);
  await page.keyboard.up("Alt");
  await dimmed.first().waitFor({ state: "detached" });
  await look.close();
});

test("arrows move the focus along the lines of the graph", async () => {
  const look = await world.open("/work?view=graph&epic=T1");
  const { page } = look;
  const focused = async (ids: string[]) => {
    const found = await page.waitForFunction((all) => all.find((id) => document.activeElement?.getAttribute("data-task") === id), ids);
    return String(await found.jsonValue());
  };
  await page.locator("#node-T4").focus();
  await page.keyboard.press("ArrowRight");
  const dependent = await focused(["T9", "T11"]);
  assert.equal(new URL(page.url()).searchParams.get("task"), dependent);
  await page.getByRole("complementary", { name: `Task ${dependent}` }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("complementary").waitFor({ state: "detached" });
  await page.keyboard.press("ArrowLeft");
  await focused(["T4", "T5"]);

  // The same when the page comes back out of what was kept of it.
  await page.getByRole("link", { name: /^Runs/ }).first().click();
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  await page.goBack();
  const { nodes } = (await (await fetch(`${world.address}/api/work/graph?epic=T1`)).json()) as { nodes: { id: string; wave: number; y: number }[] };
  const wave = nodes.find((node) => node.id === "T4")?.wave;
  const [upper, lower] = nodes.filter((node) => node.wave === wave).sort((a, b) => a.y - b.y);
  assert.ok(upper && lower);
  await page.locator(`#node-${upper.id}`).focus();
  await page.keyboard.press("ArrowDown");
  await focused([lower.id]);
  await page.keyboard.press("ArrowUp");
  await focused([upper.id]);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a card that has the focus keeps it while the graph is zoomed by keys", async () => {
  const look = await world.open("/work?view=graph&epic=T1");
  const { page } = look;
  const zoomed = (scale: string) => page.locator(`.react-flow__viewport[style*="scale(${scale}"]`).waitFor({ state: "attached" });
  const first = await page.locator(".task-node[data-task]").evaluateAll((cards) => cards.sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)[0]?.getAttribute("data-task"));
  await page.locator(`#node-${first}`).focus();
  for (const scale of ["1.2", "1.44", "1.72", "2"]) {
    await page.keyboard.press("+");
    await zoomed(scale);
  }
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-task")), first);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("what an address names and nobody knows is said, with the way back", async () => {
  const { runs } = (await (await fetch(`${world.address}/api/runs?status=failed`)).json()) as { runs: { id: string }[] };
  for (const [path, words, back] of [
    ["/work?view=list&task=T999", "T999 does not exist here.", "Back to the tasks"],
    ["/work?epic=T999", "T999 does not exist here.", "Back to work"],
    ["/runs/run_none", "run_none does not exist here.", "Back to runs"],
    [`/runs/${runs[0]?.id}?task=T999`, "T999 does not exist in this run.", "Close"],
    [`/runs/${runs[0]?.id}?task=T4&attempt=99`, "Attempt 99 of T4 does not exist in this run.", "Close"],
  ] as const) {
    const look = await world.open(path);
    await look.page.getByText(words).first().waitFor();
    await look.page.getByRole("link", { name: back, exact: true }).click();
    await look.page.getByText(words).first().waitFor({ state: "detached" });
    assert.deepEqual(await look.axe(), [], path);
    assert.deepEqual(look.faults, []);
    await look.close();
  }
});

test("keys walk the list, open the palette and find a task", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  await page.getByRole("link", { name: /Research how small services/ }).waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(/task=T/);
  const first = new URL(page.url()).searchParams.get("task");
  await page.keyboard.press("j");
  await page.waitForFunction((task) => new URL(location.href).searchParams.get("task") !== task, first);
  await page.keyboard.press("Control+k");
  // Typed and not filled in: the focus has to be in the field.
  await page.getByRole("dialog", { name: "Find or run" }).getByRole("combobox").waitFor();
  await page.keyboard.type("sessions");
  await page
    .getByRole("option", { name: /Implement sessions/ })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/work\/T\d+$/);
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.waitForURL(/\/runs$/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  assert.deepEqual(await look.axe(), []);
  await look.close();
});

test("what another process does is shown without a reload", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  await page.getByRole("link", { name: /Research how small services/ }).waitFor();
  world.cleo("add", "Appears by itself", "--parent", "T1");
  await page.getByRole("link", { name: /Appears by itself/ }).waitFor();
  await look.close();
});

test("a completion that does not hold is refused in place, with what to do", async () => {
  const look = await world.open("/work/T7");
  const { page } = look;
  await page.getByRole("button", { name: "Complete", exact: true }).click();
  await page.getByRole("alert").waitFor();
  assert.match(await page.getByRole("alert").innerText(), /cleo /);
  await page.getByText("In progress").first().waitFor();
  await look.close();
});

test("a server that goes away is said in one line, and the page goes on when it is back", async () => {
  const look = await world.open("/runs");
  const { page } = look;
  const port = new URL(world.address).port;
  await page.getByText(/^Live, /).waitFor();
  await world.stopServer();
  await page.getByText("Not answering", { exact: true }).waitFor({ timeout: 15_000 });
  assert.equal(await page.getByText(/^Live/).and(page.locator(".side *")).count(), 0);
  await page.getByRole("link", { name: /^Work/ }).first().click();
  await page
    .getByText(/cleo is not answering/)
    .first()
    .waitFor();
  await world.serve(port);
  await page.getByText(/^Live, /).waitFor({ timeout: 30_000 });
  await page
    .getByText(/cleo is not answering/)
    .first()
    .waitFor({ state: "detached" });
  await look.close();
});

test("the filter is in the address and clears again", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  await page.keyboard.press("/");
  await page.keyboard.type("sessions");
  await page.waitForURL(/q=sessions/);
  await page.getByRole("link", { name: /Implement sessions/ }).waitFor();
  await page.getByRole("link", { name: /Research how small/ }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Clear" }).click();
  await page.waitForURL((url) => url.search === "?view=list");
  await page.keyboard.press("f");
  await page.getByRole("menuitemcheckbox", { name: "Failed" }).click();
  await page.waitForURL(/status=failed/);
  await page.keyboard.press("Escape");
  await look.close();
});
