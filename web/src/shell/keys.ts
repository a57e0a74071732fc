// Keys of the page. Single keys are off while typing, and can be switched off altogether.
import { useEffect, useRef } from "react";
import { useSettings } from "./settings";

interface Binding {
  /** "J", "Shift+N", "Mod+K", "G W" (one after the other), "ArrowLeft". Several: "J|ArrowDown". */
  keys: string;
  does: string;
  run: (event: KeyboardEvent) => void;
}

interface Layer {
  group: string;
  bindings: Binding[];
}

const layers: { current: Layer }[] = [];

/** Key bindings of a mounted component; a later layer takes precedence. */
export function useKeys(group: string, bindings: Binding[]) {
  const layer = useRef<Layer>({ group, bindings });
  useEffect(() => {
    layer.current = { group, bindings };
  });
  useEffect(() => {
    layers.push(layer);
    queueMicrotask(replay);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, []);
}

/** What the keys do now, for the page that `?` opens. */
export function keysNow(): Layer[] {
  return layers.map((layer) => layer.current).filter((layer) => layer.bindings.length > 0);
}

const TYPED = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true]";

let before = { key: "", at: 0 };

/** Keys that came before the page was drawn: index.html hears them until then. A click clears them. */
const early = window.early?.keys ?? [];
window.addEventListener("pointerdown", () => early.splice(0), { capture: true, once: true });

function replay() {
  if (window.early) window.removeEventListener("keydown", window.early.hear);
  for (const event of early.splice(0)) if (performance.now() - event.timeStamp < 10_000) document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", event));
}

window.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const key = nameOf(event);
  const sequence = Date.now() - before.at < 1200 ? `${before.key} ${key}` : "";
  before = { key, at: Date.now() };
  // Escape leaves a field before it closes anything around it.
  if (key === "Escape" && event.target instanceof HTMLElement && event.target.matches(TYPED) && !document.querySelector("dialog:modal")) return event.target.blur();
  if (!mayPress(event, key)) return;
  const binding = find(sequence) ?? find(key);
  if (!binding) return;
  event.preventDefault();
  before.at = 0;
  binding.run(event);
});

function find(key: string): Binding | undefined {
  if (key === "") return undefined;
  for (const layer of [...layers].reverse()) {
    const found = layer.current.bindings.find((binding) => binding.keys.split("|").includes(key));
    if (found) return found;
  }
  return undefined;
}

function nameOf(event: KeyboardEvent) {
  const letter = event.key.length === 1;
  const key = letter ? event.key.toUpperCase() : event.key;
  const shift = event.shiftKey && (!letter || /[A-Z]/.test(key)) ? "Shift+" : "";
  return `${event.metaKey || event.ctrlKey ? "Mod+" : ""}${event.altKey ? "Alt+" : ""}${shift}${key === " " ? "Space" : key}`;
}

function mayPress(event: KeyboardEvent, key: string) {
  if (key.startsWith("Mod+")) return document.querySelector("dialog:modal") === null;
  const target = event.target instanceof Element ? event.target : document.body;
  // What is over the page has the keys, also Escape: that closes the topmost thing, and nothing under it.
  if (document.querySelector("dialog:modal") !== null) return false;
  if (target.closest(TYPED)) return false;
  if (target.closest("[role=menu], [role=listbox]")) return false;
  if (key === "Enter" && target.closest("a, button, summary, input")) return false;
  // A link does nothing with it.
  if (key === "Space" && target.closest("button, summary, input")) return false;
  if (key.startsWith("Arrow") && target.closest("[role=tablist], [role=radiogroup], [type=radio]")) return false;
  return useSettings.getState().singleKeys || key.length > 1;
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
/** The key that sends a form from any of its fields. */
export const SEND = isMac ? "⌘↵" : "Ctrl ↵";

/** Keys as people read them. */
export function spelled(keys: string): string[] {
  const words: Record<string, string> = { "Mod+": isMac ? "⌘" : "Ctrl ", "Shift+": "Shift ", "Alt+": "Alt ", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };
  const first = keys.split("|")[0] ?? "";
  return first.split(" ").map((key) => key.replace(/(?:Mod|Shift|Alt)\+|Arrow\w+|Escape/g, (word) => words[word] ?? word));
}
