import { useCallback, useEffect, useLayoutEffect, useRef } from "react";

/**
 * Keeps the focus on something that moves to another place of the page, where it is another element,
 * until the focus or a pointer goes elsewhere. `find` gives the element of an id, within an item of a list, if it is there.
 */
export function useFollowedFocus(find: (id: string) => HTMLElement | null): (id: string) => void {
  const followed = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (followed.current === null) return;
    const resume = () => {
      // What loses its element while it has the focus leaves the focus to the whole page.
      if (followed.current !== null && document.activeElement === document.body) find(followed.current)?.focus();
    };
    resume();
    // A windowed list draws what is new to it a little later.
    const frame = requestAnimationFrame(resume);
    return () => cancelAnimationFrame(frame);
  });
  useEffect(() => {
    const leave = (event: Event) => {
      if (followed.current === null) return;
      // The buttons beside it move with it.
      const own =
        find(followed.current)
          ?.closest("li")
          ?.contains(event.target as Node) === true;
      if (event.type === "pointerdown" || !own) followed.current = null;
    };
    const listening = new AbortController();
    document.addEventListener("focusin", leave, listening);
    document.addEventListener("pointerdown", leave, listening);
    return () => listening.abort();
  }, [find]);
  return useCallback((id: string) => {
    followed.current = id;
  }, []);
}
