// All edges of a kind are one path: a thousand of them cost no more than one.
import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import type { Box, Edge, Graph } from "../../../api/work";

type Kind = "met" | "unmet" | "critical" | "missing" | "thick" | "chosen";

export const Edges = memo(function Edges({ graph, selected, critical }: { graph: Graph; selected: string | null; critical: boolean }) {
  const boxes = useMemo(() => places(graph), [graph]);
  const paths = useMemo(() => drawn(graph.edges, boxes, critical), [graph.edges, boxes, critical]);
  const chosen = useMemo(() => graph.edges.filter((edge) => selected !== null && (edge.from === selected || edge.to === selected) && !(critical && edge.kind === "critical")).map((edge) => pathOf(edge, boxes)).join(""), [graph.edges, boxes, selected, critical]);
  const thick = graph.edges.filter((edge) => edge.count > 8);
  return (
    <ViewportPortal>
      <svg className="edges" width={graph.size.width} height={graph.size.height} aria-hidden="true">
        {(["met", "unmet", "missing", "thick"] as Kind[]).map((kind) => paths[kind] && <path key={kind} className={kind} d={paths[kind]} />)}
        {chosen && <path className="chosen" d={chosen} />}
        {paths.critical && <path className="critical" d={paths.critical} />}
        {thick.map((edge) => <Counted key={`${edge.from} ${edge.to}`} edge={edge} boxes={boxes} />)}
        {graph.edges.filter((edge) => edge.fromKind === "missing").map((edge) => <Missing key={`${edge.from} ${edge.to}`} edge={edge} boxes={boxes} />)}
      </svg>
    </ViewportPortal>
  );
});

function places(graph: Graph) {
  const boxes = new Map<string, Box>(graph.nodes.map((node) => [node.id, node]));
  for (const stack of graph.stacks) boxes.set(stack.key, stack);
  return boxes;
}

function drawn(edges: Edge[], boxes: Map<string, Box>, critical: boolean) {
  const paths: Partial<Record<Kind, string>> = {};
  for (const edge of edges) {
    const kind: Kind = edge.count > 8 ? "thick" : edge.kind === "critical" && !critical ? "unmet" : edge.kind;
    paths[kind] = (paths[kind] ?? "") + pathOf(edge, boxes);
  }
  return paths;
}

/** From the right middle of one to the left middle of the other; from nowhere a stub of 40 px. */
function pathOf(edge: Edge, boxes: Map<string, Box>) {
  const to = boxes.get(edge.to);
  if (!to) return "";
  const x2 = to.x;
  const y2 = to.y + to.height / 2;
  const from = edge.fromKind === "missing" ? undefined : boxes.get(edge.from);
  if (!from) return `M${x2 - 40} ${y2}H${x2}`;
  const x1 = from.x + from.width;
  const y1 = from.y + from.height / 2;
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function Counted({ edge, boxes }: { edge: Edge; boxes: Map<string, Box> }) {
  const from = boxes.get(edge.from);
  const to = boxes.get(edge.to);
  if (!from || !to) return null;
  return <text x={(from.x + from.width + to.x) / 2} y={(from.y + to.y + to.height) / 2 - 4}>{edge.count}</text>;
}

function Missing({ edge, boxes }: { edge: Edge; boxes: Map<string, Box> }) {
  const to = boxes.get(edge.to);
  return to ? <text className="missing" x={to.x} y={to.y - 5}>{edge.kind === "missing" ? "missing: " : "outside: "}{edge.from}</text> : null;
}
