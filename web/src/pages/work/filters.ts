// The filters of the work are in its address: epic, states, words.
import { useMemo } from "react";
import { usePlace } from "../../router";
import { phone } from "../../parts/screen";
import { STATES, type State } from "../../parts/StatusGlyph";
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { touchesTask, touchesWork, type Graph, type TaskPage } from "../../api/types";

export type ViewName = "graph" | "list" | "epics";

export interface Filters {
  epic: string | null;
  states: State[];
  q: string;
  view: ViewName;
  task: string | null;
}

export function useFilters(): Filters {
  const { query } = usePlace();
  return useMemo(() => {
    const given = new Set<string>((query.get("status") ?? "").split(",").map((word) => word.trim()));
    const [states, q] = [STATES.filter((state) => given.has(state)), query.get("q") ?? ""];
    return { epic: query.get("epic"), states, q, view: viewOf(query.get("view"), states.length > 0 || q !== ""), task: query.get("task") };
  }, [query]);
}

function viewOf(word: string | null, isFiltered: boolean): ViewName {
  if (word === "list" || word === "epics" || (word === "graph" && !isFiltered)) return word;
  return phone.matches || isFiltered ? "list" : "graph";
}

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

export function useTask(id: string) {
  const mine = touchesTask(id);
  return useResource<TaskPage>(`/api/work/tasks/${encodeURIComponent(id)}`, { on: (event) => mine(event) || touchesWork(event) });
}
