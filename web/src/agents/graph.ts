/** Which boxes and lines the picture of the agents has, and where they stand. Order and numbers come
 * from the server; messages go from left to right. */

import type { Agent, Metrics, Routed } from "../api/types";
import { SUPERVISOR } from "./agents";

export interface Spot {
  id: string;
  kind: "system" | "agent" | "more" | "floor";
  label: string;
  /** The line under the name. */
  about: string;
  x: number;
  y: number;
  agent?: Agent;
  /** Messages do not reach it. */
  off: boolean;
  /** Where the message that is typed would go. */
  hit: boolean;
  /** An execution is with it now. */
  live: boolean;
}

export interface Line {
  id: string;
  from: string;
  to: string;
  kind: "flow" | "bypass";
  /** The points of the agent for the message that is typed. */
  score: number | null;
  hit: boolean;
  live: boolean;
  /** The lower edge of all boxes, which a way around them passes. */
  floor: number;
}

export interface Picture {
  spots: Spot[];
  lines: Line[];
}

export const AGENT_SIZE = { width: 196, height: 48 };
export const SYSTEM_SIZE = { width: 132, height: 48 };
const COLUMNS = { supervisor: 0, router: 180, agents: 400, finalize: 684 };
const ROW = 62;
/** How far under the boxes the way around all agents goes. */
export const BELOW = 26;
/** Most agents that are drawn; the others are one box. */
const MOST = 12;

interface Facts {
  agents: readonly Agent[];
  metrics: Metrics | undefined;
  routed: Routed | null;
  /** Ids of agents with running executions, `finalize` for those that no agent fits. */
  live: ReadonlySet<string>;
  /** Remaining time of a runtime agent, in words. */
  left: (agent: Agent) => string | null;
}

export function picture(facts: Facts): Picture {
  const { agents, routed, live } = facts;
  const reachable = agents.filter((agent) => agent.role !== "supervisor" && agent.status !== "archived");
  const drawn = chosen(reachable, facts);
  const more = reachable.length - drawn.length;
  const rows = drawn.length + (more > 0 ? 1 : 0);
  const middle = ((Math.max(rows, 1) - 1) * ROW) / 2;
  const stack = { id: "more", kind: "more" as const, label: `${more} more agents`, about: "see Manage", x: COLUMNS.agents, y: drawn.length * ROW, off: false, hit: false, live: false };
  const spots = [...systems(facts, reachable, middle), ...drawn.map((agent, at) => spot(agent, at * ROW, facts)), ...(more > 0 ? [stack] : []), floor((rows - 1) * ROW + AGENT_SIZE.height + BELOW)];
  const active = drawn.filter((agent) => agent.status === "active");
  const isAny = live.size > 0;
  const winner = routed?.route.agent ?? null;
  const lines = [
    line("supervisor", "router", { hit: winner !== null, live: isAny }),
    ...active.map((agent) => line("router", agent.id, { hit: winner === agent.id, live: live.has(agent.id), score: points(routed, agent.id) })),
    ...active.map((agent) => line(agent.id, "finalize", { hit: winner === agent.id, live: live.has(agent.id) })),
    {
      ...line("router", "finalize", { hit: winner === "finalize", live: live.has("finalize") }),
      kind: "bypass" as const,
      floor: (rows - 1) * ROW + AGENT_SIZE.height,
    },
  ];
  return { spots, lines };
}

/** Those that are drawn of many: with work, hit by the message, or used most; in the order of the list. */
function chosen(agents: readonly Agent[], { routed, live }: Facts): readonly Agent[] {
  if (agents.length <= MOST) return agents;
  const weight = (agent: Agent) => (live.has(agent.id) ? 1e12 : 0) + (points(routed, agent.id) ?? 0) * 1e6 + agent.executions;
  const best = [...agents].sort((one, other) => weight(other) - weight(one)).slice(0, MOST - 1);
  const kept = new Set(best.map((agent) => agent.id));
  return agents.filter((agent) => kept.has(agent.id));
}

function points(routed: Routed | null, id: string): number | null {
  if (!routed || routed.route.decided === "requested") return null;
  return routed.route.candidates?.find((one) => one.id === id)?.score ?? 0;
}

function spot(agent: Agent, y: number, { metrics, routed, live, left }: Facts): Spot {
  return {
    id: agent.id,
    kind: "agent",
    label: agent.name,
    about: agent.status === "paused" ? "paused" : (left(agent) ?? used(agent.id, metrics)),
    x: COLUMNS.agents,
    y,
    agent,
    off: agent.status !== "active",
    hit: routed?.route.agent === agent.id,
    live: live.has(agent.id),
  };
}

function used(id: string, metrics: Metrics | undefined): string {
  if (!metrics) return "";
  const all = metrics.dashboard.totalExecutions;
  return all === 0 ? "no messages yet" : `${counted(id, metrics)} of ${all} messages`;
}

function counted(id: string, metrics: Metrics): number {
  return metrics.dashboard.routingPatterns.find((one) => one.agentId === id)?.count ?? 0;
}

function systems(facts: Facts, reachable: readonly Agent[], middle: number): Spot[] {
  const { metrics, routed, live } = facts;
  const plain = { kind: "system" as const, y: middle, off: false, hit: false };
  const active = reachable.filter((agent) => agent.status === "active").length;
  const unfit = metrics ? counted("finalize", metrics) : null;
  const candidates = `${active} ${active === 1 ? "candidate" : "candidates"}`;
  return [
    { ...plain, id: "supervisor", label: SUPERVISOR, about: "hands messages on", x: COLUMNS.supervisor, live: live.size > 0 },
    { ...plain, id: "router", label: "router", about: routed ? `${routed.tookUs} µs, ${candidates}` : candidates, x: COLUMNS.router, live: live.size > 0 },
    {
      ...plain,
      id: "finalize",
      label: "finalize",
      about: unfit === null ? "" : `${unfit} without an agent`,
      x: COLUMNS.finalize,
      hit: routed?.route.agent === "finalize",
      live: live.size > 0,
    },
  ];
}

/** Nothing to see: it keeps the way around all agents inside of what is fitted into the window. */
function floor(y: number): Spot {
  return { id: "floor", kind: "floor", label: "", about: "", x: COLUMNS.agents, y: y + 16, off: false, hit: false, live: false };
}

function line(from: string, to: string, how: { hit: boolean; live: boolean; score?: number | null }): Line {
  return { id: `${from}>${to}`, from, to, kind: "flow", score: how.score ?? null, hit: how.hit, live: how.live, floor: 0 };
}
