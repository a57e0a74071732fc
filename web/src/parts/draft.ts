import { useRef, useState } from "react";
import { keep, read } from "../shell/settings";

/** A text that is typed, kept in this browser under a name until it is sent: `first` takes it away. */
export function useDraft(name: string, first = "") {
  const [text, setText] = useState(() => read(`draft.${name}`) ?? first);
  const latest = useRef(text);
  // Kept at once: what is sent and closed in one go draws nothing any more.
  const put = (change: string | ((now: string) => string)) => {
    latest.current = typeof change === "string" ? change : change(latest.current);
    keep(`draft.${name}`, latest.current === first ? null : latest.current);
    setText(latest.current);
  };
  return [text, put] as const;
}
