/** The tasks of the board, and moving them: shown at once, reverted when the server refuses. */
import { useCallback, useEffect, useMemo, useState } from "react";
import type { LiveEvent } from "../../api/events";
import { Failure, api, path } from "../../api/request";
import { touch, useResource } from "../../api/resource";
import { toast } from "../../parts/toasts";
import { touchesWork, type AgentTask, type Rows, type TaskStats, type TaskStatus, type TaskPriority } from "../../api/types";
import type { State } from "../../parts/StatusGlyph";

interface Filter {
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

interface Refused {
  task: AgentTask;
  failure: Failure;
}

export function useTasks(filter: Filter) {
  const shown = filter.status.length > 0 ? filter.status : COLUMNS;
  // Always the same ones in the same order, so these are the same hooks each time.
  const asked = STATUSES.map((status) => useColumn(status, shown.includes(status), filter));
  // What runs know of tasks, which their status does not say.
  const inRuns = useResource<Rows>("/api/work/rows?state=failed,running,verifying&limit=500", { on: touchesWork });
  const marks = useMemo(() => new Map(inRuns.data?.rows.map((row) => [row.id, row])), [inRuns.data]);
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
    .map(({ status, total, more }) => ({ status, total, more, tasks: tasks.filter((task) => task.status === status).sort(isPast(status) ? byDone : byUrgency) }));
  const lists = asked.map((column) => column.list);
  return {
    columns,
    tasks,
    marks,
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
  const first = isPast(status) ? { limit: most, offset: left } : { limit: most, priority: "urgent,high" };
  const others = useList(left > 0 && (isPast(status) || !filter.priority) ? status : null, filter, first);
  const tasks = useMemo(() => joined([...(list.data?.tasks ?? []), ...(left > 0 ? (others.data?.tasks ?? []) : [])]), [list.data, others.data, left]);
  const more = left > 0 && most < MOST ? () => setMost(MOST) : null;
  return { status, list, total, tasks: isShown ? tasks : [], more };
}

function isPast(status: TaskStatus) {
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

export const COLUMNS: readonly TaskStatus[] = ["todo", "doing", "review", "done"];
export const STATUSES: readonly TaskStatus[] = [...COLUMNS, "paused", "cancelled"];
export const PRIORITIES: readonly TaskPriority[] = ["urgent", "high", "medium", "low"];
export const DUES = ["overdue", "today", "week", "none"] as const;

export const STATUS_WORDS: Record<TaskStatus, string> = { todo: "To do", doing: "Doing", review: "Review", done: "Done", paused: "Paused", cancelled: "Cancelled" };
export const DUE_WORDS: Record<(typeof DUES)[number], string> = { overdue: "Overdue", today: "Today", week: "This week", none: "Without a date" };

export const GLYPHS: Record<TaskStatus, State> = { todo: "ready", doing: "running", review: "review", done: "done", paused: "paused", cancelled: "cancelled" };

/** The more urgent first, then what is due earlier, then the older one. */
export function byUrgency(one: AgentTask, other: AgentTask): number {
  const rank = (task: AgentTask) => PRIORITIES.indexOf(task.priority);
  // Tasks without a date come last; two of them are equal.
  const due = (task: AgentTask) => (task.due_date === null ? Infinity : Date.parse(task.due_date));
  const number = (task: AgentTask) => Number(task.id.replace(/\D/g, ""));
  return rank(one) - rank(other) || due(one) - due(other) || number(one) - number(other);
}

/** What was done last first. */
function byDone(one: AgentTask, other: AgentTask): number {
  return (other.completed_at ?? other.updated_at).localeCompare(one.completed_at ?? one.updated_at);
}

export function beside(status: TaskStatus, step: number): TaskStatus | null {
  const at = COLUMNS.indexOf(status);
  return at < 0 ? null : (COLUMNS[at + step] ?? null);
}

/** "overdue 1 d", "due in 2 h", "due Fri"; nothing for what is over or has no date. */
export function dueWords(task: AgentTask, now: number): { text: string; overdue: boolean } | null {
  if (task.due_date === null || isPast(task.status)) return null;
  const left = Date.parse(task.due_date) - now;
  const hours = Math.abs(left) / 3_600_000;
  const span = hours < 1 ? "under 1 h" : hours < 24 ? `${Math.floor(hours)} h` : `${Math.floor(hours / 24)} d`;
  if (left < 0) return { text: `overdue ${span}`, overdue: true };
  if (hours < 24) return { text: `due in ${span}`, overdue: false };
  const words = hours < 144 ? new Intl.DateTimeFormat("en-GB", { weekday: "short" }) : new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
  return { text: `due ${words.format(Date.parse(task.due_date))}`, overdue: false };
}

/** A date of a form as a moment: the end of that day, here. */
export function endOfDay(date: string): string | null {
  const then = new Date(`${date}T23:59:59`);
  return Number.isNaN(then.getTime()) ? null : then.toISOString();
}

/** A moment as the date of a form, here. */
export function dateOf(moment: string | null): string {
  // Swedes write dates as forms do.
  return moment === null ? "" : new Date(moment).toLocaleDateString("sv");
}
