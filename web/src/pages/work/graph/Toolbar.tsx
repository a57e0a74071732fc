import { useReactFlow, useStore } from "@xyflow/react";
import type { Graph } from "../../../api/work";
import { Button } from "../../../parts/Button";
import { useQuery } from "../../../router/location";

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

/** The whole graph where that is possible at 10 %, else its beginning. */
export function fit(flow: ReturnType<typeof useReactFlow>, graph: Graph) {
  const canvas = document.querySelector(".graph-pane .canvas");
  if (!canvas) return;
  const { clientWidth, clientHeight } = canvas;
  const { width, height } = graph.size;
  const zoom = Math.min(1, Math.max(0.1, Math.min((clientWidth - 32) / width, (clientHeight - 96) / height)));
  const x = Math.max(16, (clientWidth - width * zoom) / 2);
  void flow.setViewport({ x, y: 32, zoom }, { duration: 160 });
}
