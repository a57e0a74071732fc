// What the server says of cleo's own tasks.
import type { GateState } from "../parts/GateMeter";
import type { State } from "../parts/state";
import type { LiveEvent } from "./events";

export type Priority = "critical" | "high" | "medium" | "low";
export type GateName = "implemented" | "testsPassed" | "qaPassed" | "cleanupDone" | "securityPassed" | "documented";

export interface Claim {
  holder: string | null;
  epoch: number;
  since: string;
  expires: string;
  expired?: boolean;
}

export interface Row {
  id: string;
  title: string;
  status: string;
  state: State;
  verified: boolean;
  priority: Priority;
  type: string;
  parent: string | null;
  labels: string[];
  /** From 1; null when the task is in a circle. */
  wave: number | null;
  skill: string | null;
  gates: GateState[] | null;
  claim: Claim | null;
  runner: string | null;
  run: string | null;
  attempt: number | null;
  attemptSince: string | null;
  note: string | null;
  critical: boolean;
  files: number;
  updatedAt: string;
  createdAt: string;
  waitsFor: string[];
}

export type Counts = Record<State, number> & { total?: number; verified?: number };

export interface Rows {
  rows: Row[];
  total: number;
  counts: Counts;
  version: string;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type GraphNode = Row & Box;

export interface Lane {
  key: string;
  /** Null in the lane of those that wait for each other. */
  from: number | null;
  to: number | null;
  x: number;
  width: number;
  folded: boolean;
  total: number;
  label: string;
}

export interface Stack extends Box {
  key: string;
  lane: string;
  parent: string | null;
  title: string | null;
  total: number;
  counts: Partial<Record<State, number>>;
  label: string;
}

export interface Edge {
  from: string;
  to: string;
  kind: "met" | "unmet" | "critical" | "missing";
  count: number;
  via: string | null;
  fromKind: "node" | "stack" | "missing";
  toKind: "node" | "stack";
}

export interface Problem {
  kind: string;
  tasks: string[];
  message: string;
  fix: string;
}

export interface Graph {
  version: string;
  epic: { id: string; title: string } | null;
  updatedAt: string;
  counts: Counts & { total: number; verified: number };
  criticalPath: { tasks: string[]; left: number; hours: number | null; aboutMs: number | null; samples: number };
  size: { width: number; height: number };
  lanes: Lane[];
  nodes: GraphNode[];
  stacks: Stack[];
  edges: Edge[];
  groups: { id: string; title: string; status: string; total: number; done: number }[];
  problems: Problem[];
  truncated: boolean;
}

export interface Task {
  id: string;
  title: string;
  description: string;
  status: string;
  type: string;
  priority: Priority;
  parent: string | null;
  phase: string | null;
  size: string | null;
  labels: string[];
  files: string[];
  acceptance: string[];
  deliverables: string[];
  depends: string[];
  notes: { at: string; by: string; text: string }[];
  assignedAgent: string | null;
  feature: string | null;
  due: string | null;
  estimate: number | null;
  createdAt: string;
  updatedAt: string;
  startedAt: string | null;
  completedAt: string | null;
}

export interface Neighbour {
  id: string;
  title: string;
  status: string;
  state: State;
}

export type Evidence =
  | { kind: "command"; command: string[]; exitCode: number | null; durationMs: number; outputDigest: string; lastLines: string[]; timedOut: boolean }
  | { kind: "file"; path: string; digest: string }
  | { kind: "commit"; id: string; revision: string }
  | { kind: "url"; url: string }
  | { kind: "note"; text: string }
  | { kind: "claim" };

export interface GateRecord {
  passed: boolean;
  at: string;
  by: string;
  agent: string | null;
  forced: boolean;
  evidence: Evidence[];
}

export interface Criterion {
  number: number;
  text: string;
  command: string[];
  state: "claimed" | "failed" | "proven" | "stale" | "unproven";
  record: GateRecord | null;
}

export interface Gates {
  passed: boolean;
  required: GateName[];
  /** Null when nothing was asked of the task yet. */
  states: GateState[] | null;
  round: number;
  roundsMax: number;
  gates: Partial<Record<GateName, GateRecord>>;
  stale: GateName[];
  failures: { gate: GateName; record: GateRecord; round: number }[];
  criteria: Criterion[];
}

export interface Usage {
  inputTokens?: number | null;
  outputTokens?: number | null;
  cachedTokens?: number | null;
  [field: string]: unknown;
}

export interface TaskAttempt {
  run: string;
  attempt: number;
  state: string;
  runner: string | null;
  skill: string | null;
  startedAt: string | null;
  endedAt: string | null;
  durationMs: number | null;
  outcome: string | null;
  exitCode: number | null;
  said: string | null;
  missing: string[];
  reason: string | null;
  usage: Usage | null;
  cost: number | null;
  hasPrompt: boolean;
  hasLog: boolean;
}

export interface TaskPage {
  task: Task;
  state: State;
  verified: boolean;
  wave: number | null;
  critical: boolean;
  position: { previous: string | null; next: string | null };
  claim: Claim | null;
  depends: Neighbour[];
  missing: { name: string; circular: boolean }[];
  dependents: Neighbour[];
  children: Neighbour[];
  unblocks: string[];
  problems: Problem[];
  gates: Gates;
  dispatch: { skill: string; strategy: string; matched: string[]; reason: string } | null;
  spawns: { manifestId: string; outputFile: string; at: string; promptDigest: string; skill: string; verifiedAt: string | null; forced: string | null }[];
  attempts: TaskAttempt[];
  refused: { run: string; attempt: number; reason: string | null; missing: string[] } | null;
  cursor: number;
}

export interface Prompt {
  taskId: string;
  manifestId: string;
  skill: string;
  prompt: string;
  promptDigest: string;
  protocols: string[];
  tokenEstimate: { method: string; total: number; sections: { name: string; bytes: number; tokens: number }[] };
  tokenResolution: { fullyResolved: boolean; unresolvedCount: number; unresolvedTokens: string[] };
  warnings?: string[];
}

export interface Candidate {
  skill: string;
  strategy: string;
  matched: string[];
  reason: string;
}

export interface Dispatch extends Candidate {
  taskId: string;
  candidates: Candidate[];
  runnerUp: Candidate | null;
  rejected?: { skill: string; reason: string }[];
}

export interface Receipt {
  skill: string;
  skillPath: string;
  strategy: string;
  matched: string[];
  reason: string;
  manifestId: string;
  promptDigest: string;
  template: string | null;
  date: string;
  cleo: string;
  forceInject: boolean;
  protocols: { name: string; version: string; digest: string; why: string }[];
  inputs: Record<string, string>;
}

export interface Why {
  taskId: string;
  at: string;
  receipt: Receipt;
  reproduced: boolean;
  changed: { input: string; then: string | null; now: string | null }[];
  promptDigestNow: string | null;
  verifiedAt: string | null;
  forced: string | null;
  fault: string | null;
}

export interface ManifestPart {
  manifestId: string | null;
  outputFile: string | null;
  entry: Record<string, unknown> | null;
  line: number | null;
  verdict: "pass" | "fail";
  violations: { code: string; rule: string; message: string }[];
  text: string | null;
  textBytes: number | null;
  spawnedAt: string | null;
}

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
