import { MiniMap, type NodeProps } from "@xyflow/react";
import { memo } from "react";
import type { GraphNode, Stack, Graph } from "../../../api/types";
import { GateMeter, STATE_WORDS, type State, StatusGlyph, colourOf } from "../../../parts/StatusGlyph";
import { navigate, withQuery, Link } from "../../../router";
import { noteOf } from "../rows";

interface TaskData {
  task: GraphNode;
  selected: boolean;
  tabbed: boolean;
}

/** A task as a card: state, title, id, who works on it, gates when one was tried. */
export const TaskNode = memo(function TaskNode({ data }: NodeProps) {
  const { task, selected, tabbed } = data as unknown as TaskData;
  const note = noteOf(task);
  const tried = task.gates?.some((gate) => gate === "passed" || gate === "failed" || gate === "forced");
  const waits = task.waitsFor.length > 0 ? `, waits for ${task.waitsFor.join(", ")}` : "";
  return (
    <Link
      href={withQuery({ task: task.id })}
      className={`task-node ${task.state}${selected ? " selected" : ""}${task.wave === null ? " stuck" : ""}`}
      id={`node-${task.id}`}
      data-task={task.id}
      tabIndex={tabbed ? 0 : -1}
      draggable={false}
      aria-roledescription="task"
      aria-current={selected ? "true" : undefined}
      onDoubleClick={() => navigate(`/work/${task.id}`)}
    >
      <span className="head">
        <StatusGlyph state={task.state} verified={task.verified} label="" still={!task.live} />
        <span className="ell" title={task.title}>
          {task.title}
        </span>
      </span>
      <span className="foot-line">
        <span className="mono">{task.id}</span>
        <span className="ell grow">{note}</span>
        {tried && task.gates && <GateMeter gates={task.gates} />}
      </span>
      <span className="unseen">
        {STATE_WORDS[task.state]}
        {waits}
      </span>
    </Link>
  );
});

const LOUDEST: State[] = ["failed", "needsYou", "running", "ready", "waiting", "done"];

/** Tasks that were folded away together. Opening it unfolds them. */
export const StackNode = memo(function StackNode({ data }: NodeProps) {
  const { stack } = data as unknown as { stack: Stack };
  const state = LOUDEST.find((one) => (stack.counts[one] ?? 0) > 0) ?? "done";
  const words = stack.title ?? stack.label.replace(/^\d+\s*/, "");
  return (
    <Link className="stack-node" href={unfolded(stack.key)} replace draggable={false} aria-label={`${stack.total} ${words}, unfold`}>
      <span className="row tight strong">
        <StatusGlyph state={state} label="" still />
        {stack.total}
      </span>
      <span className="muted ell">{words}</span>
    </Link>
  );
});

function unfolded(key: string) {
  const now = new URLSearchParams(window.location.search).get("unfold");
  const keys = new Set((now ?? "").split(",").filter(Boolean));
  return withQuery({ unfold: [...keys.add(key)].join(",") });
}

/** The whole of a graph that is larger than a window, and what is seen of it. */
export const Overview = memo(function Overview({ graph: { size } }: { graph: Graph }) {
  if (size.width < 608 && size.height < 336) return null;
  return <MiniMap className="overview glass desk-only" style={SMALL} pannable nodeColor={({ data }) => (data["task"] ? colourOf(data["task"] as GraphNode) : "var(--n8)")} ariaLabel={null} />;
});

const SMALL = { width: 152, height: 84 };
