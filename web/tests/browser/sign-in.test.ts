// A server for others: a page asks for a token once, and goes on to where somebody wanted to go.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { World } from "./world";

let world: World;
before(async () => {
  world = new World();
  world.cleo("init");
  world.cleo("add", "First task");
  await world.serve("0", "--host", "0.0.0.0");
});
after(() => world.end());

test("without a token there is the sign-in page, and with one the page that was asked for", async () => {
  const { secret } = (JSON.parse(world.cleo("serve", "token", "create", "--json")) as { result: { secret: string } }).result;
  const look = await world.open("/work?view=list");
  const { page } = look;
  assert.match(page.url(), /\/sign-in\?next=/);
  await page.getByRole("textbox", { name: "Token" }).fill("cleo_of_nobody");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText(/./).waitFor();
  await page.getByRole("textbox", { name: "Token" }).fill(secret);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /First task/ }).waitFor();
  assert.match(page.url(), /\/work(\?view=list)?$/);
  await page.goto(`${world.address}/more`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to cleo" }).waitFor();
  await look.close();
});

test("an address of somebody else is not gone to after signing in", async () => {
  const { secret } = (JSON.parse(world.cleo("serve", "token", "create", "--json")) as { result: { secret: string } }).result;
  const look = await world.open("/sign-in?next=//example.org/");
  await look.page.getByRole("textbox", { name: "Token" }).fill(secret);
  await look.page.keyboard.press("Enter");
  await look.page.waitForURL(/\/work$/);
  assert.deepEqual(
    look.faults.filter((fault) => fault.includes("example")),
    [],
  );
  await look.close();
});
