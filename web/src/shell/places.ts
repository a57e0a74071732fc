import type { IconName } from "../parts/Icon";
import type { Status } from "../api/status";

export interface Where {
  href: string;
  label: string;
  icon: IconName;
  /** The key after G. */
  key: string;
  /** What is counted beside it: of the same figures as on its page, and its word. */
  count?: (counts: Status["counts"]) => number;
  counted?: string;
}

export const WORK: Where[] = [
  { href: "/work", label: "Work", icon: "work", key: "W", count: (counts) => counts.readyTasks, counted: "ready" },
  { href: "/runs", label: "Runs", icon: "runs", key: "R" },
  { href: "/", label: "Ask", icon: "ask", key: "Q" },
];

export const AGENTS: Where[] = [
  { href: "/agents", label: "Overview", icon: "overview", key: "A" },
  { href: "/agents/architecture", label: "Architecture", icon: "architecture", key: "X" },
  { href: "/agents/manage", label: "Manage", icon: "manage", key: "M", count: (counts) => counts.agents },
  { href: "/agents/chat", label: "Chat", icon: "chat", key: "C", count: (counts) => counts.conversations },
  { href: "/agents/tasks", label: "Tasks", icon: "board", key: "T", count: (counts) => counts.openTasks, counted: "open" },
];

export const PLACES = [...WORK, ...AGENTS];

/** Whether a page belongs to a place of the sidebar. */
export function isAt(href: string, path: string) {
  if (href === "/" || href === "/agents") return path === href;
  return path === href || path.startsWith(href + "/");
}
