// What works without a script: a browser sends the form itself, and says from where.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { World } from "./world";

let world: World;
before(async () => {
  world = new World();
  world.cleo("init");
  await world.serve();
});
after(() => world.end());

test("a form of our own page is answered, and the server is told where it comes from", async () => {
  const look = await world.open("/");
  const { page } = look;
  const answered = page.waitForResponse((response) => new URL(response.url()).pathname === "/ask");
  await page.evaluate(() => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/ask";
    const query = document.createElement("input");
    query.name = "query";
    query.value = "Summarize the notes";
    form.append(query);
    document.body.append(form);
    form.submit();
  });
  const response = await answered;
  assert.equal(response.status(), 200);
  assert.equal((await response.request().allHeaders())["origin"], world.address);
  // A page that is closed while it goes elsewhere may hold its browser up.
  await page.waitForURL(/\/ask$/);
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await look.close();
});
