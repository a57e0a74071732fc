import assert from "node:assert/strict";
import { test } from "node:test";
import { askedFor } from "../../src/agents/AskCard";
import { since } from "../../src/parts/editing";
import { EMPTY, fieldOf, withTags, draftOf } from "../../src/agents/draft";
import { picture } from "../../src/agents/graph";
import { differing } from "../../src/parts/editing";
import type { Agent, Pending, Routed, Said } from "../../src/api/types";
import { entries } from "../../src/pages/agents-chat/thread";
import { beside, byUrgency, dueWords } from "../../src/pages/agents-tasks/useTasks";

const CONFIRM: Pending = {
  kind: "confirm",
  agent: "design",
  tool: "updateDesign",
  args: { clientId: "6", designUpdates: { button_radius: "full" } },
  candidates: [],
  options: [],
  changes: [{ label: "button radius", before: "small", after: "full" }],
  destructive: false,
  created_at: "2026-11-22T09:00:00Z",
  expires: "2026-11-22T12:00:00Z",
};

test("a change is shown with what it was, also where that is nothing", () => {
  const asked = askedFor(CONFIRM, "You want to change the button radius to full. Should I proceed?\nFor client 6: button radius is small now.");
  assert.equal(asked.question, "You want to change the button radius to full. Should I proceed?");
  assert.deepEqual(asked.changes, CONFIRM.changes);
  assert.deepEqual([asked.verb, asked.destructive], ["Confirm", false]);
  const changes = [{ label: "title", before: null, after: "Hello" }];
  assert.equal(askedFor({ ...CONFIRM, tool: "updateComponent", changes }, "Should I proceed?").changes[0]?.before, "not set");
  assert.equal(askedFor({ ...CONFIRM, tool: "addComponent", changes }, "Should I proceed?").changes[0]?.before, null);
});

test("what destroys says so on its button", () => {
  const reply = "Understood: delete component 103 of client 6.\nAction: none yet.\nNext: should I proceed? Answer yes or no.";
  const asked = askedFor({ ...CONFIRM, tool: "deleteComponent", args: { clientId: "6", componentId: "103" }, changes: [], destructive: true }, reply);
  assert.equal(asked.question, "Delete component 103 of client 6?");
  assert.equal(asked.more, "");
  assert.equal(asked.verb, "Delete component 103");
  assert.equal(asked.destructive, true);
});

test("of an agent only what differs is sent, and faults find their field", () => {
  const draft = { ...EMPTY, name: "Lore keeper", tags: ["lore"] };
  assert.deepEqual(since(draft, EMPTY), { name: "Lore keeper", tags: ["lore"] });
  assert.deepEqual(differing(draft, draftOf({ name: "Lore keeper", tags: ["lore"], max_tokens: 4000 })), []);
  assert.equal(fieldOf({ field: "max_tokens" }), "max_tokens");
  assert.equal(fieldOf({ field: "elsewhere" }), null);
});

test("tags are split at commas, trimmed, and never twice", () => {
  assert.deepEqual(withTags(["war"], "lore, war ,second war,lore"), ["war", "lore", "second war"]);
});

function agent(id: string, change: Partial<Agent> = {}): Agent {
  return { id, name: id, role: "specialist", status: "active", is_runtime: false, executions: 0, tags: [], ...change } as Agent;
}

const FACTS = { metrics: undefined, routed: null, live: new Set<string>(), left: () => null };

test("the picture has the supervisor, the router, every agent that is not archived, and finalize", () => {
  const agents = [agent("cleo-supervisor", { role: "supervisor" }), agent("toby"), agent("billing", { status: "paused" }), agent("old", { status: "archived" })];
  const { spots, lines } = picture({ ...FACTS, agents });
  assert.deepEqual(spots.map((spot) => spot.id).sort(), ["billing", "finalize", "floor", "router", "supervisor", "toby"]);
  assert.ok(!lines.some((line) => line.to === "billing"), "messages do not reach a paused agent");
  assert.ok(lines.some((line) => line.kind === "bypass" && line.from === "router" && line.to === "finalize"));
});

test("many agents fold, but never one that works or is hit", () => {
  const agents = Array.from({ length: 200 }, (_, at) => agent(`a${at}`));
  const routed = { route: { agent: "a150", decided: "matched", candidates: [{ id: "a150", score: 3 }] }, notScored: [], tookUs: 20 } as unknown as Routed;
  const { spots } = picture({ ...FACTS, agents, routed, live: new Set(["a199"]) });
  assert.ok(spots.some((spot) => spot.id === "a199" && spot.live));
  assert.ok(spots.some((spot) => spot.id === "a150" && spot.hit));
  assert.equal(spots.find((spot) => spot.kind === "more")?.label, "189 more agents");
});

function said(id: string, type: Said["type"], content: string, metadata: Said["metadata"] = {}): Said {
  return { id, type, content, metadata, execution_id: null, created_at: "2026-11-22T10:00:00Z" };
}

function call(name: Pending["tool"], result: unknown, args = {}) {
  return { tool_calls: [{ name, args, result }] };
}

const CONFIRMED = { settled: "confirmed" } as const;

test("a question that was answered is one line, and its answer is not said twice", () => {
  const list = entries([
    said("1", "user", "change"),
    said("2", "agent", "Proceed?", { agent: "design", pending: CONFIRM }),
    said("3", "user", "yes"),
    said("4", "agent", "Done", { agent: "design", ...CONFIRMED, ...call("updateDesign", {}) }),
  ]);
  assert.deepEqual(
    list.map((entry) => entry.message.id),
    ["1", "2", "4"],
  );
  assert.deepEqual([list[1]?.outcome?.text, list[1]?.outcome?.what], ["Confirmed", "button radius is full"]);
});

/** What became of a question, in the words under it, and whether the answer is still shown. */
function told(pending: Pending, answer: string, reply: Said["metadata"], type: Said["type"] = "agent") {
  const list = entries([said("1", "agent", "Proceed?", { pending }), said("2", "user", answer), said("3", type, "So", reply)]);
  const outcome = list[0]?.outcome;
  return { text: outcome ? [outcome.text, outcome.what].filter(Boolean).join(", ") : undefined, isShown: list.some((entry) => entry.message.id === "2") };
}

function became(pending: Pending, answer: string, reply: Said["metadata"] = {}): string | undefined {
  return told(pending, answer, reply).text;
}

function confirmed(tool: Pending["tool"], result: unknown): Said["metadata"] {
  return { ...CONFIRMED, ...call(tool, result) };
}

test("what was confirmed is said as it is since, and only where it was done", () => {
  const on103 = { ...CONFIRM, changes: [], args: { clientId: "6", componentId: "103", security_group_title: "premium" } };
  const title = { label: "title", before: "Home", after: "Welcome" };
  assert.equal(became({ ...on103, tool: "deleteComponent" }, "absolutely", confirmed("deleteComponent", { success: true })), "Confirmed, component 103 is deleted");
  assert.equal(became({ ...on103, tool: "addSecurityGroup" }, "yes", confirmed("addSecurityGroup", {})), "Confirmed, premium is on component 103");
  assert.equal(became({ ...on103, tool: "updateComponent", changes: [title] }, "yes", confirmed("updateComponent", {})), "Confirmed, title of component 103 is Welcome");
  assert.equal(became({ ...CONFIRM, tool: "addComponent", args: {} }, "yes", confirmed("addComponent", { component: { component_id: "104" } })), "Confirmed, component 104 is added");
  assert.equal(became({ ...CONFIRM, changes: [title, title, title, title] }, "ok", confirmed("updateDesign", {})), "Confirmed, title is Welcome, title is Welcome and 2 more");
  assert.equal(became(CONFIRM, "yes", confirmed("updateDesign", { success: false, error: "No design." })), "Confirmed, but nothing was changed");
  assert.equal(became(CONFIRM, "yes", { settled: "expired" }), "The open question about button radius had expired");
  assert.equal(became(CONFIRM, "no", { settled: "cancelled" }), "Cancelled");
});

const SEARCH: Pending = { ...CONFIRM, agent: "clarifier", tool: "searchComponent", args: { clientId: "6", criteria: {} }, changes: [] };

test("a question that was passed over is said to be dropped, and the message stays, whatever the reply did", () => {
  const dropped = { settled: "dropped" } as const;
  assert.deepEqual(told(CONFIRM, "show me my design", dropped), { text: "The open question about button radius was dropped", isShown: true });
  const remove: Pending = { ...CONFIRM, tool: "deleteComponent", args: { clientId: "6", componentId: "103" }, changes: [] };
  assert.equal(became(remove, "no, show me my design", dropped), "The open question about 103 was dropped");
  for (const message of ["list the components of client 7", "show me all banner components for client 6"])
    assert.deepEqual(told(SEARCH, message, { ...dropped, ...call("searchComponent", {}) }), { text: "The open question about the list of components was dropped", isShown: true });
});

test("a choice names its component, and a question that nobody answered still waits", () => {
  const options = [
    { id: "101", type: "cards", title: "Home" },
    { id: "102", type: "cards", title: "About" },
  ];
  const select: Pending = { ...CONFIRM, kind: "select", tool: "updateComponent", candidates: ["101", "102"], options, changes: [], created_at: "2026-11-22T09:59:00Z" };
  const chosen = { settled: "chosen" } as const;
  const next = (id: string) => ({ pending: { ...CONFIRM, args: { componentId: id } } });
  assert.equal(became(select, "2", chosen), "Chosen, component 102 About");
  assert.equal(became(select, "about", chosen), "Chosen, component 102 About");
  assert.equal(became(select, "the first one", { ...chosen, ...next("101") }), "Chosen, component 101 Home");
  assert.equal(became(select, "the first one", { ...chosen, ...call("getComponent", {}, { componentId: "101" }) }), "Chosen, component 101 Home");
  assert.deepEqual(told(select, "the first one", chosen), { text: "Chosen", isShown: true });
  assert.equal(became(select, "yess", { pending: select }), undefined);
  for (const [message, id] of [
    ["delete component 102 for client 6", "102"],
    ["update component 101 title to Y for client 6", "101"],
  ] as const)
    assert.deepEqual(told(select, message, { settled: "dropped", ...next(id) }), { text: "The open question about which component is meant was dropped", isShown: true });
});

test("nothing is said of a question where no agent replied to the answer", () => {
  for (const type of ["system", "user"] as const) assert.deepEqual(told(CONFIRM, "yes", {}, type), { text: undefined, isShown: true });
  assert.deepEqual(told(CONFIRM, "yes", CONFIRMED, "system"), { text: undefined, isShown: true });
});

test("cards stand by urgency, and move to the column beside", () => {
  const task = (id: string, priority: string, due: string | null) => ({ id, priority, due_date: due }) as never;
  const sorted = [task("T1", "low", null), task("T2", "urgent", null), task("T3", "urgent", "2026-01-01T00:00:00Z"), task("T10", "low", null)].sort(byUrgency);
  assert.deepEqual(
    sorted.map((one: { id: string }) => one.id),
    ["T3", "T2", "T1", "T10"],
  );
  assert.deepEqual([beside("todo", 1), beside("todo", -1), beside("done", 1), beside("paused", 1)], ["doing", null, null, null]);
});

test("a date is told as people say it, and only of what is open", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  const due = (date: string | null, status = "todo") => dueWords({ due_date: date, status } as never, now);
  assert.deepEqual(due("2026-11-21T11:00:00Z"), { text: "overdue 1 d", overdue: true });
  assert.deepEqual(due("2026-11-22T14:30:00Z"), { text: "due in 2 h", overdue: false });
  assert.equal(due("2026-11-21T11:00:00Z", "done"), null);
  assert.equal(due(null), null);
});
