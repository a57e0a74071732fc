import { useReactFlow, useStore, type ReactFlowInstance } from "@xyflow/react";
import { useEffect } from "react";
import type { Graph, GraphNode } from "../../../api/types";
import { Button } from "../../../parts/Button";
import { useQuery } from "../../../router";
import { useKeys } from "../../../shell/keys";
import { select } from "../selection";

export function Toolbar({ graph, critical }: { graph: Graph; critical: boolean }) {
  const flow = useReactFlow();
  const zoom = useStore((state) => Math.round(state.transform[2] * 100));
  const [, setCritical] = useQuery("critical");
  const [done, setDone] = useQuery("done");
  const [only, setOnly] = useQuery("only");
  const [unfold, setUnfold] = useQuery("unfold");
  const duration = 160;
  return (
    <div className="graph-tools glass" role="toolbar" aria-label="Graph">
      <Button small look="ghost" icon="minus" aria-label="Zoom out" onClick={() => void flow.zoomOut({ duration })} />
      <button type="button" className="mono" title="Back to 100 %" aria-label={`Zoom ${zoom} %, back to 100 %`} onClick={() => void flow.zoomTo(1, { duration })}>
        {zoom}%
      </button>
      <Button small look="ghost" icon="plus" aria-label="Zoom in" onClick={() => void flow.zoomIn({ duration })} />
      <Button small look="ghost" icon="fit" aria-label="Fit to view" onClick={() => fit(flow, graph)} />
      <i aria-hidden="true" />
      <Button small look="ghost" aria-pressed={critical} onClick={() => setCritical(critical ? "off" : null)}>
        Critical path
      </Button>
      <Button small look="ghost" aria-pressed={done !== "shown"} onClick={() => setDone(done === "shown" ? null : "shown")}>
        Collapse done
      </Button>
      <Button small look="ghost" aria-pressed={only === "ready"} onClick={() => setOnly(only === "ready" ? null : "ready")}>
        Only ready
      </Button>
      {unfold && (
        <Button small look="ghost" onClick={() => setUnfold(null)}>
          Fold again
        </Button>
      )}
    </div>
  );
}

/** Shows the whole graph. */
function fit(flow: ReturnType<typeof useReactFlow>, graph: Graph) {
  const canvas = document.querySelector(".graph-pane .canvas");
  if (!canvas) return;
  const { clientWidth, clientHeight } = canvas;
  const { width, height } = graph.size;
  const zoom = Math.min(1, Math.max(ZOOM.least, Math.min((clientWidth - 32) / width, (clientHeight - 96) / height)));
  const x = Math.max(16, (clientWidth - width * zoom) / 2);
  void flow.setViewport({ x, y: 32, zoom }, { duration: 160 });
}

export function useGraphKeys(graph: Graph, selected: string | null) {
  const flow = useReactFlow();
  const [critical, setCritical] = useQuery("critical");
  const [, setUnfold] = useQuery("unfold");
  const go = (next: (here: GraphNode | undefined) => GraphNode | undefined) => {
    const to = next(startOf(graph, selected));
    if (!to) return;
    select(to.id);
    // The focus stays in the panel.
    if (!document.activeElement?.closest(".panel")) focusCard(to.id);
  };
  useKeys("Graph", [
    { keys: "ArrowLeft", does: "To a dependency", run: () => go((here) => along(graph, here, "from")) },
    { keys: "ArrowRight", does: "To a dependent", run: () => go((here) => along(graph, here, "to")) },
    { keys: "ArrowUp", does: "Up in the wave", run: () => go((here) => within(graph, here, -1)) },
    { keys: "ArrowDown", does: "Down in the wave", run: () => go((here) => within(graph, here, 1)) },
    { keys: "0", does: "Fit to view", run: () => fit(flow, graph) },
    { keys: "+|=", does: "Zoom in", run: () => zoomBy(flow, graph, 1.2) },
    { keys: "-", does: "Zoom out", run: () => zoomBy(flow, graph, 1 / 1.2) },
    { keys: "P", does: "Critical path", run: () => setCritical(critical === "off" ? null : "off") },
    { keys: "Alt", does: "While it is held: all that the task waits for, and all that waits for it", run: () => undefined },
    { keys: "E", does: "Fold what was unfolded", run: () => setUnfold(null) },
  ]);
  useEffect(() => {
    // The focus goes with the selection when it was on a card before.
    if (selected !== null && document.activeElement?.classList.contains("task-node")) focusCard(selected);
  }, [selected]);
}

/** How many frames a card is waited for: what is out of sight is drawn once the view has moved there. */
const FRAMES = 60;

let frame = 0;
let awaited: string | null = null;

function focusCard(id: string, left = FRAMES) {
  cancelAnimationFrame(frame);
  const card = document.getElementById(`node-${id}`);
  awaited = card || left === 0 ? null : id;
  if (card) card.focus({ preventScroll: true });
  else if (left > 0) frame = requestAnimationFrame(() => focusCard(id, left - 1));
}

/** Zooms around the card that has the focus, which then stays where it is seen; else around the middle. */
function zoomBy(flow: ReactFlowInstance, graph: Graph, by: number) {
  const card = graph.nodes.find((node) => node.id === focusedCard());
  if (!card) return void (by > 1 ? flow.zoomIn({ duration: 160 }) : flow.zoomOut({ duration: 160 }));
  const { x, y, zoom } = flow.getViewport();
  const next = Math.min(ZOOM.most, Math.max(ZOOM.least, zoom * by));
  const [middle, height] = [card.x + card.width / 2, card.y + card.height / 2];
  const place = { x: x + middle * (zoom - next), y: y + height * (zoom - next), zoom: next };
  void flow.setViewport(place, { duration: 160, interpolate: "linear" });
}

function focusedCard() {
  return document.activeElement?.closest(".task-node")?.getAttribute("data-task");
}

/** Where a key starts from: the card that has the focus, else the selected one, else the frontier. */
function startOf(graph: Graph, selected: string | null) {
  const of = (id: string | null | undefined) => graph.nodes.find((node) => node.id === id);
  return of(awaited ?? focusedCard()) ?? of(selected) ?? focusOf(graph);
}

export function focusOf(graph: Graph) {
  return graph.nodes.find((node) => node.state === "running" || node.state === "ready") ?? graph.nodes[0];
}

function along(graph: Graph, here: GraphNode | undefined, side: "from" | "to") {
  if (!here) return undefined;
  const ids = new Set(graph.edges.filter((edge) => (side === "from" ? edge.to : edge.from) === here.id).map((edge) => edge[side]));
  return graph.nodes.filter((node) => ids.has(node.id)).sort((a, b) => Math.abs(a.y - here.y) - Math.abs(b.y - here.y))[0];
}

function within(graph: Graph, here: GraphNode | undefined, by: 1 | -1) {
  if (!here) return undefined;
  const wave = graph.nodes.filter((node) => node.wave === here.wave).sort((a, b) => a.x - b.x || a.y - b.y);
  return wave[wave.findIndex((node) => node.id === here.id) + by];
}

/** The least holds the largest graph in a small window. */
export const ZOOM = { least: 0.002, most: 2 };

type ZoomLevel = "card" | "title" | "block";

/** What a card still shows: everything from 75 %, its title from 40 %, below that only its state. */
export function useZoomLevel(): ZoomLevel {
  return useStore((state) => {
    const zoom = state.transform[2];
    return zoom >= 0.75 ? "card" : zoom >= 0.4 ? "title" : "block";
  });
}
