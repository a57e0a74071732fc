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
  await page.getByRole("dialog", { name: "Find or run" }).getByRole("combobox").fill("sessions");
  await page.getByRole("option", { name: /Implement sessions/ }).first().waitFor();
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
  await page.getByText("Running").first().waitFor();
  await look.close();
});

test("a server that goes away is said in one line, and the page goes on when it is back", async () => {
  const look = await world.open("/runs");
  const { page } = look;
  const port = new URL(world.address).port;
  await page.getByText(/^Live, /).waitFor();
  await world.stopServer();
  await page.getByText("Reconnecting").waitFor({ timeout: 15_000 });
  await page.getByRole("link", { name: /^Work/ }).first().click();
  await page.getByText(/cleo is not answering/).first().waitFor();
  await world.serve(port);
  await page.getByText(/^Live, /).waitFor({ timeout: 30_000 });
  await page.getByText(/cleo is not answering/).waitFor({ state: "detached" });
  await look.close();
});

test("the filter is in the address and clears again", async () => {
  const look = await world.open("/work?view=list&epic=T1");
  const { page } = look;
  await page.keyboard.press("f");
  await page.getByLabel("Words in title or text").fill("sessions");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=sessions/);
  await page.getByRole("link", { name: /Implement sessions/ }).waitFor();
  await page.getByRole("link", { name: /Research how small/ }).waitFor({ state: "detached" });
  await look.close();
});
