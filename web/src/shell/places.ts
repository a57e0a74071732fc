import { create } from "zustand";
import type { IconName } from "../parts/Icon";
import type { Got } from "../api/types";
import { useResource } from "../api/resource";

export interface Where {
  href: string;
  label: string;
  icon: IconName;
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

type Status = Got<"/api/status">["status"];

/** Who is asked, who asks, and the counts of the sidebar. */
export function useStatus() {
  const { data } = useResource<{ status: Status }>("/api/status", {
    on: (event) => event.kind === "task" || event.kind === "agents" || event.kind === "conversation" || isEndOfRun(event.data["type"]),
  });
  return data?.status;
}

function isEndOfRun(type: unknown) {
  return typeof type === "string" && /^(run\.|execution_(start|end)$)/.test(type);
}

interface PaletteState {
  open: boolean;
  /** The initial text of the field. */
  begin: string;
  commands: Map<string, PaletteCommand[]>;
}

export interface PaletteCommand {
  label: string;
  hint?: string;
  shortcut?: string;
  cli?: string;
  run: () => void;
}

export const usePalette = create<PaletteState>()(() => ({ open: false, begin: "", commands: new Map() }));

export function openPalette(begin = "") {
  usePalette.setState({ open: true, begin });
}

export function closePalette() {
  usePalette.setState({ open: false });
}

/** Commands of a page for what is selected on it; an empty list takes them back. */
export function offer(page: string, commands: PaletteCommand[]) {
  const all = new Map(usePalette.getState().commands);
  if (commands.length === 0) all.delete(page);
  else all.set(page, commands);
  usePalette.setState({ commands: all });
}
