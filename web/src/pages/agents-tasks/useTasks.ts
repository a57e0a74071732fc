/** The tasks of the board, and moving them: shown at once, taken back when the server refuses. */

import { useCallback, useEffect, useMemo, useState } from "react";
import type { LiveEvent } from "../../api/events";
import { Failure } from "../../api/failure";
import { api, path } from "../../api/request";
import { touch, useResource } from "../../api/resource";
import { toast } from "../../parts/toasts";
import type { AgentTask, TaskStats, TaskStatus } from "../../agents/types";
import { byDone, byUrgency, COLUMNS, STATUS_WORDS } from "./words";

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

/** Most cards of what is open, and of what is over. */
const MOST_OPEN = 500;
const MOST_OVER = 100;

export interface Refused {
  task: AgentTask;
  failure: Failure;
}

export function useTasks(filter: Filter) {
  const columns = filter.status.length > 0 ? filter.status : COLUMNS;
  const isOver = (status: TaskStatus) => status === "done" || status === "cancelled";
  const open = useList(columns.filter((status) => !isOver(status)), filter, MOST_OPEN);
  const over = useList(columns.filter(isOver), filter, MOST_OVER);
  // The server lists by id: of more than can be listed, those that press are asked for by themselves.
  const isCut = (open.data?.total ?? 0) > MOST_OPEN && !filter.priority;
  const pressing = useList(isCut ? columns.filter((status) => !isOver(status)) : [], { ...filter, priority: "urgent,high" }, MOST_OPEN);
  const stats = useResource<{ stats: TaskStats }>(path("/api/tasks/stats", { agent: filter.agent }), { on: isOfTasks });
  const [moved, setMoved] = useState<ReadonlyMap<string, TaskStatus>>(new Map());
  const [refused, setRefused] = useState<Refused | null>(null);
  const all = useMemo(() => joined(open.data?.tasks ?? [], [...(isCut ? (pressing.data?.tasks ?? []) : []), ...(over.data?.tasks ?? [])]), [open.data, over.data, pressing.data, isCut]);
  useEffect(() => {
    // What the server says by now needs no memory of its own.
    const settled = [...moved].filter(([id, status]) => all.some((task) => task.id === id && task.status === status));
    if (settled.length > 0) setMoved((now) => new Map([...now].filter(([id]) => !settled.some(([other]) => other === id))));
  }, [all, moved]);
  const tasks = useMemo(() => all.map((task) => ({ ...task, status: moved.get(task.id) ?? task.status })), [all, moved]);
  const move = useCallback((task: AgentTask, to: TaskStatus) => void moveTo(task, to, setMoved, setRefused), []);
  // The numbers of the server know no other filters.
  const counts = filter.priority || filter.due || filter.q ? null : (stats.data?.stats.byStatus ?? null);
  const lists = columns.map((status) => ({ status, total: counts?.[status] ?? null, tasks: tasks.filter((task) => task.status === status).sort(isOver(status) ? byDone : byUrgency) }));
  return { columns: lists, tasks, open, over, stats, move, refused, forgive: () => setRefused(null) };
}

export function isOfTasks(event: LiveEvent) {
  return event.kind === "task";
}

function useList(statuses: readonly TaskStatus[], filter: Filter, limit: number) {
  const { priority, agent, due, q } = filter;
  const where = statuses.length === 0 ? null : path("/api/tasks", { status: statuses.join(","), priority, agent, due, q, limit });
  return useResource<List>(where, { on: isOfTasks, keep: true });
}

function joined(open: readonly AgentTask[], over: readonly AgentTask[]): AgentTask[] {
  const seen = new Set(open.map((task) => task.id));
  return [...open, ...over.filter((task) => !seen.has(task.id))];
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
    setRefused({ task, failure: fault instanceof Failure ? fault : new Failure(String(fault), 0) });
  }
  touch("/api/tasks");
}
