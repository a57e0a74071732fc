// What the server answers, as its own description says (docs/openapi.json).
import type { paths } from "../../generated/api";
import type { LiveEvent } from "./events";

type Json<Operation> = Operation extends { responses: infer Responses } ? JsonOf<Responses[keyof Responses]> : never;
type JsonOf<Response> = Response extends { content: { "application/json": infer Body } } ? Body : never;

export type Got<Path extends keyof paths> = Json<paths[Path]["get"]>;
export type Posted<Path extends keyof paths> = Json<paths[Path]["post"]>;

export type RunsList = Got<"/api/runs">;
export type RunRow = RunsList["runs"][number];
export type RunPage = Got<"/api/runs/{id}">;
export type RunTask = RunPage["tasks"][number];
export type Attempt = RunTask["history"][number];
export type LogPage = Got<"/api/runs/{id}/log">;
export type LogLine = LogPage["lines"][number];
export type Proof = Got<"/api/runs/{id}/proof">;

export type Diff = Got<"/api/runs/{id}/tasks/{task}/attempts/{attempt}/diff">;
export type FileChange = Diff["files"][number];
export type Now = Got<"/api/work/now">;

export function isLive(status: RunRow["status"]) {
  return status === "running" || status === "pending";
}

export function touchesRun(id: string) {
  return (event: LiveEvent) => event.kind === "run" && event.data["runId"] === id;
}

export function touchesRuns(event: LiveEvent) {
  return event.kind === "run" && /^(run\.|task\.|agent\.ended|execution_(start|end))/.test(String(event.data["type"]));
}

export type Rows = Counted<Got<"/api/work/rows">>;
export type Row = Got<"/api/work/rows">["rows"][number];
export type Counts = Record<Row["state"] | "total" | "verified", number>;
type Counted<Answer> = Omit<Answer, "counts"> & { counts: Counts };

export type Graph = Counted<Got<"/api/work/graph">>;
export type GraphNode = Graph["nodes"][number];
export type Lane = Graph["lanes"][number];
export type Stack = Graph["stacks"][number];
export type Edge = Graph["edges"][number];
export type Box = Pick<GraphNode, "x" | "y" | "width" | "height">;

export type TaskPage = Got<"/api/work/tasks/{id}">;
export type Neighbour = TaskPage["depends"][number];
export type TaskAttempt = TaskPage["attempts"][number];
export type Gates = TaskPage["gates"];
export type GateName = Gates["required"][number];
type Criterion = Gates["criteria"][number];
export type GateRecord = NonNullable<Criterion["record"]>;
export type Evidence = GateRecord["evidence"][number];

export type Prompt = Got<"/api/work/tasks/{id}/prompt">;
export type Dispatch = Got<"/api/work/tasks/{id}/dispatch">;
export type SkillCandidate = Dispatch["candidates"][number];
export type Why = Got<"/api/work/tasks/{id}/why">;
export type ManifestPart = Got<"/api/work/tasks/{id}/manifest">;

export const GATE_NAMES: readonly GateName[] = ["implemented", "testsPassed", "qaPassed", "cleanupDone", "securityPassed", "documented"];

/** Whether an event may change what is shown of tasks and their graph. */
export function touchesWork(event: LiveEvent): boolean {
  if (event.kind === "task") return true;
  const type = event.data["type"];
  return event.kind === "run" && typeof type === "string" && /^(task\.|agent\.(started|ended)|run\.)/.test(type);
}

/** Whether an event may change what is shown of this task. */
export function touchesTask(id: string) {
  return ({ kind, data }: LiveEvent) => kind !== "log" && (data["taskId"] === id || (kind === "task" && data["taskId"] === undefined));
}

export type Agent = Got<"/api/agents/list">["agents"][number];
export type AgentStatus = Agent["status"];

/** The answer of the router: where a message goes, and why. */
export type Routed = Posted<"/api/route">;
export type Decision = Routed["route"];
/** An agent that could have been chosen; `score` is `base` and `tagBoost` together. */
export type Candidate = NonNullable<Decision["candidates"]>[number];
export type NotScored = Routed["notScored"][number];

export type Delegation = Got<"/api/agents/delegations">["delegations"][number];
export type Execution = Got<"/api/agents/execution/{id}">["execution"];
export type Step = NonNullable<Execution["steps"]>[number];
export type Metrics = Got<"/api/agents/metrics">;

/** A conversation. `chat` is with the agents for designs and components. */
export type Conversation = Got<"/api/conversations/{id}">["conversation"] & { waiting?: boolean };

/** An answer of the chat for designs and components. */
type Turn = Posted<"/api/chat">["response"]["data"];
export type ToolCalled = Turn["tool_calls"][number];
/** What waits for a yes or a choice. */
export type Pending = NonNullable<Turn["pending"]>;
/** A value that a yes would change. */
export type Change = Pending["changes"][number];
export type Choosable = Pending["options"][number];

export type Talk = Omit<Got<"/api/conversations/{id}">, "messages"> & { messages: Said[] };
export type Said = Omit<Got<"/api/conversations/{id}">["messages"][number], "metadata"> & {
  metadata: {
    sender?: string;
    answeredBy?: string | null;
    agent?: string;
    reason?: string;
    error?: string;
    tool_calls?: ToolCalled[];
    pending?: Pending | null;
    settled?: Turn["settled"];
  };
};

export type TaskStatus = "todo" | "doing" | "review" | "done" | "paused" | "cancelled";
export type TaskPriority = "low" | "medium" | "high" | "urgent";
export type AgentTask = Got<"/api/tasks">["tasks"][number] & { status: TaskStatus; priority: TaskPriority };
export type TaskStats = Got<"/api/tasks/stats">["stats"] & { byStatus: Record<TaskStatus, number>; byPriority: Record<TaskPriority, number> };
