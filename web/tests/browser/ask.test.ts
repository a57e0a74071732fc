// Questions to the supervisor, with a worker that answers and one that does not.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { World } from "./world";

const WORKER = `read -r line
id=$(printf '%s' "$line" | sed -n 's/.*"request_id":"\\([^"]*\\)".*/\\1/p')
printf '{"request_id":"%s","agent_name":"notes","status":"success","output":{"result":"Two owners, <b>one</b> open question.","confidence":0.9,"details":"read"},"error":null}\\n' "$id"
`;

let world: World;
before(async () => {
  world = new World();
  world.cleo("init");
  writeFileSync(join(world.folder, "notes.sh"), WORKER);
  await world.serve();
});
after(() => world.end());

test("without workers the page says how the first one comes", async () => {
  const look = await world.open("/");
  await look.page.getByText("No workers are registered").waitFor();
  await look.page.getByText("cleo agents register").waitFor();
  await look.shot("ask-empty-desk-light");
  await look.page.getByLabel("What should be done?").fill("Explain the history of notes");
  await look.page.getByRole("button", { name: "Ask the agents in a chat" }).click();
  assert.equal(await look.page.getByLabel("First message").inputValue(), "Explain the history of notes");
  await look.close();
});

test("a question is answered, with who was used and what each step gave back", async () => {
  world.cleo("agents", "register", "notes", "--intent", "summary.create", "--command", "sh notes.sh");
  const look = await world.open("/");
  const { page } = look;
  await page.getByText("1 worker", { exact: true }).waitFor();
  await page.getByLabel("What should be done?").fill("Summarize the notes");
  await page.keyboard.press("Control+Enter");
  await page
    .getByText(/Two owners, <b>one<\/b> open question\./)
    .first()
    .waitFor();
  assert.match(page.url(), /q=Summarize/);
  await page.getByLabel("Show steps").check();
  await page.getByText("step_0").click();
  await page.getByText('"confidence": 0.9').waitFor();
  await look.shot("ask-answer-desk-light");
  assert.deepEqual(await look.axe(), []);
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a question that was not sent is there after a reload", async () => {
  const look = await world.open("/");
  const { page } = look;
  await page.getByLabel("What should be done?").fill("Half a question");
  await page.reload();
  assert.equal(await page.getByLabel("What should be done?").inputValue(), "Half a question");
  await page.getByLabel("What should be done?").fill("Summarize the notes");
  await page.getByRole("button", { name: "Ask" }).click();
  await page.waitForURL(/execution=/);
  await look.go("/");
  assert.equal(await page.getByLabel("What should be done?").inputValue(), "");
  await look.close();
});

test("an answer stands in its address: a reload shows it and asks nobody again", async () => {
  const look = await world.open("/");
  const { page } = look;
  const asked = async () => ((await (await fetch(`${world.address}/api/runs?kind=query`)).json()) as { total: number }).total;
  await page.getByLabel("What should be done?").fill("Summarize the notes again");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/execution=/);
  const times = await asked();
  await page.reload();
  const answer = page.getByRole("region", { name: "Answer" });
  await answer
    .getByText(/Two owners, <b>one<\/b> open question\./)
    .first()
    .waitFor();
  await answer.getByText("Fallback plan: no model is configured.").waitFor();
  await page.getByLabel("Show steps").check();
  await answer.getByText("← your query").waitFor();
  await answer.getByText("step_0").click();
  await answer.getByText('"result": "Two owners, <b>one</b> open question."').waitFor();
  assert.equal(await asked(), times);
  assert.deepEqual(await look.axe(), []);
  await look.go("/?execution=run_none");
  await page.getByText("run_none does not exist here.").waitFor();
  await page.getByRole("link", { name: "Ask a question" }).click();
  await page.getByText("run_none does not exist here.").waitFor({ state: "detached" });
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("a worker that fails is named with the reason, and the address asks again", async () => {
  writeFileSync(join(world.folder, "notes.sh"), "exit 3\n");
  const look = await world.open("/?q=Summarize+the+notes&debug=1");
  const { page } = look;
  await page.getByRole("button", { name: "Ask" }).click();
  await page.getByText("step_0").waitFor();
  assert.match(await page.getByRole("region", { name: "Answer" }).innerText(), /notes/);
  await page.waitForURL(/execution=/);
  await page.reload();
  await page.getByText("step_0").waitFor();
  assert.match(await page.getByRole("region", { name: "Answer" }).innerText(), /cli_error/);
  await look.close();
});
