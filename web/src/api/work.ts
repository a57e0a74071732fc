// What the server says of cleo's own tasks.
import type { Got } from "./answers";
import type { LiveEvent } from "./events";

export type Rows = Counted<Got<"/api/work/rows">>;
export type Row = Got<"/api/work/rows">["rows"][number];
export type Claim = NonNullable<Row["claim"]>;
export type Priority = Row["priority"];
export type Counts = Record<Row["state"] | "total" | "verified", number>;
type Counted<Answer> = Omit<Answer, "counts"> & { counts: Counts };

export type Graph = Counted<Got<"/api/work/graph">>;
export type GraphNode = Graph["nodes"][number];
export type Lane = Graph["lanes"][number];
export type Stack = Graph["stacks"][number];
export type Edge = Graph["edges"][number];
export type Box = Pick<GraphNode, "x" | "y" | "width" | "height">;

export type TaskPage = Got<"/api/work/tasks/{id}">;
export type Task = TaskPage["task"];
export type Neighbour = TaskPage["depends"][number];
export type TaskAttempt = TaskPage["attempts"][number];
export type Usage = NonNullable<TaskAttempt["usage"]>;
export type Gates = TaskPage["gates"];
export type GateName = Gates["required"][number];
export type Criterion = Gates["criteria"][number];
export type GateRecord = NonNullable<Criterion["record"]>;
export type Evidence = GateRecord["evidence"][number];

export type Prompt = Got<"/api/work/tasks/{id}/prompt">;
export type Dispatch = Got<"/api/work/tasks/{id}/dispatch">;
export type Candidate = Dispatch["candidates"][number];
export type Why = Got<"/api/work/tasks/{id}/why">;
export type Receipt = Why["receipt"];
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
  return (event: LiveEvent) => event.data["taskId"] === id || (event.kind === "task" && event.data["taskId"] === undefined);
}
