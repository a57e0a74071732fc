import { useEffect } from "react";
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
  { href: "/", label: "Home", icon: "overview", key: "Q", count: (counts) => counts.atWork, counted: "at work" },
  { href: "/work", label: "Work", icon: "work", key: "W", count: (counts) => counts.readyTasks, counted: "ready" },
  { href: "/runs", label: "Runs", icon: "runs", key: "R" },
];

export const AGENTS: Where[] = [
  { href: "/agents", label: "Overview", icon: "ask", key: "A" },
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
    on: (event) => event.kind === "task" || event.kind === "agents" || event.kind === "conversation" || /^(run\.|execution_(start|end)$)/.test(String(event.data["type"])),
  });
  return data?.status;
}

interface PaletteState {
  open: boolean;
  /** The text of its field. */
  text: string;
  /** Whether the first that is found for the text is wanted, once it is found. */
  entered: boolean;
  commands: Map<string, PaletteCommand[]>;
}

export interface PaletteCommand {
  label: string;
  hint?: string;
  shortcut?: string;
  cli?: string;
  run: () => void;
}

export const usePalette = create<PaletteState>()(() => ({ open: false, text: "", entered: false, commands: new Map() }));

export function openPalette() {
  usePalette.setState({ open: true, text: "", entered: false });
}

/** Keys that are typed before the palette is there and has the focus are its first ones. */
window.addEventListener(
  "keydown",
  (event) => {
    const { open, text } = usePalette.getState();
    if (!open || event.ctrlKey || event.metaKey || document.activeElement?.closest("dialog.palette")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") closePalette();
    else if (event.key === "Enter") usePalette.setState({ entered: true });
    else if (event.key === "Backspace") usePalette.setState({ text: text.slice(0, -1) });
    else if (event.key.length === 1) usePalette.setState({ text: text + event.key, entered: false });
  },
  { capture: true },
);

export function closePalette() {
  usePalette.setState({ open: false });
}

/** Offers commands of a part of a page as long as it is there. */
export function useCommands(part: string, commands: PaletteCommand[]) {
  useEffect(() => {
    offer(part, commands);
  });
  useEffect(() => () => offer(part, []), [part]);
}

/** The same where only some of a part are offered. */
export function Offer({ part, commands }: { part: string; commands: PaletteCommand[] }) {
  useCommands(part, commands);
  return null;
}

/** Commands of a page for what is selected on it; an empty list takes them back. */
function offer(page: string, commands: PaletteCommand[]) {
  const all = new Map(usePalette.getState().commands);
  if (commands.length === 0) all.delete(page);
  else all.set(page, commands);
  usePalette.setState({ commands: all });
}
