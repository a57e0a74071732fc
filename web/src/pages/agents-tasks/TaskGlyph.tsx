import type { TaskStatus } from "../../agents/types";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { GLYPHS } from "./words";

/** The glyph of a status, beside its word. Done is grey here: somebody said so, and whether cleo
 * verified it stands on the page of the task. */
export function TaskGlyph({ status }: { status: TaskStatus }) {
  return (
    <span className={status === "done" ? "task-glyph told" : "task-glyph"}>
      <StatusGlyph state={GLYPHS[status]} label="" />
    </span>
  );
}
