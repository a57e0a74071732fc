// Forms and reviews: what is wrong is said beside its field, nothing that an agent committed is hidden, and keys do the topmost thing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { quay } from "./review";
import { held, type Look, type World } from "./world";

let world: World;
let failed = "";
before(async () => {
  world = await quay();
  const { runs } = (await (await fetch(`${world.address}/api/runs?status=failed`)).json()) as { runs: { id: string; title: string }[] };
  failed = runs.find((run) => run.title === "Print two")?.id ?? "";
});
after(() => world.end());

const SIZES = ["wide", "phone"] as const;
/** Types words while a request waits for its answer. */
async function typeDuring(look: Look, method: string, path: string, send: () => Promise<unknown>, words: string) {
  const { page } = look;
  const answer = await held(look, path, method);
  const asked = page.waitForRequest((request) => request.method() === method);
  await send();
  await asked;
  await page.keyboard.type(words, { delay: 5 });
  const answered = page.waitForResponse((response) => response.request().method() === method);
  answer();
  await answered;
  await page.unroute(path);
}

const focused = ({ page }: Look, what: string) => page.waitForFunction((what) => document.activeElement?.matches(what), what);

test("a review shows what an agent committed, and how much lies outside of the declared files", async () => {
  const ready = async ({ page }: Look) => {
    await page.getByText('println!("two");').waitFor();
    await page.getByText("1 changed file lies outside of the declared ones").click();
    await page.getByText("other.txt").waitFor();
  };
  await world.inspect(`/runs/${failed}/T1`, "review-committed", { sizes: SIZES, ready });
});

test("a comment on a line goes with the words, which Ctrl Enter sends", async () => {
  const look = await world.open(`/runs/${failed}/T1`, "light", "wide");
  const { page } = look;
  await page.getByRole("group", { name: "Changes of main.rs" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await focused(look, "textarea");
  await page.keyboard.type("print three");
  assert.match(await page.getByLabel("Words for the agent").inputValue(), /^main\.rs:2 \(removed\): print three$/);
  await page.keyboard.press("Control+Enter");
  await page.getByText("was told of a line").first().waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("all faults of a form stand beside their fields, and the first has the focus", async () => {
  for (const size of SIZES) {
    const look = await world.open("/agents/tasks?task=new", "light", size);
    const { page } = look;
    await page.getByLabel("Title", { exact: true }).fill("x".repeat(501));
    await page.getByLabel("Hours").fill("-1");
    await page.getByLabel("Files").fill("../x");
    await page.getByLabel("Waits for").fill("T99, soon");
    await page.getByRole("button", { name: "Create task" }).click();
    await focused(look, "[name=title][aria-invalid=true]");
    assert.deepEqual(await page.locator("[aria-invalid=true]").evaluateAll((all) => all.map((one) => one.getAttribute("name"))), ["title", "estimate", "files", "depends"]);
    await page.getByText("The title has 501 characters; 500 are allowed.").waitFor();
    await page.getByText("“soon” is not a task id").waitFor();
    await look.sound("faults");
    await page.getByLabel("Title", { exact: true }).fill("Count the gulls");
    await page.getByLabel("Waits for").fill("T99");
    await page.keyboard.press("Control+Enter");
    await page.getByText("There is no task T99 to depend on").waitFor();
    await focused(look, "[name=estimate]");
    await look.close();
  }
});

test("a change elsewhere that meets no field of mine is merged, and mine is saved at once", async () => {
  const look = await world.open("/more", "light", "wide");
  const { page } = look;
  await page.route("**/api/events*", (route) => route.abort());
  await look.go("/work/T2?tab=edit");
  await page.getByLabel("Title", { exact: true }).fill("Dig deeper");
  world.cleo("update", "T2", "--description", "By hand.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  const { task } = (await (await fetch(`${world.address}/api/work/tasks/T2`)).json()) as { task: { title: string; description: string } };
  assert.deepEqual([task.title, task.description], ["Dig deeper", "By hand."]);
  await look.close();
});

test("a conflict that a save met has the focus, and a choice leads back into the form", async () => {
  const look = await world.open("/more", "light", "wide");
  const { page } = look;
  await page.setViewportSize({ width: 1440, height: 500 });
  await page.route("**/api/events*", (route) => route.abort());
  await look.go("/work/T3?tab=edit");
  await page.getByLabel("Title", { exact: true }).fill("Mine");
  world.cleo("update", "T3", "--title", "Theirs");
  await page.keyboard.press("Control+Enter");
  await page.getByText("title is now “Theirs”").waitFor();
  await focused(look, "[role=alert] button");
  await page.keyboard.press("Enter");
  await focused(look, "[name=title]");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Saved.", { exact: true }).waitFor();
  await page.getByRole("heading", { name: "Mine" }).waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
  await look.close();
});

test("on a phone the answer to a review comes before its diff, and too many words are told", async () => {
  const look = await world.open(`/runs/${failed}/T1`, "light", "phone");
  const { page } = look;
  const words = page.getByLabel("Words for the agent");
  const [answer, diff] = [await words.boundingBox(), await page.getByRole("tab", { name: /^Changes/ }).boundingBox()];
  assert.ok(answer && diff && answer.y < diff.y);
  await words.fill("x".repeat(4001));
  await page.getByText("4,001 characters; 4,000 are allowed.").waitFor();
  await look.sound("too-many-words");
  await look.close();
});

test("a task that was only moved is in progress, and no agent is at work", async () => {
  const headers = { "content-type": "application/json" };
  await fetch(`${world.address}/api/tasks/T3`, { method: "PUT", headers, body: '{"status":"doing"}' });
  const fact = ({ page }: Look, label: string) => page.getByRole("group", { name: "Summary" }).locator("a, div").filter({ hasText: label }).first();
  const ready = async (look: Look) => {
    await fact(look, "In progress").getByText("1", { exact: true }).waitFor();
    await fact(look, "At work").getByText("0", { exact: true }).waitFor();
  };
  await world.inspect("/work?view=list", "in-progress", { sizes: SIZES, ready });
  const look = await world.open("/work/T3");
  await fact(look, "Status").getByText("In progress").waitFor();
  assert.equal(await look.page.getByText("agent at work").count(), 0);
  await look.close();
});

test("a run of several tasks is named by their number", async () => {
  const look = await world.open("/runs");
  await look.page.getByText("T2 and 1 more").waitFor();
  await look.close();
});

test("a phone shows first what needs a person", async () => {
  for (const [size, first] of [
    ["phone", "Needs you"],
    ["wide", "At work"],
  ] as const) {
    const look = await world.open("/", "light", size);
    await look.page.getByRole("region", { name: "Needs you" }).waitFor();
    assert.equal(await look.page.locator(".home section").first().getAttribute("aria-label"), first);
    await look.sound("home-order");
    await look.close();
  }
});

test("the dialog of a gate begins with its first field", async () => {
  const look = await world.open("/work/T2", "light", "wide");
  const { page } = look;
  await page.getByRole("button", { name: "More for T2" }).click();
  await page.getByRole("menuitem", { name: /Prove a gate/ }).click();
  await focused(look, "dialog select");
  assert.deepEqual(await look.axe(), []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await look.close();
});

test("Escape leaves a field, and only then its page", async () => {
  const look = await world.open("/work/T2?tab=edit", "light", "wide");
  const { page } = look;
  await page.getByLabel("Title", { exact: true }).focus();
  await page.keyboard.press("Escape");
  await focused(look, "body");
  assert.equal(new URL(page.url()).pathname, "/work/T2");
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/work\?task=T2/);
  await look.close();
});

test("letters typed during and after a save stay, and the text before it never comes back", async () => {
  const look = await world.open("/work/T2?tab=edit", "light", "wide");
  const { page } = look;
  const title = page.getByLabel("Title", { exact: true });
  const stored = async () => ((await (await fetch(`${world.address}/api/work/tasks/T2`)).json()) as { task: { title: string } }).task.title;
  await look.settled();
  await title.fill("Saved");
  await page.evaluate(() => {
    const seen = new Set<string>();
    Object.assign(window, { seen });
    const look = () => {
      seen.add(document.querySelector<HTMLInputElement>("[name=title]")?.value ?? "");
      requestAnimationFrame(look);
    };
    look();
  });
  await typeDuring(look, "PATCH", "**/api/work/tasks/T2", () => title.press("Control+Enter"), " and");
  await page.keyboard.type(" more", { delay: 15 });
  await page.getByText("Saved.", { exact: true }).waitFor();
  await look.settled();
  assert.equal(await title.inputValue(), "Saved and more");
  assert.deepEqual(await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen].filter((text) => !text.startsWith("Saved"))), []);
  assert.equal(await stored(), "Saved");
  assert.equal(await page.getByRole("alert").count(), 0);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
  assert.equal(await stored(), "Saved and more");
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("letters typed while a task is created are the draft of that task", async () => {
  const look = await world.open("/agents/tasks?task=new", "light", "wide");
  const { page } = look;
  await page.getByLabel("Title", { exact: true }).fill("Sweep");
  await typeDuring(look, "POST", "**/api/work/tasks", () => page.keyboard.press("Control+Enter"), " the deck");
  await page.getByRole("heading", { name: "Sweep", exact: true }).waitFor();
  await focused(look, "[name=title]");
  await page.keyboard.type(" twice");
  await look.settled();
  assert.equal(await page.getByLabel("Title", { exact: true }).inputValue(), "Sweep the deck twice");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Sweep the deck twice" }).waitFor();
  await look.go("/agents/tasks?task=new");
  assert.equal(await page.getByLabel("Title", { exact: true }).inputValue(), "");
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a new agent begins with its name, and letters typed while it is saved stay", async () => {
  const look = await world.open("/agents/manage", "light", "wide");
  const { page } = look;
  const prompt = page.locator("[name=prompt]");
  await page.keyboard.press("n");
  await focused(look, "[name=name]");
  await page.keyboard.type("Pilot");
  await page.getByRole("tab", { name: "Prompt" }).click();
  await prompt.fill("You steer");
  await typeDuring(look, "POST", "**/api/agents/create", () => page.keyboard.press("Control+Enter"), " ships");
  await page.waitForURL(/agent=pilot/);
  await focused(look, "[name=prompt]");
  await page.keyboard.type(" home");
  assert.equal(await prompt.inputValue(), "You steer ships home");
  await typeDuring(look, "PUT", "**/api/agents/pilot", () => page.keyboard.press("Control+Enter"), " safely");
  await look.settled();
  assert.equal(await prompt.inputValue(), "You steer ships home safely");
  assert.equal(await page.getByRole("alert").count(), 0);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("words written while others are sent stay", async () => {
  const look = await world.open(`/runs/${failed}/T1`, "light", "wide");
  const { page } = look;
  const words = page.getByLabel("Words for the agent");
  await words.fill("Print three.");
  await page.route("**/resume", (route) => route.fulfill({ status: 409, contentType: "application/json", body: '{"error":{"message":"not now"}}' }));
  await page.route("**/api/runs", (route) => route.fulfill({ status: 409, contentType: "application/json", body: '{"error":{"message":"not now"}}' }));
  await typeDuring(look, "PATCH", "**/api/work/tasks/T1", () => page.keyboard.press("Control+Enter"), " And four.");
  await page.getByText("Not now.").waitFor();
  assert.equal(await words.inputValue(), "And four.");
  await look.close();
});
