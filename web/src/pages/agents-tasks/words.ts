/** The words of the board, and the order of its cards. */

import type { State } from "../../parts/state";
import type { AgentTask, TaskPriority, TaskStatus } from "../../agents/types";

export const COLUMNS: readonly TaskStatus[] = ["todo", "doing", "review", "done"];
export const STATUSES: readonly TaskStatus[] = [...COLUMNS, "paused", "cancelled"];
export const PRIORITIES: readonly TaskPriority[] = ["urgent", "high", "medium", "low"];
export const DUES = ["overdue", "today", "week", "none"] as const;

export const STATUS_WORDS: Record<TaskStatus, string> = { todo: "To do", doing: "Doing", review: "Review", done: "Done", paused: "Paused", cancelled: "Cancelled" };
export const DUE_WORDS: Record<(typeof DUES)[number], string> = { overdue: "Overdue", today: "Today", week: "This week", none: "Without a date" };

/** The glyph of a status. */
export const GLYPHS: Record<TaskStatus, State> = { todo: "ready", doing: "running", review: "review", done: "done", paused: "paused", cancelled: "cancelled" };

/** The more urgent first, then what is due earlier, then the older one. */
export function byUrgency(one: AgentTask, other: AgentTask): number {
  const rank = (task: AgentTask) => PRIORITIES.indexOf(task.priority);
  const due = (task: AgentTask) => (task.due_date === null ? Infinity : Date.parse(task.due_date));
  const number = (task: AgentTask) => Number(task.id.replace(/\D/g, ""));
  return rank(one) - rank(other) || compare(due(one), due(other)) || number(one) - number(other);
}

/** What was done last first. */
export function byDone(one: AgentTask, other: AgentTask): number {
  return (other.completed_at ?? other.updated_at).localeCompare(one.completed_at ?? one.updated_at);
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The column beside another one. */
export function beside(status: TaskStatus, step: number): TaskStatus | null {
  const at = COLUMNS.indexOf(status);
  return at < 0 ? null : (COLUMNS[at + step] ?? null);
}

export function isOpen(task: AgentTask): boolean {
  return task.status !== "done" && task.status !== "cancelled";
}

/** "overdue 1 d", "due in 2 h", "due Fri"; nothing for what is over or has no date. */
export function dueWords(task: AgentTask, now: number): { text: string; overdue: boolean } | null {
  if (task.due_date === null || !isOpen(task)) return null;
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
  const [year, month, day] = date.split("-").map(Number);
  if (!year || !month || !day) return null;
  return new Date(year, month - 1, day, 23, 59, 59).toISOString();
}

/** A moment as the date of a form, here. */
export function dateOf(moment: string | null): string {
  if (moment === null) return "";
  const then = new Date(moment);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
}
