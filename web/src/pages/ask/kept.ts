// The answer to a question as its run keeps it: who was asked, what each said, what came of it.
import { type Got, isLive, type RunPage } from "../../api/types";
import { sentence } from "../../parts/States";

export type Told = Pick<Got<"/api/runs/{id}/events">["events"][number], "type" | "ts" | "detail">;

interface Planned {
  step_id: number;
  agent: string;
  intent: string;
  /** `user_query`, or `step:N.output.result`. */
  input_source: string;
}

interface Plan {
  by: "planner" | "fallback";
  steps: Planned[];
  notes: string[];
}

function planOf(events: readonly Told[]): Plan | null {
  return (events.find((event) => event.type === "plan")?.detail as unknown as Plan | undefined) ?? null;
}

export function stepsOf(events: readonly Told[]): Planned[] {
  return planOf(events)?.steps ?? [];
}

/** Why these workers were asked; nothing when none was. */
export function planWords(events: readonly Told[]): string | null {
  const plan = planOf(events);
  if (!plan || plan.steps.length === 0) return null;
  const notes = plan.notes.map(sentence).join(" ");
  if (plan.by === "planner") return `The planner chose who was asked. ${notes}`.trim();
  return notes === "" ? "Fallback plan: no model is configured." : `Fallback plan: ${notes}`;
}

/** What a step works on: "your query", "step 0". */
export function sourceWords(step: Planned): string {
  return step.input_source === "user_query" ? "your query" : step.input_source.replace(/^step:(\d+).*$/, "step $1");
}

function ends(events: readonly Told[], step: number): Told | undefined {
  return events.find((event) => (event.type === "agentComplete" || event.type === "error") && event.detail["stepId"] === String(step));
}

/** How long a step took, in milliseconds; of one that was not asked, or is not over, nothing. */
export function tookOf(events: readonly Told[], step: number): number | null {
  const from = events.find((event) => event.type === "dispatch" && event.detail["stepId"] === String(step));
  const to = ends(events, step);
  return from && to ? Date.parse(to.ts) - Date.parse(from.ts) : null;
}

/** What is kept of a question and its answer, in the form in which it was answered. */
export function keptAnswer({ run, messages }: RunPage, events: readonly Told[]): Answered {
  const said = new Map(messages.map((message) => [message.id, message.content]));
  const steps = stepsOf(events).map((step) => ({ step, result: resultOf(step, ends(events, step.step_id), said, isLive(run.status)) }));
  const reply: Reply = {
    answer: run.output ?? (isLive(run.status) ? "Not answered yet: the workers are at work." : "There is no answer: the run ended before."),
    used_agents: steps.map(({ step, result }) => ({ name: step.agent, intent: step.intent, status: String(result["status"]) })),
    intermediate_results: Object.fromEntries(steps.map(({ step, result }) => [`step_${step.step_id}`, result])),
    error: run.fault && faultOf(run.fault.message),
  };
  // The row of a run holds no more than the beginning of a long question.
  const asked = messages.find((message) => message.type === "user");
  return { query: asked?.content ?? run.title, reply, tookMs: run.durationMs };
}

function resultOf(step: Planned, end: Told | undefined, said: ReadonlyMap<string, string>, live: boolean): Record<string, unknown> {
  const head = { agent_name: step.agent };
  if (!end) return { ...head, status: live ? "running" : "stopped" };
  if (end.type === "error") return { ...head, status: "error", error: { type: end.detail["type"], message: end.detail["message"] } };
  return { ...head, status: "success", output: { result: said.get(String(end.detail["responseMessageId"])) ?? null } };
}

/** A fault is kept as one line: its kind, a colon, what happened. */
function faultOf(line: string): NonNullable<Reply["error"]> {
  const [, type, message] = /^(\w+): (.*)$/s.exec(line) ?? [];
  return { type: type ?? "failed", message: message ?? line };
}

export interface UsedAgent {
  name: string;
  intent: string | null;
  status: string;
}

interface Reply {
  answer: string;
  used_agents: UsedAgent[];
  intermediate_results: Record<string, Record<string, unknown>>;
  error: { type: string; message: string } | null;
}

export interface Answered {
  query: string;
  reply: Reply;
  /** None while it is not over. */
  tookMs: number | null;
}
