import { useEffect, useState } from "react";
import { keep, read } from "../shell/settings";

/** A text that is typed, kept in this browser under a name until it is sent: "" takes it away. */
export function useDraft(name: string, first = "") {
  const [text, setText] = useState(() => read(`draft.${name}`) ?? first);
  useEffect(() => keep(`draft.${name}`, text === first ? null : text), [name, text, first]);
  return [text, setText] as const;
}
