// What a person chose on this machine: theme, folded sidebar, width of the panel.
import { create } from "zustand";

export type Theme = "system" | "light" | "dark";

interface Settings {
  theme: Theme;
  folded: boolean;
  panelWidth: number;
}

export const PANEL = { least: 320, most: 640, first: 400 };

export const useSettings = create<Settings>()(() => ({
  theme: themeOf(read("theme")),
  folded: read("folded") === "yes",
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

function read(name: string) {
  try {
    return localStorage.getItem(`cleo.${name}`);
  } catch {
    return null;
  }
}

function keep(name: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(`cleo.${name}`);
    else localStorage.setItem(`cleo.${name}`, value);
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}
