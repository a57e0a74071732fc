// What a task looks like where nothing but its colour is seen: as its glyph does.
import type { Row } from "../../../api/work";
import type { State } from "../../../parts/state";

const COLOURS: Partial<Record<State, string>> = {
  done: "var(--green9)",
  running: "var(--lake9)",
  verifying: "var(--lake9)",
  failed: "var(--red9)",
  needsYou: "var(--amber9)",
  review: "var(--amber9)",
  ready: "var(--n12)",
};

/** Green is only what cleo itself checked. */
export function colourOf({ state, verified }: Pick<Row, "state" | "verified">): string {
  return state === "done" && !verified ? "var(--n9)" : (COLOURS[state] ?? "var(--n7)");
}
