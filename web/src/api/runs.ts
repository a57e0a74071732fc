// What the server says of runs.
import type { Got } from "./answers";
import type { LiveEvent } from "./events";

export type RunsList = Got<"/api/runs">;
export type RunRow = RunsList["runs"][number];
export type RunPage = Got<"/api/runs/{id}">;
export type RunTask = RunPage["tasks"][number];
export type RunStep = RunPage["steps"][number];
export type Attempt = RunTask["attempts"][number];
export type LogPage = Got<"/api/runs/{id}/log">;
export type LogLine = LogPage["lines"][number];
export type Proof = Got<"/api/runs/{id}/proof">;

export function isLive(status: RunRow["status"]) {
  return status === "running" || status === "pending";
}

export function touchesRun(id: string) {
  return (event: LiveEvent) => event.kind === "run" && event.data["runId"] === id;
}

export function touchesRuns(event: LiveEvent) {
  return event.kind === "run" && /^(run\.|task\.|agent\.ended|execution_(start|end))/.test(String(event.data["type"]));
}
