// What a person chose on this machine: theme, folded sidebar, width of the panel.
import { create } from "zustand";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

interface Settings {
  theme: Theme;
  folded: boolean;
  /** Whether keys without Ctrl or ⌘ do something. */
  singleKeys: boolean;
  panelWidth: number;
}

export const PANEL = { least: 320, most: 640, first: 400 };

export const useSettings = create<Settings>()(() => ({
  theme: (["light", "dark"] as const).find((word) => word === read("theme")) ?? "system",
  folded: read("folded") === "yes",
  singleKeys: read("keys") !== "off",
  panelWidth: clamped(Number(read("panel") ?? PANEL.first)),
}));

export function choose(change: Partial<Settings>) {
  useSettings.setState(change);
  const { theme, folded, singleKeys, panelWidth } = useSettings.getState();
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  keep("theme", theme === "system" ? null : theme);
  keep("folded", folded ? "yes" : null);
  keep("keys", singleKeys ? null : "off");
  keep("panel", panelWidth === PANEL.first ? null : String(panelWidth));
}

export function clamped(width: number) {
  return Number.isFinite(width) ? Math.min(PANEL.most, Math.max(PANEL.least, Math.round(width))) : PANEL.first;
}

type Storage = "localStorage" | "sessionStorage";

/** What a person chose or typed, as this browser keeps it. One that keeps nothing still shows everything. */
export function read(name: string, storage: Storage = "localStorage"): string | null {
  try {
    return window[storage].getItem(`cleo.${name}`);
  } catch {
    return null;
  }
}

/** Keeps a text; `null` takes it away. */
export function keep(name: string, value: string | null, storage: Storage = "localStorage") {
  try {
    if (value === null) window[storage].removeItem(`cleo.${name}`);
    else window[storage].setItem(`cleo.${name}`, value);
  } catch {
    // It holds as long as the page is open.
  }
}
