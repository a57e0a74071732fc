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
  theme: themeOf(read("theme")),
  folded: read("folded") === "yes",
  singleKeys: read("keys") !== "off",
  panelWidth: clamped(Number(read("panel") ?? PANEL.first)),
}));

export function setTheme(theme: Theme) {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  keep("theme", theme === "system" ? null : theme);
  useSettings.setState({ theme });
}

export function setFolded(folded: boolean) {
  keep("folded", folded ? "yes" : null);
  useSettings.setState({ folded });
}

export function setSingleKeys(singleKeys: boolean) {
  keep("keys", singleKeys ? null : "off");
  useSettings.setState({ singleKeys });
}

export function setPanelWidth(width: number) {
  const panelWidth = clamped(width);
  keep("panel", String(panelWidth));
  useSettings.setState({ panelWidth });
}

function clamped(width: number) {
  return Number.isFinite(width) ? Math.min(PANEL.most, Math.max(PANEL.least, Math.round(width))) : PANEL.first;
}

function themeOf(word: string | null): Theme {
  return word === "light" || word === "dark" ? word : "system";
}

/** What a person chose or typed, as this browser keeps it. One that keeps nothing still shows everything. */
type Where = "localStorage" | "sessionStorage";

export function read(name: string, where: Where = "localStorage"): string | null {
  try {
    return window[where].getItem(`cleo.${name}`);
  } catch {
    return null;
  }
}

/** Keeps a text; `null` takes it away. */
export function keep(name: string, value: string | null, where: Where = "localStorage") {
  try {
    if (value === null) window[where].removeItem(`cleo.${name}`);
    else window[where].setItem(`cleo.${name}`, value);
  } catch {
    // It holds as long as the page is open.
  }
}
