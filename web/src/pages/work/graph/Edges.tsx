// Only edges that cross what is seen are drawn, and long ones without dashes: dashes are dear to paint.
import { useStore, ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import type { Box, Edge, Graph } from "../../../api/types";

type Kind = "met" | "unmet" | "far" | "critical" | "missing" | "thick";

const ORDER: Kind[] = ["met", "far", "unmet", "missing", "thick"];
const FAR = 1200;

export const Edges = memo(function Edges({ graph, selected, kin, critical }: { graph: Graph; selected: string | null; kin: ReadonlySet<string> | null; critical: boolean }) {
  const boxes = useMemo(() => places(graph), [graph]);
  const seen = useSeen();
  const edges = useMemo(() => graph.edges.filter((edge) => crosses(edge, boxes, seen)), [graph.edges, boxes, seen]);
  const paths = useMemo(() => drawn(edges, boxes, critical), [edges, boxes, critical]);
  const chosen = useMemo(() => {
    const isIts = (edge: Edge) => (kin ? kin.has(edge.from) && kin.has(edge.to) : selected !== null && (edge.from === selected || edge.to === selected));
    return edges
      .filter((edge) => isIts(edge) && (kin !== null || !(critical && edge.kind === "critical")))
      .map((edge) => pathOf(edge, boxes))
      .join("");
  }, [edges, boxes, selected, kin, critical]);
  const thick = edges.filter((edge) => edge.count > 8);
  return (
    <ViewportPortal>
      <svg className="edges" width={graph.size.width} height={graph.size.height} aria-hidden="true">
        {ORDER.map((kind) => paths[kind]?.map(([key, d]) => <path key={key} className={kind} d={d} />))}
        {chosen && <path className="chosen" d={chosen} />}
        {paths.critical?.map(([key, d]) => (
          <path key={key} className="critical" d={d} />
        ))}
        {thick.map((edge) => (
          <Counted key={`${edge.from} ${edge.to}`} edge={edge} boxes={boxes} />
        ))}
        {edges
          .filter((edge) => edge.fromKind === "missing")
          .map((edge) => (
            <Missing key={`${edge.from} ${edge.to}`} edge={edge} boxes={boxes} />
          ))}
      </svg>
    </ViewportPortal>
  );
});

const GRID = 400;

/** What is seen of the graph, in its own coordinates and in coarse steps, so that it seldom changes. */
function useSeen(): Box {
  const text = useStore((state) => {
    const [x, y, zoom] = state.transform;
    const left = Math.floor(-x / zoom / GRID) - 1;
    const top = Math.floor(-y / zoom / GRID) - 1;
    const right = Math.ceil((state.width - x) / zoom / GRID) + 1;
    const bottom = Math.ceil((state.height - y) / zoom / GRID) + 1;
    return [left, top, right - left, bottom - top].join(" ");
  });
  return useMemo(() => {
    const [x = 0, y = 0, width = 0, height = 0] = text.split(" ").map((n) => Number(n) * GRID);
    return { x, y, width, height };
  }, [text]);
}

function crosses(edge: Edge, boxes: Map<string, Box>, seen: Box) {
  const to = boxes.get(edge.to);
  const from = boxes.get(edge.from) ?? to;
  if (!to || !from) return false;
  const x1 = Math.min(from.x, to.x - 40);
  const x2 = Math.max(from.x + from.width, to.x);
  const y1 = Math.min(from.y, to.y);
  const y2 = Math.max(from.y + from.height, to.y + to.height);
  return x1 < seen.x + seen.width && x2 > seen.x && y1 < seen.y + seen.height && y2 > seen.y;
}

function places(graph: Graph) {
  const boxes = new Map<string, Box>(graph.nodes.map((node) => [node.id, node]));
  for (const stack of graph.stacks) boxes.set(stack.key, stack);
  return boxes;
}

function drawn(edges: Edge[], boxes: Map<string, Box>, critical: boolean) {
  const paths: Partial<Record<Kind, [string, string][]>> = {};
  for (const edge of edges) {
    const kind = kindOf(edge, boxes, critical);
    paths[kind] ??= [];
    paths[kind].push([`${edge.from} ${edge.to}`, pathOf(edge, boxes)]);
  }
  return paths;
}

function kindOf(edge: Edge, boxes: Map<string, Box>, critical: boolean): Kind {
  if (edge.count > 8) return "thick";
  const kind = edge.kind === "critical" && !critical ? "unmet" : edge.kind;
  if (kind !== "unmet") return kind;
  const from = boxes.get(edge.from);
  const to = boxes.get(edge.to);
  return from && to && Math.abs(to.x - from.x) + Math.abs(to.y - from.y) > FAR ? "far" : "unmet";
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
  return (
    <text x={(from.x + from.width + to.x) / 2} y={(from.y + to.y + to.height) / 2 - 4}>
      {edge.count}
    </text>
  );
}

function Missing({ edge, boxes }: { edge: Edge; boxes: Map<string, Box> }) {
  const to = boxes.get(edge.to);
  return to ? (
    <text className="missing" x={to.x} y={to.y - 5}>
      {edge.kind === "missing" ? "missing: " : "outside: "}
      {edge.from}
    </text>
  ) : null;
}
