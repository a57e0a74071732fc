/** What the pages of agents ask the server for, and which events make an answer old. */

import { useMemo } from "react";
import type { Got } from "../api/answers";
import type { LiveEvent } from "../api/events";
import { path } from "../api/request";
import { useResource } from "../api/resource";
import { STATE_WORDS, stateOf, type State } from "../parts/state";
import type { Agent, Execution, Metrics } from "./types";

/** Says that an event changes what is known of agents. */
export function isOfAgents(event: LiveEvent) {
  return event.kind === "agents";
}

/** Says that an execution began or ended. */
export function isOfExecutions(event: LiveEvent) {
  const type = event.data["type"];
  return event.kind === "run" && (type === "execution_start" || type === "execution_end");
}

export interface Registry {
  agents: readonly Agent[];
  /** The agent of an id. */
  of: (id: string | null | undefined) => Agent | undefined;
  /** Its name, or the id of what is no agent any more. */
  name: (id: string) => string;
}

/** Everybody whom messages can reach, in the order that decides ties. */
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

/** One execution with its steps, as they come. */
export function useExecution(id: string | null) {
  const where = id === null ? null : `/api/agents/execution/${encodeURIComponent(id)}`;
  return useResource<{ execution: Execution }>(where, { on: (event) => event.kind === "run" && event.data["runId"] === id });
}

export function isOver(execution: Pick<Execution, "status">) {
  return execution.status !== "running" && execution.status !== "pending";
}

/** How an execution stands, as its glyph: one that nobody answered is not done. */
export function glyphOf(execution: Pick<Execution, "status" | "answeredBy">): { state: State; label: string } {
  if (execution.answeredBy === "offline") return { state: "skipped", label: "Routed, no model to answer" };
  const state = stateOf(execution.status);
  return { state, label: STATE_WORDS[state] };
}
