// A tab stays open while its server ends, and that of another workspace takes its address.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fresh } from "./agency";
import { World } from "./world";

const other = new World();
let world: World;
before(async () => {
  world = await fresh();
  other.cleo("init");
});
after(() => Promise.all([world.end(), other.end()]));

test("a tab of another workspace writes nothing, loads again, and keeps its draft for its own", async () => {
  const { port } = new URL(world.address);
  const look = await world.open("/agents/tasks?task=new");
  const title = look.page.getByLabel("Title", { exact: true });
  const workspace = () => look.page.evaluate(() => document.querySelector<HTMLMetaElement>("meta[name=workspace]")?.content);
  const first = await workspace();
  await title.fill("Only for the first");
  // Its events are held back: the request that would write is the first that meets the other server.
  await look.page.route("**/api/{events,status}*", (route) => route.abort());
  await world.stopServer();
  await other.serve(port);
  await title.focus();
  await look.page.keyboard.press("Control+Enter");
  await look.page.waitForFunction((first) => ![undefined, first].includes(document.querySelector<HTMLMetaElement>("meta[name=workspace]")?.content), first);
  await look.settled();
  assert.equal(await title.inputValue(), "");
  assert.match(other.cleo("list", "--json"), /"tasks":\[\]/);
  await look.page.unroute("**/api/{events,status}*");
  await look.page.reload();
  await look.settled();
  await other.stopServer();
  await world.serve(port);
  // By its events alone it comes back.
  await look.page.waitForFunction((first) => document.querySelector<HTMLMetaElement>("meta[name=workspace]")?.content === first, first);
  await look.settled();
  assert.equal(await title.inputValue(), "Only for the first");
  await look.close();
});
