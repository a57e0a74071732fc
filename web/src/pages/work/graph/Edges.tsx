// Only edges that cross what is seen are drawn, and long ones without dashes: dashes are dear to paint.
import { useStore, ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import type { Box, Edge, Graph } from "../../../api/types";

type Kind = "met" | "unmet" | "far" | "critical" | "missing" | "thick";

const ORDER: Kind[] = ["met", "far", "unmet", "missing", "thick", "critical"];
const FAR = 1200;

interface Ends {
  edge: Edge;
  from: Box;
  to: Box;
  isStub: boolean;
}

export const Edges = memo(function Edges({ graph, selected, kin, critical }: { graph: Graph; selected: string | null; kin: ReadonlySet<string> | null; critical: boolean }) {
  const all = useMemo(() => placed(graph), [graph]);
  const seen = useSeen();
  const edges = useMemo(() => all.filter((ends) => crosses(ends, seen)), [all, seen]);
  const paths = useMemo(() => Map.groupBy(edges, (ends) => kindOf(ends, critical)), [edges, critical]);
  const chosen = useMemo(() => {
    const isIts = (edge: Edge) => (kin ? kin.has(edge.from) && kin.has(edge.to) : selected !== null && (edge.from === selected || edge.to === selected));
    return edges
      .filter(({ edge }) => isIts(edge) && (kin !== null || !(critical && edge.kind === "critical")))
      .map(pathOf)
      .join("");
  }, [edges, selected, kin, critical]);
  return (
    <ViewportPortal>
      <svg className="edges" width={graph.size.width} height={graph.size.height} aria-hidden="true">
        {ORDER.map((kind) => [
          kind === "critical" && chosen && <path key="chosen" className="chosen" d={chosen} />,
          paths.get(kind)?.map((ends) => <path key={keyOf(ends)} className={kind} d={pathOf(ends)} />),
        ])}
        {edges.map((ends) => (
          <Words key={keyOf(ends)} {...ends} />
        ))}
      </svg>
    </ViewportPortal>
  );
});

/** How many edges one stands for, or where one comes from that has no beginning here. */
function Words({ edge, from, to }: Ends) {
  if (edge.fromKind === "missing")
    return (
      <text className="missing" x={to.x} y={to.y - 5}>
        {edge.kind === "missing" ? "missing: " : "outside: "}
        {edge.from}
      </text>
    );
  if (edge.count <= 8) return null;
  return (
    <text x={(from.x + from.width + to.x) / 2} y={(from.y + to.y + to.height) / 2 - 4}>
      {edge.count}
    </text>
  );
}

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

function crosses({ from, to }: Ends, seen: Box) {
  const [x1, y1] = [Math.min(from.x, to.x - 40), Math.min(from.y, to.y)];
  const [x2, y2] = [Math.max(from.x + from.width, to.x), Math.max(from.y + from.height, to.y + to.height)];
  return x1 < seen.x + seen.width && x2 > seen.x && y1 < seen.y + seen.height && y2 > seen.y;
}

/** The edges with their boxes. One that comes from nowhere has only that of its end. */
function placed(graph: Graph): Ends[] {
  const boxes = new Map<string, Box>([...graph.nodes.map((node): [string, Box] => [node.id, node]), ...graph.stacks.map((stack): [string, Box] => [stack.key, stack])]);
  return graph.edges.flatMap((edge) => {
    const to = boxes.get(edge.to);
    const from = edge.fromKind === "missing" ? undefined : boxes.get(edge.from);
    return to ? [{ edge, to, from: from ?? to, isStub: from === undefined }] : [];
  });
}

function keyOf({ edge }: Ends) {
  return `${edge.from} ${edge.to}`;
}

function kindOf({ edge, from, to }: Ends, critical: boolean): Kind {
  if (edge.count > 8) return "thick";
  const kind = edge.kind === "critical" && !critical ? "unmet" : edge.kind;
  return kind === "unmet" && Math.abs(to.x - from.x) + Math.abs(to.y - from.y) > FAR ? "far" : kind;
}

/** From the right middle of one to the left middle of the other; from nowhere a stub of 40 px. */
function pathOf({ from, to, isStub }: Ends) {
  const y2 = to.y + to.height / 2;
  if (isStub) return `M${to.x - 40} ${y2}H${to.x}`;
  const x1 = from.x + from.width;
  const y1 = from.y + from.height / 2;
  const middle = (x1 + to.x) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${to.x} ${y2}`;
}
