/** What the pages of agents ask the server for, and which events make an answer old. */
import { useMemo } from "react";
import type { Got, Agent, Execution, Metrics, Routed } from "../api/types";
import type { LiveEvent } from "../api/events";
import { path, type Failure } from "../api/request";
import { useResource, useLate } from "../api/resource";
import { capital } from "../format";
import { STATE_WORDS, stateOf, type State } from "../parts/StatusGlyph";
import "./monogram.css";

/** Says that an event changes what is known of agents. */
function isOfAgents(event: LiveEvent) {
  return event.kind === "agents";
}

function isOfExecutions(event: LiveEvent) {
  const type = event.data["type"];
  return event.kind === "run" && (type === "execution_start" || type === "execution_end");
}

export interface Registry {
  agents: readonly Agent[];
  of: (id: string | null | undefined) => Agent | undefined;
  /** Its name, or the id of what is no agent any more. */
  name: (id: string) => string;
}

/** All agents that messages can reach, in the order that decides ties. */
export function useAgents() {
  const resource = useResource<Got<"/api/agents/list">>("/api/agents/list", { on: isOfAgents });
  const registry = useMemo<Registry>(() => {
    const agents = resource.data?.agents ?? [];
    const known = new Map(agents.map((agent) => [agent.id, agent]));
    return { agents, of: (id) => (id ? known.get(id) : undefined), name: (id) => known.get(id)?.name ?? id };
  }, [resource.data]);
  return { resource, ...registry };
}

export function useMetrics() {
  return useResource<Metrics>("/api/agents/metrics", { on: (event) => isOfExecutions(event) || isOfAgents(event) });
}

export function useDelegations(limit: number) {
  const isOne = (event: LiveEvent) => event.kind === "run" && event.data["type"] === "agent-delegation";
  return useResource<Got<"/api/agents/delegations">>(path("/api/agents/delegations", { limit }), { on: isOne, keep: true });
}

export function useExecutions(limit: number) {
  return useResource<Got<"/api/agents/execute">>(path("/api/agents/execute", { limit }), { on: isOfExecutions, keep: true });
}

export function useExecution(id: string | null) {
  const where = id === null ? null : `/api/agents/execution/${encodeURIComponent(id)}`;
  return useResource<{ execution: Execution }>(where, { on: (event) => event.kind === "run" && event.data["runId"] === id });
}

export function isOver(execution: Pick<Execution, "status">) {
  return execution.status !== "running" && execution.status !== "pending";
}

/** How an execution stands, as its glyph: one without an answer is not done. */
export function glyphOf(execution: Pick<Execution, "status" | "answeredBy">): { state: State; label: string } {
  if (execution.answeredBy === "offline") return { state: "skipped", label: "Routed, no model to answer" };
  const state = stateOf(execution.status);
  return { state, label: STATE_WORDS[state] };
}

/** Who coordinates; to ask for it is to be routed. */
export const SUPERVISOR = "cleo-supervisor";
/** With whom conversations about designs and components are. */
export const CHAT = "chat";

/** The agents of such conversations, as they are called. */
export const CHAT_AGENTS: Record<string, string> = { design: "Design", editor: "Editor", clarifier: "Clarifier" };

const KINDS: Record<string, string> = { builtin: "built in", runtime: "runtime", persistent: "kept", http: "HTTP worker", cli: "program" };

export function kindOf(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** The beginning of the reply of an offline agent. */
const OFFLINE = "[offline]";

/** The text of a reply without that beginning. */
export function bareOutput(output: string): string {
  return capital(output.startsWith(OFFLINE) ? output.slice(OFFLINE.length).trimStart() : output);
}

/** The first letter of an agent with its colour at the left edge; its name stands beside it. */
export function Monogram({ agent }: { agent: Pick<Agent, "name" | "color"> | undefined }) {
  const letter = [...(agent?.name.trim() ?? "")][0]?.toUpperCase() ?? "·";
  const color = agent && /^#[0-9a-f]{6}$/i.test(agent.color) ? agent.color : "var(--n8)";
  return (
    <span className="monogram" aria-hidden="true" style={{ borderLeftColor: color }}>
      {letter}
    </span>
  );
}

interface Question {
  message: string;
  agentId?: string | undefined;
  /** An agent under edit, scored in the place of the stored one. */
  draft?: Record<string, unknown> | undefined;
}

/** What is sent: it asks for all candidates that a graph or a list can show. */
export function questionOf(question: Question) {
  return JSON.stringify({ ...question, explain: 100 });
}

/** How long typing must pause, in milliseconds. */
const TYPING = 150;

/** Where a message that is being typed would go, asked again when agents change. */
export function useRouted(question: Question): { message: string; routed: Routed | null; failure: Failure | null } {
  const asked = useLate(questionOf(question), TYPING);
  const isEmpty = [question.message, messageOf(asked)].some((text) => text.trim() === "");
  const { data, failure, body } = useResource<Routed>(isEmpty ? null : "/api/route", { body: asked, on: isOfAgents, keep: true });
  return { message: messageOf(body), routed: data ?? null, failure };
}

function messageOf(question: string) {
  return question === "" ? "" : (JSON.parse(question) as Question).message;
}
