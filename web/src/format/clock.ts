// One clock for all texts that change by themselves; it stands still while nobody looks.
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
let timer = 0;

function tick() {
  if (document.hidden) return;
  now = Date.now();
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (listeners.size === 1) timer = window.setInterval(tick, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** The present time in milliseconds, once a second. */
export function useNow() {
  return useSyncExternalStore(subscribe, () => now);
}
