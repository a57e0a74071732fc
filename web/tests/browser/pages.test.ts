// Every page, in both themes and at both widths: no fault, nothing sideways, nothing that axe finds.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { notes } from "./notes";
import type { World } from "./world";

const PAGES: [string, string][] = [
  ["ask", "/"],
  ["work", "/work?epic=T1"],
  ["work-task", "/work?epic=T1&task=T4"],
  ["work-list", "/work?view=list&epic=T1"],
  ["work-epics", "/work?view=epics"],
  ["board", "/agents/tasks"],
  ["board-lanes", "/agents/tasks?group=epic"],
  ["task", "/work/T4"],
  ["task-receipt", "/work/T5?tab=receipt"],
  ["task-prompt", "/work/T7?tab=prompt"],
  ["task-manifest", "/work/T5?tab=manifest"],
  ["task-evidence", "/work/T7?tab=evidence"],
  ["runs", "/runs"],
  ["more", "/more"],
  ["not-there", "/work/T999"],
  ["no-page", "/nowhere"],
  ["sign-in", "/sign-in"],
];
let world: World;
before(async () => {
  world = await notes();
});
after(() => world.end());

for (const [name, path] of PAGES) {
  test(`${path}, in both themes and at both widths`, () => world.inspect(path, name));
}

test("a run, in both themes and at both widths", async () => {
  const { runs } = JSON.parse(await (await fetch(`${world.address}/api/runs`)).text()) as { runs: { id: string; status: string }[] };
  const failed = runs.find((run) => run.status === "failed");
  assert.ok(failed);
  await world.inspect(`/runs/${failed.id}`, "run", { ready: ({ page }) => page.getByRole("heading", { name: "What cleo found" }).waitFor() });
});

test("what is asked for before the code is there is what the page shows", async () => {
  for (const path of ["/work", "/runs", "/agents/tasks"]) {
    const look = await world.open(path);
    const [early, asked] = await look.page.evaluate(() => [Object.keys(window.early?.answers ?? {}), performance.getEntriesByType("resource").map(({ name }) => name.slice(location.origin.length))]);
    assert.ok(early.length > 1, path);
    // The page asks for each again once it is shown.
    for (const answer of early) assert.ok(asked.filter((one) => one === answer).length > 1, `${path} never shows ${answer}`);
    await look.close();
  }
});

test("what strangers wrote is text", async () => {
  for (const path of ["/work?epic=T1", "/work?view=list", "/agents/tasks", "/work/T22"]) {
    const look = await world.open(path);
    assert.equal(await look.page.evaluate(() => (window as { evil?: number }).evil), undefined, path);
    assert.equal(await look.page.locator("main img, main script").count(), 0, path);
    await look.close();
  }
});

test("nothing moves once the data is there", async () => {
  for (const path of ["/work?view=list", "/runs", "/work/T4"]) {
    const look = await world.open(path);
    const shift = await look.page.evaluate(
      () =>
        new Promise<number>((done) => {
          let sum = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
          }).observe({ type: "layout-shift" });
          setTimeout(() => done(sum), 600);
        }),
    );
    assert.equal(shift, 0, path);
    await look.close();
  }
});
