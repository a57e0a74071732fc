// How wide the window is, and what points at it: what is windowed has a height before it is drawn.
import { useSyncExternalStore } from "react";

export const phone = window.matchMedia("(max-width: 720px)");
/** Where the sidebar is folded by itself. */
export const narrow = window.matchMedia("(min-width: 721px) and (max-width: 1100px)");
/** A finger, which needs 44 pixels. */
export const coarse = window.matchMedia("(pointer: coarse)");

export function useMatch(query: MediaQueryList) {
  return useSyncExternalStore(
    (changed) => {
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => query.matches,
  );
}
