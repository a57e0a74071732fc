/** The tasks of the board, and moving them: shown at once, taken back when the server refuses. */

import { useCallback, useEffect, useMemo, useState } from "react";
import type { LiveEvent } from "../../api/events";
import { Failure } from "../../api/failure";
import { api, path } from "../../api/request";
import { touch, useResource } from "../../api/resource";
import { toast } from "../../parts/toasts";
import type { AgentTask, TaskStats, TaskStatus } from "../../agents/types";
import { byDone, byUrgency, COLUMNS, STATUSES, STATUS_WORDS } from "./words";

export interface Filter {
  status: readonly TaskStatus[];
  priority: string | null;
  agent: string | null;
  due: string | null;
  q: string | null;
}

interface List {
  tasks: AgentTask[];
  total: number;
}

/** How many cards of a column are asked for at first, and at most. */
const FIRST = 200;
const MOST = 1_000;

export interface Refused {
  task: AgentTask;
  failure: Failure;
}

export function useTasks(filter: Filter) {
  const shown = filter.status.length > 0 ? filter.status : COLUMNS;
  // Always the same ones in the same order, so these are the same hooks each time.
  const asked = STATUSES.map((status) => useColumn(status, shown.includes(status), filter));
  const stats = useResource<{ stats: TaskStats }>(path("/api/tasks/stats", { agent: filter.agent }), { on: isOfTasks });
  const [moved, setMoved] = useState<ReadonlyMap<string, TaskStatus>>(new Map());
  const [refused, setRefused] = useState<Refused | null>(null);
  const all = asked.flatMap((column) => column.tasks);
  useEffect(() => {
    // What the server says by now needs no memory of its own.
    const settled = [...moved].filter(([id, status]) => all.some((task) => task.id === id && task.status === status));
    if (settled.length > 0) setMoved((now) => new Map([...now].filter(([id]) => !settled.some(([other]) => other === id))));
  }, [all, moved]);
  // While a card moves it may be in the answers of two columns, or of the one it left.
  const tasks = joined(all).map((task) => ({ ...task, status: moved.get(task.id) ?? task.status }));
  const move = useCallback((task: AgentTask, to: TaskStatus) => void moveTo(task, to, setMoved, setRefused), []);
  const columns = asked
    .filter(({ status }) => shown.includes(status))
    .map(({ status, total, more }) => ({ status, total, more, tasks: tasks.filter((task) => task.status === status).sort(isOver(status) ? byDone : byUrgency) }));
  const lists = asked.map((column) => column.list);
  return {
    columns,
    tasks,
    stats,
    failed: lists.find((list) => list.failure && list.data === undefined),
    loading: lists.some((list) => list.loading),
    move,
    refused,
    forgive: () => setRefused(null),
  };
}

/** What the server lists of one column. It lists by id: of more than that, the cards that come first here are asked for by themselves. */
function useColumn(status: TaskStatus, isShown: boolean, filter: Filter) {
  const [most, setMost] = useState(FIRST);
  const list = useList(isShown ? status : null, filter, { limit: most });
  const total = list.data?.total ?? null;
  const left = (total ?? 0) - most;
  const first = isOver(status) ? { limit: most, offset: left } : { limit: most, priority: "urgent,high" };
  const others = useList(left > 0 && (isOver(status) || !filter.priority) ? status : null, filter, first);
  const tasks = useMemo(() => joined([...(list.data?.tasks ?? []), ...(left > 0 ? (others.data?.tasks ?? []) : [])]), [list.data, others.data, left]);
  const more = left > 0 && most < MOST ? () => setMost(MOST) : null;
  return { status, list, total, tasks: isShown ? tasks : [], more };
}

function isOver(status: TaskStatus) {
  return status === "done" || status === "cancelled";
}

export function isOfTasks(event: LiveEvent) {
  return event.kind === "task";
}

function useList(status: TaskStatus | null, filter: Filter, part: { limit: number; offset?: number; priority?: string }) {
  const { priority, agent, due, q } = filter;
  const where = status === null ? null : path("/api/tasks", { status, priority, agent, due, q, ...part });
  return useResource<List>(where, { on: isOfTasks, keep: true });
}

function joined(tasks: readonly AgentTask[]): AgentTask[] {
  return [...new Map(tasks.map((task) => [task.id, task])).values()];
}

type Put<T> = (change: T | ((now: T) => T)) => void;

async function moveTo(task: AgentTask, to: TaskStatus, setMoved: Put<ReadonlyMap<string, TaskStatus>>, setRefused: Put<Refused | null>) {
  if (task.status === to) return;
  setMoved((now) => new Map(now).set(task.id, to));
  setRefused(null);
  try {
    await api.put(`/api/tasks/${encodeURIComponent(task.id)}`, { status: to });
    toast(`Moved to ${STATUS_WORDS[to].toLowerCase()}.`, { label: "Undo", run: () => void moveTo({ ...task, status: to }, task.status, setMoved, setRefused) });
  } catch (fault) {
    setMoved((now) => new Map([...now].filter(([id]) => id !== task.id)));
    setRefused({ task, failure: Failure.from(fault) });
  }
  touch("/api/tasks");
}
