// The pages of agents: how they look, and what a person does on them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { agency, ANSWER, fresh, type Agency } from "./agency";
import type { Look, Size, Theme, World } from "./world";

const PAGES: [string, string][] = [
  ["agents", "/agents"],
  ["agents-architecture", "/agents/architecture"],
  ["agents-manage", "/agents/manage"],
  ["agents-manage-edit", "/agents/manage?agent=toby-technical"],
  ["agents-chat", "/agents/chat"],
  ["agents-tasks", "/agents/tasks"],
  ["agents-tasks-edit", "/agents/tasks?task=T1"],
];

let world: Agency;
before(async () => {
  world = await agency();
});
after(() => world.end());

function open(path: string, theme: Theme = "light", size: Size = "desk", of: World = world): Promise<Look> {
  return of.open(path, theme, size);
}

async function fine(look: Look) {
  assert.deepEqual(await look.axe(), []);
  assert.equal(await look.sideways(), false, "something makes the page wider than its window");
  assert.deepEqual(look.faults, []);
}

for (const [name, path] of PAGES) {
  test(`${path}, in both themes and at both widths`, () => world.inspect(path, name, name === "agents-architecture" ? { ready: typed } : {}));
}

/** A message is typed, and the page says where it would go. */
async function typed({ page }: Look) {
  await page.getByRole("textbox", { name: "Quick execute" }).fill("Explain the history of the war to me.");
  await page
    .getByText(/reaches Toby/)
    .or(page.getByText(/Toby wins/))
    .first()
    .waitFor();
}

test("an agent with tags is created, stands in the graph, and a message reaches it", async () => {
  const look = await open("/agents/manage");
  const { page } = look;
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Lore keeper");
  await page.getByLabel("Tags").fill("warcraft, lore, second war,");
  await page.getByLabel("Try it").fill("Explain the Second War in Warcraft.");
  await page.getByText("Lore keeper wins 7 to 6.").waitFor();
  await look.shot("agents-manage-try-out");
  await fine(look);
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("You know Azeroth.");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("table").getByRole("button", { name: "Lore keeper", exact: true }).waitFor();

  await look.go("/agents/architecture");
  await page.getByRole("group", { name: /^Lore keeper, / }).waitFor();
  await page.getByRole("textbox", { name: "Quick execute" }).fill("Explain the Second War in Warcraft.");
  await page.getByText(/^reaches Lore keeper, 7 to 6$/).waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const monitor = page.getByRole("region", { name: "Live monitor" });
  await monitor.getByText("Handing the message to Lore keeper").waitFor();
  await monitor.getByText("Completed").waitFor();
  await monitor.getByText("Second War", { exact: true }).waitFor();
  const newest = page.getByRole("list", { name: "Delegations" }).getByRole("button").first();
  assert.match((await newest.innerText()).replace(/\s+/g, " "), /Lore keeper 7 Explain the Second War in Warcraft\./);
  await newest.click();
  await page.getByText("Replayed with the agents of now: same result.").waitFor();
  await look.shot("agents-architecture-explained");
  await fine(look);
  await look.close();
});

test("the parts of every score add up to its total", async () => {
  const look = await open("/agents/architecture");
  const { page } = look;
  await page.getByRole("list", { name: "Delegations" }).getByRole("button").nth(1).click();
  await page.getByText(/Replayed|changed since/).waitFor();
  const rows = await page.getByRole("list", { name: "Candidates with their scores" }).getByRole("button").all();
  assert.ok(rows.length > 1);
  for (const row of rows) {
    const text = await row.innerText();
    const total = Number(/^\d+$/m.exec(text)?.[0]);
    const parts = [...text.matchAll(/\+(\d+)|words (\d+)/g)].reduce((sum, [, tag, words]) => sum + Number(tag ?? words), 0);
    assert.equal(parts, total, text);
  }
  await look.close();
});

test("a message is answered word by word, and can be stopped", async () => {
  world.pace = 400;
  const look = await open("/agents/architecture");
  const { page } = look;
  await page.getByRole("textbox", { name: "Quick execute" }).fill("Explain the history of data");
  await page.keyboard.press("Control+Enter");
  const monitor = page.getByRole("region", { name: "Live monitor" });
  await monitor.getByText(/^The \*\*Second/).waitFor();
  await page
    .getByRole("group", { name: /^Toby, / })
    .getByRole("img", { name: "answers now" })
    .waitFor();
  await look.shot("agents-architecture-live");
  await monitor.getByRole("button", { name: "Stop" }).click();
  await monitor.getByText("Stopped").waitFor();
  assert.deepEqual(look.faults, []);
  world.pace = 5;
  await look.close();
});

test("a change of a design is asked for with what it was, confirmed with a key, and stays", async () => {
  const look = await open("/agents/chat");
  const { page } = look;
  await page.getByLabel("Talk to").selectOption("chat");
  await page.getByLabel("First message").fill("change button radius to full for client 6");
  await page.keyboard.press("Enter");
  const card = page.getByRole("group", { name: /button radius to full/i });
  await card.waitFor();
  assert.match((await card.getByRole("row", { name: /button radius/ }).innerText()).replace(/\s+/g, " "), /button radius small → full/);
  await look.shot("agents-chat-confirm");
  await fine(look);
  await card.focus();
  await page.keyboard.press("y");
  await page.getByText(/^Confirmed \d\d:\d\d, button radius is full$/).waitFor();
  await card.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText(/^Confirmed \d\d:\d\d, button radius is full$/).waitFor();
  await look.shot("agents-chat-confirmed");
  await fine(look);
  const design = world.cleo("chat", "--message", "show me my design for client 6", "--conversation", "other");
  assert.match(design, /"radius":"full"/);
  assert.match(design, /"style":"solid"/);
  await look.close();
});

test("a question that another message passes over is told as dropped, and the message stays", async () => {
  const look = await open("/agents/chat");
  const { page } = look;
  const message = "list the components of client 6";
  await page.getByLabel("Talk to").selectOption("chat");
  await page.getByLabel("First message").fill("find the component called zebra for client 6");
  await page.keyboard.press("Enter");
  await page.getByRole("group", { name: /No components found/ }).waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill(message);
  await page.keyboard.press("Enter");
  await page.getByText(/^The open question about the list of components was dropped \d\d:\d\d$/).waitFor();
  await page.getByRole("article", { name: "You" }).getByText(message, { exact: true }).waitFor();
  assert.equal(await page.getByText(/^Confirmed \d/).count(), 0);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("one of several components is chosen by its number, and what destroys says so", async () => {
  const look = await open("/agents/chat");
  const { page } = look;
  await page.getByLabel("Talk to").selectOption("chat");
  await page.getByLabel("First message").fill("update title of my card component for client 6 to Shop");
  await page.keyboard.press("Enter");
  const choice = page.getByRole("group", { name: "Which component is meant?" });
  await choice.waitFor();
  await look.shot("agents-chat-select");
  await fine(look);
  await choice.focus();
  await page.keyboard.press("1");
  await page.getByText(/^Chosen \d\d:\d\d, component 101/).waitFor();
  const change = page.getByRole("group", { name: /Change component 101/ });
  await change.waitFor();
  await change.getByRole("button", { name: /^Cancel/ }).click();
  await page.getByText(/^Cancelled \d/).waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("delete component 103 for client 6");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Delete component 103/ }).waitFor();
  await look.shot("agents-chat-delete");
  await fine(look);
  await look.close();
});

test("a conversation is routed, says to whom and why, and is there after a reload", async () => {
  const look = await open("/agents/chat");
  const { page } = look;
  await page.getByLabel("First message").fill("Explain the history of data");
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "Toby" }).getByText("Stormwind").waitFor();
  await page.getByText(/^→ Toby, score \d+$/).click();
  await page.getByText(/Toby wins/).waitFor();
  await look.shot("agents-chat-routed");
  await fine(look);
  await page.reload();
  await page.getByRole("article", { name: "You" }).getByText("Explain the history of data").waitFor();
  assert.equal(await page.getByRole("article", { name: "You" }).count(), 1, "the message was taken once");
  await look.close();
});

test("an answer that is on its way goes on after a reload, from its beginning, and can be stopped", async () => {
  world.pace = 500;
  const look = await open("/agents/chat");
  const { page } = look;
  await page.getByLabel("First message").fill("Explain the history of data slowly");
  await page.keyboard.press("Enter");
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText(/The \W*Second/).waitFor();
  await page.reload();
  await messages.getByText(/The \W*Second/).waitFor();
  await messages.getByText(/Toby answers/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  world.pace = 5;
  await look.close();
});

test("what nobody could answer says why, and Retry sends it again", async () => {
  world.refuses = true;
  const look = await open("/agents/chat");
  const { page } = look;
  await page.getByLabel("First message").fill("Explain the history of data that is refused");
  await page.keyboard.press("Enter");
  const messages = page.getByRole("region", { name: "Messages" });
  await messages.getByText(/No agent could answer this message: \w+/).waitFor();
  await look.shot("agents-chat-refused");
  await fine(look);
  world.refuses = false;
  await messages.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("article", { name: "Toby" }).getByText("Stormwind").waitFor();
  await look.close();
});

test("a draft is kept until it is sent", async () => {
  const look = await open("/agents/chat");
  await look.page.getByLabel("First message").fill("not sent yet");
  await look.go("/agents/tasks");
  await look.go("/agents/chat");
  assert.equal(await look.page.getByLabel("First message").inputValue(), "not sent yet");
  await look.close();
});

test("a card is dragged to done", async () => {
  const look = await open("/agents/tasks");
  const { page } = look;
  const card = page.getByRole("region", { name: /^To do/ }).getByText("Estimate fees");
  const done = page.getByRole("region", { name: /^Done/ });
  const from = await card.boundingBox();
  const to = await done.boundingBox();
  assert.ok(from && to);
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y + 20, { steps: 4 });
  await page.mouse.move(to.x + 80, to.y + 120, { steps: 8 });
  await look.shot("agents-tasks-drag");
  await page.mouse.up();
  await done.getByText("Estimate fees").waitFor();
  await page.getByText("Moved to done.").waitFor();
  assert.match(world.cleo("show", "T5"), /"status":"done"/);
  await look.close();
});

test("cards are dragged by their text one after the other, and Escape ends a drag", async () => {
  const look = await open("/agents/tasks");
  const { page } = look;
  const column = (name: RegExp) => page.getByRole("region", { name });
  const drag = async (id: string, to: RegExp, key?: string) => {
    const from = await page.locator(`[data-task="${id}"] .agent-card-facts`).boundingBox();
    const box = await column(to).boundingBox();
    assert.ok(from && box);
    await page.mouse.move(from.x + 4, from.y + 6);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, box.y + 120, { steps: 8 });
    if (key) await page.keyboard.press(key);
    await page.mouse.up();
  };
  const ids = await column(/^To do/)
    .locator("[data-task]")
    .evaluateAll((cards) => cards.map((card) => card.getAttribute("data-task") ?? ""));
  const [first = "", second = ""] = ids;
  await drag(first, /^Review/, "Escape");
  await column(/^To do/)
    .locator(`[data-task="${first}"]`)
    .waitFor();
  assert.equal(await page.locator(".agent-lifted").count(), 0);
  for (const id of [first, second]) {
    await drag(id, /^Doing/);
    await column(/^Doing/)
      .locator(`[data-task="${id}"]`)
      .waitFor();
  }
  assert.equal(await page.evaluate(() => String(getSelection())), "");
  for (const id of [first, second]) {
    await drag(id, /^To do/);
    await column(/^To do/)
      .locator(`[data-task="${id}"]`)
      .waitFor();
  }
  await look.close();
});

test("a card that the server refuses goes back with the reason", async () => {
  const look = await open("/agents/tasks");
  const { page } = look;
  await page.getByRole("button", { name: /^Move T3/ }).click();
  await page.getByRole("menuitem", { name: "Done" }).click();
  await page.getByRole("alert").getByText("stays where it was").waitFor();
  await page
    .getByRole("region", { name: /^Doing/ })
    .getByText("Write refund mail")
    .waitFor();
  await look.shot("agents-tasks-refused");
  await fine(look);
  await look.close();
});

test("a card is moved with keys, and moved back by Undo", async () => {
  const look = await open("/agents/tasks");
  const { page } = look;
  await page
    .getByRole("button", { name: /Fix onboarding/ })
    .first()
    .focus();
  await page.keyboard.press("Shift+ArrowRight");
  await page
    .getByRole("region", { name: /^Doing/ })
    .getByText("Fix onboarding")
    .waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page
    .getByRole("region", { name: /^To do/ })
    .getByText("Fix onboarding")
    .waitFor();
  await look.close();
});

test("the focus goes with a card that is moved, also when the server has answered", async () => {
  const look = await open("/agents/tasks");
  const { page } = look;
  const place = () =>
    page.evaluate(() => {
      const card = document.activeElement?.closest("[data-task]");
      return [card?.getAttribute("data-task"), card?.closest("[data-column]")?.getAttribute("data-column")];
    });
  await page
    .getByRole("button", { name: /Fix onboarding/ })
    .first()
    .focus();
  for (const [key, column, words] of [
    ["Shift+ArrowRight", "doing", "Moved to doing."],
    ["Shift+ArrowLeft", "todo", "Moved to to do."],
  ] as const) {
    await page.keyboard.press(key);
    await page.getByRole("status").getByText(words).waitFor();
    await look.settled();
    assert.deepEqual(await place(), ["T1", column]);
  }
  await page.getByRole("button", { name: /^Move T1/ }).click();
  await page.getByRole("menuitem", { name: "Doing" }).click();
  await page
    .getByRole("region", { name: /^Doing/ })
    .getByText("Fix onboarding")
    .waitFor();
  await look.settled();
  assert.deepEqual(await place(), ["T1", "doing"]);
  await page.keyboard.press("Shift+ArrowLeft");
  await page
    .getByRole("region", { name: /^To do/ })
    .getByText("Fix onboarding")
    .waitFor();
  await look.settled();
  await look.close();
});

test("a long message is scrolled with the keyboard", async () => {
  const body = JSON.stringify({ input: "Explain the history of the war to me. ".repeat(60) });
  const answer = await fetch(`${world.address}/api/agents/execute?wait=true`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { execution } = (await answer.json()) as { execution: { id: string } };
  const look = await open(`/agents/architecture?execution=${execution.id}`);
  const message = look.page.getByRole("region", { name: "Message", exact: true });
  await message.focus();
  assert.deepEqual(await message.evaluate((one) => [one === document.activeElement, one.scrollHeight > one.clientHeight]), [true, true]);
  await look.page.getByRole("list", { name: "Delegations" }).getByRole("button").first().click();
  await look.page.getByText(/Replayed|changed since/).waitFor();
  await fine(look);
  await look.close();
});

test("a task is created, and the router says who fits", async () => {
  const look = await open("/agents/tasks");
  const { page } = look;
  await page.keyboard.press("c");
  await page.getByLabel("Title", { exact: true }).fill("Solve the algebra of fees");
  await page.getByRole("button", { name: "Suggest" }).click();
  await page.getByText(/Peter wins/).waitFor();
  await look.shot("agents-tasks-new");
  await fine(look);
  await page.getByRole("button", { name: "Create task" }).click();
  await page
    .getByRole("region", { name: /^To do/ })
    .getByText("Solve the algebra of fees")
    .waitFor();
  await look.close();
});

test("filters stand in the address", async () => {
  const look = await open("/agents/tasks?status=review&priority=high");
  await look.page
    .getByRole("region", { name: /^Review/ })
    .getByText("Palette contrast")
    .waitFor();
  assert.equal(await look.page.getByText("Fix onboarding").count(), 0);
  await look.close();
});

test("an agent is paused at once and the way back is offered", async () => {
  const look = await open("/agents/manage");
  const { page } = look;
  const row = page.getByRole("row", { name: /Peter/ });
  await page.getByRole("button", { name: "Actions for Peter" }).click();
  await page.getByRole("menuitem", { name: "Pause" }).click();
  await row.getByText("paused").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await row.getByText("paused").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Status" }).click();
  await page.getByRole("menuitemcheckbox", { name: "paused, 1" }).waitFor();
  await look.close();
});

test("what is wrong with a field is said at the field", async () => {
  const look = await open("/agents/manage?agent=billing-helper");
  const { page } = look;
  await page.getByRole("tab", { name: "Config" }).click();
  await page.getByLabel("Temperature").fill("3");
  await page.getByLabel("Temperature").blur();
  await page.getByText("The temperature is 3; it goes from 0 to 2.").waitFor();
  await page.getByLabel("Temperature").fill("1");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.match(world.cleo("agents", "show", "billing-helper"), /"temperature":1/);
  await look.close();
});

test("an agent that somebody else saved meanwhile is not written over, and what was typed stays", async () => {
  const look = await open("/agents/manage?agent=billing-helper");
  const { page } = look;
  await page.getByLabel("Description").fill("mine");
  world.cleo("agents", "update", "billing-helper", "--description", "theirs");
  await page.getByText("description is now “theirs”").waitFor();
  await look.shot("agents-manage-conflict");
  await fine(look);
  await page.reload();
  assert.equal(await page.getByLabel("Description").inputValue(), "mine");
  await page.getByRole("button", { name: "Take theirs" }).click();
  assert.equal(await page.getByLabel("Description").inputValue(), "theirs");
  await page.getByLabel("Description").fill("ours");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.match(world.cleo("agents", "show", "billing-helper"), /"description":"ours"/);
  await look.close();
});

test("what was typed into a new agent and a dialog is there after it was closed, and goes when it is used", async () => {
  const look = await open("/agents/manage?edit=1");
  const { page } = look;
  await page.getByLabel("Name").fill("Net mender");
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.getByRole("textbox", { name: "Prompt" }).fill("You mend nets.");
  await page.keyboard.press("Escape");
  await look.go("/agents/manage?edit=1");
  assert.equal(await page.getByLabel("Name").inputValue(), "Net mender");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByText("Created.").waitFor();
  await look.go("/agents/manage?edit=1");
  assert.equal(await page.getByLabel("Name").inputValue(), "");
  await look.go("/work/T1");
  for (const _ of [1, 2]) {
    await page.getByRole("button", { name: "More for T1" }).click();
    await page.getByRole("menuitem", { name: "Prove a gate" }).click();
    const field = page.getByLabel("A command that cleo runs");
    if (_ === 2) assert.equal(await field.inputValue(), "true");
    await field.fill("true");
    await page.keyboard.press("Escape");
  }
  await look.close();
});

test("a card that somebody else has changed meanwhile stays where it was", async () => {
  const look = await open("/agents/manage");
  const { page } = look;
  await page.route("**/api/events**", (route) => route.abort());
  await look.go("/agents/tasks");
  await page
    .getByRole("button", { name: /Fix onboarding/ })
    .first()
    .focus();
  world.cleo("update", "T1", "--note", "Seen elsewhere");
  await page.keyboard.press("Shift+ArrowRight");
  await page.getByText("stays where it was. T1 was changed at").waitFor();
  assert.match(world.cleo("show", "T1"), /"status":"pending"/);
  await look.close();
});

test("two tabs keep what was typed in each", async () => {
  const look = await open("/work/T1?tab=edit");
  const { page } = look;
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByLabel("Description").waitFor();
  await page.getByLabel("Title", { exact: true }).fill("Typed here");
  await other.getByLabel("Description").fill("Typed there");
  await page.reload();
  assert.equal(await page.getByLabel("Title", { exact: true }).inputValue(), "Typed here");
  await other.close();
  await look.close();
});

test("the palette does what the pages of agents and chat do", async () => {
  const look = await open("/agents/manage?agent=billing-helper");
  const { page } = look;
  const choose = async (words: string) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(`>${words}`);
    await page.getByRole("option", { name: new RegExp(words) }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Find or run" }).waitFor({ state: "detached" });
  };
  await choose("Archive: Billing");
  await page.getByText("is archived.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await choose("Find an agent");
  await page.waitForFunction(() => document.activeElement?.id === "find-agent");
  await look.go("/agents/chat");
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link").first().click();
  await choose("Rename: this conversation");
  await page.getByRole("dialog", { name: "Rename the conversation" }).waitFor();
  await look.close();
});

test("what another program does is seen without a reload", async () => {
  const look = await open("/agents/manage");
  world.cleo("agents", "register", "From a shell", "--tag", "shell", "--prompt", "p");
  await look.page.getByRole("table").getByText("From a shell").waitFor();
  await look.close();
});

test("what strangers wrote is text", async () => {
  for (const path of ["/agents", "/agents/architecture", "/agents/manage?agent=evil", "/agents/tasks?task=T4"]) {
    const look = await world.open(path);
    await look.page.getByText("<img src=x").first().waitFor();
    assert.equal(await look.page.evaluate(() => (window as { evil?: number }).evil), undefined, path);
    assert.equal(await look.page.locator("main img, main script").count(), 0, path);
    await look.close();
  }
});

test("an answer of a model is laid out, and nothing of it is HTML", async () => {
  const look = await open("/agents/architecture");
  await look.page.getByRole("tab", { name: "Executions" }).click();
  await look.page.getByRole("list", { name: "Executions" }).getByRole("link").filter({ hasText: "Explain the data" }).first().click();
  const monitor = look.page.getByRole("region", { name: "Live monitor" });
  assert.equal(await monitor.locator("strong").innerText(), "Second War");
  assert.ok(ANSWER.includes("**Second War**"));
  await look.close();
});

test("the first page counts the active agents as the metrics do", async () => {
  const told = (await (await fetch(`${world.address}/api/agents/metrics`)).json()) as { dashboard: { activeAgents: number } };
  const { status } = (await (await fetch(`${world.address}/api/status`)).json()) as { status: { counts: { atWork: number } } };
  const look = await open("/agents");
  await look.page.getByText(`${told.dashboard.activeAgents} active, ${status.counts.atWork} at work`).waitFor();
  await look.close();
});

/** How much has moved on a page, from its beginning or from now on. */
function shift(look: Awaited<ReturnType<typeof open>>, buffered: boolean): Promise<number> {
  return look.page.evaluate(
    (buffered) =>
      new Promise<number>((done) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
        }).observe({ type: "layout-shift", buffered });
        setTimeout(() => done(sum), 600);
      }),
    buffered,
  );
}

test("nothing moves once the data is there", async () => {
  for (const path of ["/agents", "/agents/architecture", "/agents/manage", "/agents/tasks"]) {
    const look = await open(path);
    // Browsers report even a thousandth of a pixel.
    assert.ok((await shift(look, false)) < 0.0001, path);
    // Its parts come from several answers, and appear at once.
    assert.ok((await shift(look, true)) < 0.01, path);
    await look.close();
  }
});

test("a workspace in which nothing happened says how to begin", async () => {
  const empty = await fresh();
  for (const [path, words] of [
    ["/agents", "First steps"],
    ["/agents/architecture", "No delegations yet. Run a message to see why it goes where it goes."],
    ["/agents/chat", "No conversations yet. Write the first message."],
    ["/agents/tasks", "No tasks yet. Create one and assign it to an agent."],
  ] as const) {
    const look = await open(path, "light", "desk", empty);
    await look.page.getByText(words).first().waitFor();
    await fine(look);
    await look.close();
  }
  await empty.end();
});

test("what does not exist says so", async () => {
  for (const [path, words, back] of [
    ["/agents/manage?agent=nobody", "nobody does not exist here.", "Back to the list"],
    ["/agents/chat/conv_0", "conv_0 does not exist here.", "Back to chat"],
    ["/agents/chat?agent=nobody", "nobody does not exist here.", null],
    ["/agents/chat?agent=billing-helper", "Billing helper is paused.", null],
    ["/agents/tasks?task=T999", "T999 does not exist here.", "Back to the board"],
    ["/agents/tasks?task=none", "none does not exist here.", "Back to the board"],
    ["/agents/architecture?execution=exec_0", "exec_0 does not exist here.", "Close it"],
    ["/agents/architecture?delegation=999999", "Delegation 999999 is not among the last", "Close it"],
  ] as const) {
    const look = await open(path);
    await look.page.getByText(words).first().waitFor();
    if (back !== null) {
      await look.page.getByText(back, { exact: true }).click();
      await look.page.getByText(words).first().waitFor({ state: "detached" });
    }
    assert.deepEqual(look.faults, []);
    await look.close();
  }
});

test("a box of the graph is moved with the arrow keys, stays there, and is put back", async () => {
  const look = await open("/agents/architecture");
  const { page } = look;
  const box = page.getByRole("group", { name: /^Ami, / });
  await box.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/agent=ami-creative/);
  // What the other page still does would come in the way of going back.
  await look.settled();
  await look.go("/agents/architecture");
  await box.click();
  const before = await box.boundingBox();
  for (let times = 0; times < 4; times++) await page.keyboard.press("Shift+ArrowDown");
  const after = await box.boundingBox();
  assert.ok(before && after && after.y > before.y, "it moved down");
  await page.getByRole("button", { name: "Reset layout" }).click();
  await page.getByRole("button", { name: "Reset layout", disabled: true }).waitFor();
  await look.close();
});

test("the graph shows its boxes also when another part of the page comes late", async () => {
  // The second time the code of the graph is there at once, and waits for the delegations.
  const look = await open("/agents/architecture");
  const { page } = look;
  await page.route("**/api/agents/delegations*", async (route) => {
    await new Promise((done) => setTimeout(done, 1500));
    await route.continue();
  });
  await look.go("/agents/architecture");
  const box = page.getByRole("group", { name: /^Ami, / });
  await box.focus();
  const graph = await page.getByRole("region", { name: "Graph of agents" }).boundingBox();
  const inner = await box.boundingBox();
  assert.ok(graph && inner && inner.x >= graph.x && inner.y >= graph.y && inner.y + inner.height <= graph.y + graph.height, "Ami is in the picture");
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a conversation is renamed and archived", async () => {
  const look = await open("/agents/chat");
  const { page } = look;
  await page.getByLabel("First message").fill("Explain the history of names");
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "Toby" }).getByText("Stormwind").waitFor();
  await page.getByRole("button", { name: "Actions for the conversation" }).click();
  await page.getByRole("menuitem", { name: "Rename…" }).click();
  await page.getByLabel("Title").fill("Names");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("navigation", { name: "Conversations" }).getByText("Names", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Actions for the conversation" }).click();
  await page.getByRole("menuitem", { name: "Archive…" }).click();
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("navigation", { name: "Conversations" }).getByText("Names", { exact: true }).waitFor({ state: "detached" });
  await look.close();
});

test("between a desk and a phone, and on the narrowest phone, everything has its name and its place", async () => {
  const through = async (width: number, height: number) => {
    const look = await world.open("/agents", "light", "desk", { viewport: { width, height } });
    for (const [, path] of PAGES) {
      await look.go(path);
      await fine(look);
    }
    await look.close();
  };
  await Promise.all([through(900, 700), through(320, 640)]);
});
