// Home and review: find out what goes on, see what changed, send it back with words.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { harbour } from "./review";
import { held, type Look, type World } from "./world";

let world: World;
let failed = "";
before(async () => {
  world = await harbour();
  const { runs } = JSON.parse(await (await fetch(`${world.address}/api/runs?status=failed`)).text()) as { runs: { id: string }[] };
  failed = runs[0]?.id ?? "";
});
after(() => world.end());

const SIZES = ["wide", "phone"] as const;

test("home says who is at work with the last line, the same number everywhere", async () => {
  const run = world.starts("run", "T3", "--command", "sh agent.sh {prompt_file}");
  const look = await world.open("/", "light", "wide");
  const { page } = look;
  const atWork = page.getByRole("region", { name: "At work" });
  await atWork.getByText("waits for the tide").waitFor();
  await atWork.getByRole("link", { name: "Watch", exact: true }).waitFor();
  await world.inspect("/", "home", { sizes: SIZES, ready: (other) => other.page.getByText("waits for the tide").waitFor() });
  const hub = await world.open("/agents");
  await hub.page.getByText("1 at work").first().waitFor();
  await hub.close();
  await page.goto(`${world.address}/work/T3`);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop only this task" }).click();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  await page.getByRole("button", { name: "Run again" }).waitFor();
  await page.goto(world.address);
  await page.getByText("No agent is at work.").waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a card runs its task and stops its run, and the log comes as it is written", async () => {
  world.cleo("config", "set", "--user", "runners.default", "command");
  world.cleo("config", "set", "--user", "runners.command", "sh agent.sh {prompt_file}");
  const look = await world.open("/agents/tasks", "light", "wide");
  const { page } = look;
  await page.getByRole("button", { name: /^Run( again)? T3$/ }).click();
  const dialog = page.getByRole("dialog", { name: "Run T3" });
  await dialog.getByText("Watch the tide").waitFor();
  await dialog.getByRole("button", { name: "Run 1 task" }).click();
  await page.waitForURL(/\/runs\/./);
  await look.go("/agents/tasks");
  const card = page.getByTitle("Watch T3");
  await card.getByText("waits for the tide").waitFor();
  const isAtWork = ({ page }: Look) => page.getByRole("region", { name: "At work" }).getByText("waits for the tide").waitFor();
  for (const path of ["/agents/tasks", "/agents/architecture", "/work?view=epics"])
    await world.inspect(path, `busy-${path.replace(/\W/g, "")}`, { sizes: SIZES, ...(path === "/agents/architecture" && { ready: isAtWork }) });
  await card.click();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("region", { name: "Log of T3, attempt 1" }).getByText("waits for the tide").waitFor();
  appendFileSync(join(world.folder, ".cleo", "runs", id, "T3-1.log"), '{"ms":9000,"stream":"out","text":"the tide comes"}\n');
  await page.getByText("the tide comes").waitFor();
  const port = new URL(world.address).port;
  await page.getByText("Live", { exact: true }).waitFor();
  await world.stopServer();
  await page.getByText("cleo is not answering.").waitFor();
  assert.equal(await page.getByText("Live", { exact: true }).count(), 0);
  await world.serve(port);
  await page.getByText("Live", { exact: true }).waitFor();
  await look.go("/agents/tasks");
  await page.getByRole("button", { name: "Stop T3" }).click();
  await page.getByRole("dialog").getByRole("checkbox", { name: "Stop the whole run" }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Stop the run" }).click();
  await page.getByRole("button", { name: /^Run( again)? T3$/ }).waitFor();
  await look.close();
});

test("an epic stands with its title and how far its parts are", async () => {
  const { task } = JSON.parse(world.cleo("add", "Open the harbour", "--type", "epic", "--json")).result as { task: { id: string } };
  for (const title of ["Dig", "Fill"]) world.cleo("add", title, "--parent", task.id);
  const look = await world.open("/work?view=epics");
  const { page } = look;
  await page
    .getByRole("link", { name: /Open the harbour/ })
    .getByText("0 of 2 done")
    .waitFor();
  await page.getByRole("link", { name: /Open the harbour/ }).click();
  await page.getByRole("heading", { name: "Wave 0" }).waitFor();
  await page.getByRole("link", { name: /Dig/ }).waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("epics are lanes of the board, which are folded and hold their parts", async () => {
  const through = async (look: Look) => {
    const { page } = look;
    await page.getByRole("button", { name: "By epic" }).click();
    await page.waitForURL(/group=epic/);
    const lane = page.getByRole("group", { name: "Open the harbour" });
    await lane.getByRole("button", { name: "Dig", exact: true }).waitFor();
    assert.equal(await lane.getByText("Watch the tide").count(), 0);
    await page.getByText("Without an epic").click();
    const rest = page.getByRole("group", { name: "Without an epic" });
    await rest.getByRole("button", { name: "Watch the tide", exact: true }).waitFor();
    assert.equal(await rest.getByText("Open the harbour").count(), 0);
    await look.sound("lanes");
    await page.getByText("0 of 2 done").click();
    await lane.waitFor({ state: "detached" });
    await page.reload();
    await rest.getByRole("button", { name: "Watch the tide", exact: true }).waitFor();
    assert.equal(await lane.count(), 0);
    assert.deepEqual(look.faults, []);
    await look.close();
  };
  await Promise.all(SIZES.map(async (size) => through(await world.open("/agents/tasks", "light", size))));
  const look = await world.open("/agents/tasks?group=epic", "light", "wide");
  const { page } = look;
  const lane = page.getByRole("group", { name: "Open the harbour" });
  await lane.getByRole("button", { name: "Dig", exact: true }).focus();
  await page.keyboard.press("Shift+ArrowRight");
  await lane.locator("[data-column=doing]").getByRole("button", { name: "Dig", exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await lane.locator("[data-column=todo]").getByRole("button", { name: "Dig", exact: true }).waitFor();
  await look.close();
});

test("a card that is dragged to another lane is part of that epic", async () => {
  const look = await world.open("/agents/tasks?group=epic", "light", "wide");
  const { page } = look;
  const [lane, rest] = [page.getByRole("group", { name: "Open the harbour" }), page.getByRole("group", { name: "Without an epic" })];
  const todo = rest.locator("[data-column=todo]");
  await page.getByText("Without an epic").click();
  await todo.getByRole("button", { name: "Watch the tide", exact: true }).waitFor();
  const shown = await todo.locator("[data-task]").count();
  assert.match(await todo.getByRole("heading").innerText(), new RegExp(`\\b${shown}\\b`), "epics are not counted");
  const [from, to] = [await lane.getByText("Dig", { exact: true }).boundingBox(), await todo.boundingBox()];
  assert.ok(from && to);
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 80, to.y + 60, { steps: 8 });
  await rest.locator(".agent-lane.over[data-column=todo]").waitFor();
  await page.mouse.up();
  await todo.getByRole("button", { name: "Dig", exact: true }).waitFor();
  await page.getByText("Moved to to do.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await lane.locator("[data-column=todo]").getByRole("button", { name: "Dig", exact: true }).waitFor();
  await look.settled();
  assert.match(world.cleo("list", "--tree", "--all"), /Open the harbour.*Dig/s);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("what needs a person has one button each", async () => {
  const look = await world.open("/", "light", "wide");
  const { page } = look;
  const needs = page.getByRole("region", { name: "Needs you" });
  const row = (text: string) => needs.getByRole("listitem").filter({ hasText: text });
  await row("Ask the harbour master").getByText("Which of the two masters?").waitFor();
  await row("Ask the harbour master").getByRole("link", { name: "Answer" }).waitFor();
  await page.getByRole("region", { name: "Delivered today" }).getByText("Paint the buoy").waitFor();
  await row("Print two").getByRole("link", { name: "Review" }).click();
  await page.getByRole("heading", { name: "What cleo found" }).waitFor();
  await look.close();
});

test("a review shows what was asked, the diff by file and what is proven", async () => {
  const ready = async ({ page }: Look) => {
    await page.getByText("Print two instead of one.").waitFor();
    await page.getByText("a person likes it").waitFor();
    await page.getByRole("heading", { name: "What cleo found" }).waitFor();
    await page.getByText('println!("two");').waitFor();
    await page.getByText("notes for T1.txt").first().waitFor();
  };
  await world.inspect(`/runs/${failed}/T1`, "review", { sizes: SIZES, ready });
});

test("a task is created and run with keys alone", async () => {
  const look = await world.open("/", "light", "wide");
  const { page } = look;
  const focused = (what: string) => page.waitForFunction((what) => document.activeElement?.matches(what), what);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("new task");
  await page.getByRole("option", { name: "New task" }).waitFor();
  await page.keyboard.press("Enter");
  await focused("[name=title]");
  await page.keyboard.type("Count the gulls");
  await page.keyboard.press("Control+Enter");
  await focused("aside h2");
  await page.getByRole("button", { name: "Complete", exact: true }).waitFor();
  await page.keyboard.press("r");
  await page.getByRole("button", { name: "Run 1 task" }).waitFor();
  await focused("dialog .primary");
  await page.getByLabel("Agents", { exact: true }).selectOption("codex");
  await page.getByText(/cleo run T\d+ --runner codex/).waitFor();
  await page.keyboard.press("Escape");
  await focused("aside h2");
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("ready is what neither failed nor waits in a live run, and just that is run", async () => {
  world.cleo("add", "Polish the bell");
  world.cleo("add", "Ring the bell");
  const idOf = (title: string) => (JSON.parse(world.cleo("find", title, "--json")) as { result: { tasks: { id: string }[] } }).result.tasks[0]?.id ?? "";
  const [waits, rings] = [idOf("Polish the bell"), idOf("Ring the bell")];
  const run = world.starts("run", "T3", waits, "--jobs", "1", "--command", "sh agent.sh {prompt_file}", "--repair", "0");
  const look = await world.open("/", "light", "wide");
  const { page } = look;
  await page.getByRole("region", { name: "At work" }).getByText("waits for the tide").waitFor();
  const ready = /\d+/.exec(await page.locator(".rail a", { hasText: "Ready" }).innerText())?.[0];
  await page.keyboard.press("r");
  const line = await page
    .getByRole("dialog")
    .getByText(/^cleo run T/)
    .innerText();
  assert.equal(line.match(/T\d+/g)?.length, Number(ready));
  assert.deepEqual(
    [rings, waits, "T1"].map((id) => line.split(" ").includes(id)),
    [true, false, false],
  );
  await page.keyboard.press("Escape");
  await look.go(`/work/${waits}`);
  await page.getByText("Waiting", { exact: true }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: /^Run/ }).count(), 0);
  run.kill();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("words go to the agent at work, which begins again with them", async () => {
  const run = world.starts("run", "T3", "--command", "sh agent.sh {prompt_file}", "--repair", "0");
  const look = await world.open("/", "light", "wide");
  const { page } = look;
  await page.getByRole("region", { name: "At work" }).getByText("waits for the tide").waitFor();
  await page.getByRole("link", { name: "Watch", exact: true }).click();
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await page.getByRole("button", { name: "Send to the agent" }).waitFor();
  await world.inspect(new URL(page.url()).pathname, "send", { sizes: SIZES, ready: (other) => other.page.getByText("Sent at once").waitFor() });
  await page.getByLabel("Words for the agent").fill("Keep the limit where it is.");
  await page.getByRole("button", { name: "Send to the agent" }).click();
  await page.getByRole("button", { name: "Attempt 2 of 2" }).waitFor();
  await page.getByText("was told to keep the limit").waitFor();
  await page.getByRole("button", { name: "Attempt 2 of 2" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Attempt 1, cancelled" }).click();
  await page.getByText("its agent was sent words").first().waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${world.address}/work/T3`);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop only this task" }).click();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("logs of several agents stand in columns, and one is stopped while the other works on", async () => {
  const { task } = JSON.parse(world.cleo("add", "Watch the moon", "--description", "Take your time.", "--json")).result as { task: { id: string } };
  const run = world.starts("run", "T3", task.id, "--command", "sh agent.sh {prompt_file}", "--jobs", "2", "--repair", "0");
  const look = await world.open("/", "light", "wide");
  const { page } = look;
  await page.getByRole("link", { name: "Compare logs" }).click();
  const [tide, moon] = ["T3", task.id].map((id) => page.getByRole("region", { name: `Agent of ${id}` }));
  for (const column of [tide, moon]) await column?.getByText("waits for the tide").waitFor();
  const address = new URL(page.url());
  await world.inspect(address.pathname + address.search, "logs", { sizes: SIZES, ready: (other) => other.page.getByText("waits for the tide").nth(1).waitFor() });
  await tide?.getByRole("button", { name: "Stop T3" }).click();
  await page.getByRole("button", { name: "Stop only this task" }).click();
  await tide?.getByRole("img", { name: "Cancelled" }).waitFor();
  await moon?.getByRole("button", { name: "Following" }).waitFor();
  await page.getByRole("button", { name: "Close the log of T3" }).click();
  await tide?.waitFor({ state: "detached" });
  await moon?.getByRole("link", { name: "Review" }).waitFor();
  await page.getByRole("button", { name: "Agents" }).click();
  await page.getByRole("menuitemcheckbox", { name: /Watch the moon/, checked: true }).waitFor();
  await page.keyboard.press("Escape");
  run.kill();
  await new Promise((ended) => (run.exitCode === null ? run.on("exit", ended) : ended(null)));
  world.cleo("cancel", task.id);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("words survive a reload and go to the next agent", async () => {
  const look = await world.open(`/runs/${failed}/T1`);
  const { page } = look;
  await page.getByLabel("Words for the agent").fill("Keep the limit where it is.");
  await page.reload();
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "Keep the limit where it is.");
  await page.getByRole("button", { name: "Retry in this run" }).click();
  await page.getByText("was told to keep the limit").waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("an approval that is refused says why and keeps the words", async () => {
  const look = await world.open(`/runs/${failed}/T1`);
  const { page } = look;
  await page.getByLabel("Words for the agent").fill("It prints two.");
  await page.getByRole("button", { name: "Approve" }).click();
  await page
    .getByRole("alert")
    .getByText(/The manifest has no entry/)
    .waitFor();
  assert.equal(await page.getByLabel("Words for the agent").inputValue(), "It prints two.");
  await look.close();
});

test("Enter that comes with the words opens what is found for them, once it is found", async () => {
  const made = JSON.parse(world.cleo("add", "Zebra crossing", "--json")).result as { task: { id: string } };
  const look = await world.open("/runs");
  const { page } = look;
  await page.keyboard.press("Control+k");
  await page.keyboard.type("zebrs");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("a");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href.includes(made.task.id));
  await page.getByRole("dialog", { name: "Find or run" }).waitFor({ state: "detached" });
  world.cleo("delete", made.task.id);
  await look.close();
});

test("keys typed after Ctrl K are in the palette, and Escape closes only it", async () => {
  const look = await world.open("/work/T1");
  const { page } = look;
  await page.keyboard.press("Control+k");
  await page.keyboard.type("paint");
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>("dialog.palette input")?.value === "paint");
  await page.getByRole("option", { name: /Paint the buoy/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal(new URL(page.url()).pathname, "/work/T1");
  await look.close();
});

test("keys that are pressed before their page or its code is there do what they are for", async () => {
  for (const [late, waitUntil] of [
    ["index", "commit"],
    ["Task", "domcontentloaded"],
  ] as const) {
    const look = await world.open("/more", "light", "wide");
    const { page } = look;
    const start = await held(look, `**/assets/${late}-*.js`);
    await page.goto(`${world.address}/work/T1`, { waitUntil });
    await page.waitForFunction(() => "early" in window);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("paint");
    start();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>("dialog.palette input")?.value === "paint");
    assert.deepEqual(look.faults, []);
    await look.close();
  }
});

test("two tabs that change one field see both versions", async () => {
  const look = await world.open("/agents/tasks?task=T4&status=done");
  const other = await world.open("/agents/tasks?task=T4&status=done");
  await look.page.getByLabel("Title").fill("Paint the red buoy");
  await other.page.getByLabel("Title").fill("Paint the green buoy");
  await other.page.getByLabel("Description").fill("Twice.");
  await look.page.getByRole("button", { name: "Save" }).click();
  await look.page.getByText("Saved.").waitFor();
  await other.page.getByText("title is now “Paint the red buoy”").waitFor();
  await other.shot("conflict-desk-light");
  assert.deepEqual(await other.axe(), []);
  await other.page.reload();
  await other.page.getByRole("button", { name: "Take theirs" }).click();
  await other.page.getByRole("button", { name: "Save" }).click();
  await other.page.getByText("Saved.").waitFor();
  const { task } = JSON.parse(await (await fetch(`${world.address}/api/tasks/T4`)).text()) as { task: { title: string; description: string } };
  assert.deepEqual([task.title, task.description], ["Paint the red buoy", "Twice."]);
  const stale = await fetch(`${world.address}/api/tasks/T4`, { method: "PUT", headers: { "content-type": "application/json", "if-match": '"2020-01-01T00:00:00.000Z"' }, body: '{"title":"late"}' });
  assert.equal(stale.status, 409);
  await look.close();
  await other.close();
});

test("a task is made and changed with all its fields", async () => {
  for (const size of ["wide", "phone"] as const) {
    const look = await world.open("/agents/tasks?task=new", "light", size);
    const { page } = look;
    await page.getByLabel("Title", { exact: true }).fill(`Mend the net, ${size}`);
    await page.getByLabel("Accepted when").fill("it holds\nit floats");
    await page.getByLabel("Waits for").fill("T3");
    await page.getByLabel("Labels").fill("net, sea");
    await look.shot(`task-new-${size}-light`);
    assert.deepEqual(await look.axe(), []);
    await page.getByRole("button", { name: "Create task" }).click();
    await page.getByText(/Created T\d+\./).waitFor();
    const id = new URL(page.url()).searchParams.get("task") ?? "";
    await look.go(`/work/${id}?tab=edit`);
    await page.getByLabel("Accepted when").fill("it holds");
    await page.getByLabel("Priority").selectOption("high");
    await look.shot(`task-edit-${size}-light`);
    assert.deepEqual(await look.axe(), []);
    assert.equal(await look.sideways(), false);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const { task } = JSON.parse(await (await fetch(`${world.address}/api/work/tasks/${id}`)).text()) as { task: Record<string, unknown> };
    assert.deepEqual([task["acceptance"], task["depends"], task["labels"], task["priority"]], [["it holds"], ["T3"], ["net", "sea"], "high"]);
    assert.deepEqual(look.faults, []);
    await look.close();
  }
});

test("a task that a person has started does not move, and is run or reviewed by its state", async () => {
  const { task } = JSON.parse(world.cleo("add", "Row ashore", "--json")).result as { task: { id: string } };
  const look = await world.open(`/work/${task.id}`, "light", "wide");
  const { page } = look;
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  world.cleo("start", task.id);
  await page.getByText("Started by hand").waitFor();
  assert.equal(await page.locator("main .glyph:not(.still) .turning").count(), 0);
  await look.close();
});
