import { path } from "../../../api/request";
import { useResource } from "../../../api/resource";
import { touchesWork, type Graph } from "../../../api/work";
import { usePlace } from "../../../router/location";
import type { Filters } from "../filters";

/** The graph of an epic or of everything, laid out by the server; the browser computes nothing of it. */
export function useGraph(filters: Filters) {
  const { query } = usePlace();
  const address = path("/api/work/graph", {
    epic: filters.epic,
    collapseDone: query.get("done") === "shown" ? "false" : null,
    only: query.get("only") === "ready" ? "ready" : null,
    unfold: query.get("unfold"),
  });
  return useResource<Graph>(address, { on: touchesWork, keep: true });
}
