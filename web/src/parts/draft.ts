import { useRef, useState } from "react";
import { workspace } from "../api/request";
import { keep, read } from "../shell/settings";

/** Another workspace at the same address has drafts of its own. */
function placeOf(name: string) {
  return `draft.${workspace()}.${name}`;
}

/** Keeps a text as the draft of a name, or takes that away. */
export function keepDraft(name: string, text: string | null) {
  keep(placeOf(name), text, "sessionStorage");
  keep(placeOf(name), text);
}

/** A text that is typed, kept in this tab, and for others of this browser, under a name until it is sent: `first` takes it away. */
export function useDraft(name: string, first = "") {
  const place = placeOf(name);
  const [text, setText] = useState(() => read(place, "sessionStorage") ?? read(place) ?? first);
  const latest = useRef(text);
  // Kept at once: what is sent and closed in one go draws nothing any more.
  const put = (change: string | ((now: string) => string)) => {
    const before = latest.current;
    latest.current = typeof change === "string" ? change : change(before);
    const kept = latest.current === first ? null : latest.current;
    keep(place, kept, "sessionStorage");
    if (kept !== null || read(place) === before) keep(place, kept);
    setText(latest.current);
  };
  return [text, put] as const;
}
