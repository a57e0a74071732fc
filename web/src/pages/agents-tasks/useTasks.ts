/** The tasks of the board, and moving them: shown at once, reverted when the server refuses. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LiveEvent } from "../../api/events";
import { Failure, api, path } from "../../api/request";
import { touch, usePages, useResource } from "../../api/resource";
import { toast } from "../../parts/toasts";
import { touchesWork, type AgentTask, type Got, type Now, type Row, type Rows, type TaskStatus, type TaskPriority } from "../../api/types";
import type { State } from "../../parts/StatusGlyph";

export type Filter = Record<"priority" | "agent" | "due" | "q", string | null>;

/** A task on the board; `lane` is the epic in whose lane it stands. */
export type Card = AgentTask & { lane?: string | undefined; isOnItsWay?: boolean };

/** The lane of the tasks that are no part of another one. */
export const APART = "none";

/** The epics and other tasks with parts; asked for when the board has lanes. */
export function useEpics(isAsked: boolean) {
  return useResource<Got<"/api/work/epics">>(isAsked ? "/api/work/epics" : null, { on: isOfTasks });
}

/** How many cards of a column come first, so that they are there at once, and how many with each request after that. */
const FIRST = 50;
const PAGE = 500;

export function isOfTasks(event: LiveEvent) {
  return event.kind === "task";
}

export type Moves = ReturnType<typeof useMoves>;

export function useMoves() {
  /** Cards on their way, as they are to be. */
  const [moved, setMoved] = useState<ReadonlyMap<string, Card>>(new Map());
  const [refused, setRefused] = useState<Refused | null>(null);
  /** The cards that were listed, for keys. */
  const known = useRef(new Map<string, Card>()).current;
  const move = useCallback((task: Card, to: TaskStatus, lane = task.lane) => void moveTo(task, to, lane, setMoved, setRefused), []);
  /** What the server says by now needs no memory of its own. */
  const settle = useCallback((ids: string[]) => setMoved((now) => new Map([...now].filter(([id]) => !ids.includes(id)))), []);
  return { moved, move, settle, known, refused, forgive: () => setRefused(null) };
}

/** The cards of a column: those that the server lists, without those on their way out of it, and with those on their way to it. */
export function useColumn(status: TaskStatus, filter: Filter, lane: string | undefined, { moved, settle, known }: Moves) {
  const { data: epics } = useEpics(lane === APART);
  const of = lane === APART ? { nested: false } : { parent: lane };
  const pathFor = (page: number) => path("/api/tasks", { status, ...filter, ...of, limit: page === 0 ? FIRST : PAGE, offset: page === 0 ? null : FIRST + (page - 1) * PAGE });
  const { pages, ...rest } = usePages<{ tasks: AgentTask[]; total: number }>(pathFor, isOfTasks);
  const { listed, hidden } = useMemo(() => {
    const headings = new Set(epics?.groups.map((group) => group.id));
    const all = pages.flatMap((page) => page.tasks);
    const cards = all.filter((task) => !headings.has(task.id));
    return { listed: [...new Map(cards.map((task): [string, Card] => [task.id, { ...task, lane }])).values()], hidden: all.length - cards.length };
  }, [pages, epics, lane]);
  useEffect(() => {
    listed.forEach((task) => known.set(task.id, task));
    const there = listed.filter(({ id }) => moved.get(id)?.status === status && moved.get(id)?.lane === lane).map((task) => task.id);
    if (there.length > 0) settle(there);
  }, [listed, moved, status, lane, settle, known]);
  const tasks = useMemo(() => {
    const all = [...listed.filter((task) => !moved.has(task.id)), ...[...moved.values()].filter((task) => task.status === status && task.lane === lane)];
    const ended = (task: AgentTask) => task.completed_at ?? task.updated_at;
    return all.sort(isPast(status) ? (one, other) => ended(other).localeCompare(ended(one)) : byUrgency);
  }, [listed, moved, status, lane]);
  return { tasks, total: (pages[0]?.total ?? 0) - hidden, ...rest };
}

/** What runs know of tasks, which their status does not say: those that can be run, with why the last attempt failed, and those that agents work on. */
export function useStandings() {
  const rows = useResource<Rows>("/api/work/rows?state=failed,ready,paused&sort=priority&limit=500", { on: touchesWork });
  const now = useResource<Now>("/api/work/now", { on: (event) => event.kind === "log" || touchesWork(event) });
  return useMemo<Standings>(
    () => ({
      rows: new Map(rows.data?.rows.map((row) => [row.id, row])),
      atWork: new Map(now.data?.atWork.flatMap((one) => (one.task && one.run ? [[one.task, one] as const] : []))),
    }),
    [rows.data, now.data],
  );
}

export interface Standings {
  rows: ReadonlyMap<string, Row>;
  atWork: ReadonlyMap<string, Now["atWork"][number]>;
}

interface Refused {
  task: AgentTask;
  failure: Failure;
}

function isPast(status: TaskStatus) {
  return status === "done" || status === "cancelled";
}

type Put<T> = (change: T | ((now: T) => T)) => void;

/** Another lane is another epic: then it is made a part of that first. */
async function moveTo(task: Card, to: TaskStatus, lane: string | undefined, setMoved: Put<Moves["moved"]>, setRefused: Put<Refused | null>) {
  if (task.status === to && task.lane === lane) return;
  const there = { ...task, status: to, lane, isOnItsWay: true };
  setMoved((now) => new Map(now).set(task.id, there));
  setRefused(null);
  try {
    // One that somebody else has changed meanwhile stays as it is.
    const headers: Record<string, string> = task.isOnItsWay ? {} : { "if-match": `"${task.updated_at}"` };
    const at = `tasks/${encodeURIComponent(task.id)}`;
    if (task.lane !== lane) {
      const { task: part } = await api.patch<{ task: { updatedAt: string } }>(`/api/work/${at}`, { parent: lane === APART ? null : (lane ?? null) }, { headers });
      headers["if-match"] = `"${part.updatedAt}"`;
    }
    const { task: kept } = await api.put<{ task: AgentTask }>(`/api/${at}`, { status: to }, { headers });
    toast(`Moved to ${STATUS_WORDS[to].toLowerCase()}.`, { label: "Undo", run: () => void moveTo({ ...task, ...kept, lane }, task.status, task.lane, setMoved, setRefused) });
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
