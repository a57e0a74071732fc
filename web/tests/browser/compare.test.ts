// A step that failed is run again, both runs are compared, and the prompt with what was sent before.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { notes } from "./notes";
import type { World } from "./world";

let world: World;
before(async () => {
  world = await notes();
  world.cleo("config", "set", "--user", "runners.default", "command");
  world.cleo("config", "set", "--user", "runners.command", "sh agent.sh {prompt_file}");
  await world.stopServer();
  await world.serve();
});
after(() => world.end());

async function runs(): Promise<{ id: string; status: string; title: string }[]> {
  return ((await (await fetch(`${world.address}/api/runs?limit=50`)).json()) as { runs: { id: string; status: string; title: string }[] }).runs;
}

test("a step that failed is run again, by itself", async () => {
  const failed = (await runs()).find((run) => run.status === "failed");
  assert.ok(failed);
  const look = await world.open(`/runs/${failed.id}?task=T4`);
  const { page } = look;
  await page.getByRole("button", { name: "Run again" }).click();
  const dialog = page.getByRole("dialog", { name: "Run T4" });
  await dialog.getByText("cleo run T4", { exact: true }).waitFor();
  await dialog.getByRole("button", { name: "Run 1 task" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(failed.id));
  await page.getByText("1 verified, 0 open").waitFor();
  await page.getByRole("button", { name: "Run again" }).waitFor({ state: "detached" });
  // The run ends after its last task: what follows looks for it among the completed ones.
  await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("two runs are compared step by step", async () => {
  const all = await runs();
  const failed = all.find((run) => run.status === "failed");
  const again = all.find((run) => run.status === "completed" && run.title === failed?.title);
  assert.ok(failed && again, JSON.stringify(all));
  const look = await world.open(`/runs/${again.id}`);
  const { page } = look;
  await page.getByRole("button", { name: "More for this run" }).click();
  await page.getByRole("menuitem", { name: "Compare with another run" }).click();
  await page
    .getByRole("dialog")
    .getByRole("link", { name: /Failed.*Specify the HTTP interface/ })
    .click();
  await page.waitForURL(new RegExp(`compare=${failed.id}`));
  await page.getByText("1 step differs, 0 came out the same.").waitFor();
  const row = page.getByRole("row", { name: /T4/ });
  assert.match(await row.innerText(), /done[\s\S]*failed, 2 attempts/);
  await page.getByRole("link", { name: "Close the comparison" }).click();
  await page.getByRole("heading", { name: "What cleo found" }).waitFor();
  await look.close();
  await world.inspect(`/runs/${again.id}?compare=${failed.id}&steps=all`, "compare");
  const nowhere = await world.open(`/runs/${again.id}?compare=run_none`);
  await nowhere.page.getByText("run_none does not exist here.").waitFor();
  await nowhere.close();
});

test("a prompt tells what is new since it was sent", async () => {
  world.cleo("reopen", "T4");
  world.cleo("update", "T4", "--description", "Say which errors there are.");
  const look = await world.open("/work/T4?tab=prompt");
  await look.page.getByRole("heading", { name: /Since it was sent last/ }).waitFor();
  const differs = look.page.getByRole("group", { name: "What differs" });
  await differs.getByText("+ Say which errors there are.").waitFor();
  await look.close();
  await world.inspect("/work/T4?tab=prompt", "task-prompt-changes");
});
