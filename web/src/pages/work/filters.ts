// The filters of the work are in its address: epic, states, words.
import { useMemo } from "react";
import { usePlace } from "../../router/location";
import { phone } from "../../parts/screen";
import { STATES, type State } from "../../parts/state";

export type ViewName = "graph" | "list" | "board";

export interface Filters {
  epic: string | null;
  states: State[];
  q: string;
  view: ViewName;
  task: string | null;
  tab: string;
}

export function useFilters(): Filters {
  const { query } = usePlace();
  return useMemo(
    () => ({
      epic: query.get("epic"),
      states: statesOf(query.get("status")),
      q: query.get("q") ?? "",
      view: viewOf(query.get("view")),
      task: query.get("task"),
      tab: query.get("tab") ?? "overview",
    }),
    [query],
  );
}

function viewOf(word: string | null): ViewName {
  if (word === "graph" || word === "list" || word === "board") return word;
  return phone.matches ? "list" : "graph";
}

function statesOf(words: string | null): State[] {
  const given = new Set((words ?? "").split(",").map((word) => word.trim()));
  return STATES.filter((state) => given.has(state));
}
