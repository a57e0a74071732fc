// What the server says of runs.
import type { LiveEvent } from "./events";
import type { Usage } from "./work";

export type RunStatus = "pending" | "running" | "completed" | "failed" | "cancelled" | "interrupted";

export interface RunRow {
  id: string;
  kind: "execution" | "query" | "plan" | "epic" | "tasks";
  status: RunStatus;
  title: string;
  input: string | null;
  user: string | null;
  agent: string | null;
  steps: { total: number; done: number; failed: number; skipped: number; cancelled: number; running: number; verifying: number; waiting: number } | null;
  /** One word a step, in wave order; at most 60. */
  bar: (string | null)[] | null;
  startedAt: string;
  completedAt: string | null;
  durationMs: number | null;
  cost: number | null;
  usage: Usage | null;
  error: { task: string | null; message: string } | null;
  needsYou: number;
  limit: number | null;
  runners: string[];
}

export interface RunsList {
  runs: RunRow[];
  total: number;
  summary: {
    live: number;
    today: number;
    finishedToday: number;
    failedToday: number;
    costToday: number | null;
    /** How many of today's runs told a cost. */
    costsTold: number;
    needsYou: number;
  };
}

export interface Attempt {
  attempt: number;
  state: "failed" | "running" | "verifying" | "done" | "waiting";
  runner: string | null;
  resumes: boolean;
  startedAt: string;
  agentEndedAt: string | null;
  endedAt: string | null;
  exitCode: number | null;
  outcome: string | null;
  durationMs: number | null;
  turns: number | null;
  said: string | null;
  missing: string[];
  usage: Usage | null;
  cost: number | null;
  verification: { startedAt: string; endedAt: string | null; passed: boolean | null } | null;
}

export interface RunTask {
  taskId: string;
  title: string;
  wave: number | null;
  needs: string[];
  state: "waiting" | "running" | "verifying" | "done" | "failed" | "skipped" | "cancelled";
  outcome: string | null;
  reason: string | null;
  missing: string[];
  skill: string | null;
  runner: string | null;
  startedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  usage: Usage | null;
  cost: number | null;
  doing: string | null;
  isEpic: boolean;
  attempts: Attempt[];
  /** When everything that it needs was done. */
  readyAt: string | null;
}

export interface RunStep {
  id: string;
  timestamp: string;
  agent: string;
  action: string;
  content: string;
  progress: number | null;
  metadata: Record<string, unknown> | null;
}

export interface RunPage {
  run: RunRow & {
    routingReason?: string | null;
    routingScore?: number | null;
    answeredBy?: string | null;
    model?: string | null;
    output?: string | null;
    conversation?: string | null;
    executionTimeMs?: number | null;
  };
  now: string;
  options: Record<string, unknown> | null;
  tasks: RunTask[];
  steps: RunStep[];
  messages: { id: string; type: string; content: string; timestamp: string; metadata?: Record<string, unknown> }[];
  running: { at: string; n: number }[];
  cursor: number;
  /** Of how many attempts the runner told tokens. */
  reported: { attempts: number; failed: number; reporting: number };
}

export interface LogLine {
  n: number;
  ms: number | null;
  ch: "event" | "out" | "err" | "tool";
  text: string;
  cut: boolean;
  bytes: number;
  error: boolean;
  /** `durationMs` where the program that drives the agent tells it. */
  tool: { name: string; summary: string; exitCode: number | null; durationMs: number | null } | null;
}

export interface LogPage {
  total: number;
  from: number;
  lines: LogLine[];
  following: boolean;
  matches: number[] | null;
}

export interface Proof {
  task: string;
  attempt: number;
  said: { message: string | null; exitCode: number | null; claims: string[] };
  found: { check: string; ok: boolean | null; text: string; exitCode?: number | null; durationMs?: number | null; command?: string[] | null }[];
  verdict: string;
  next: string | null;
}

export function isLive(status: RunStatus) {
  return status === "running" || status === "pending";
}

export function touchesRun(id: string) {
  return (event: LiveEvent) => event.kind === "run" && event.data["runId"] === id;
}

export function touchesRuns(event: LiveEvent) {
  return event.kind === "run" && /^(run\.|task\.|agent\.ended|execution_(start|end))/.test(String(event.data["type"]));
}
