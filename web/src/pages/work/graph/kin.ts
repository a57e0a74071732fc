// While Alt is held, the selected task stands out with all that it waits for and all that waits for it.
import { useEffect, useMemo, useState } from "react";
import type { Edge, Graph } from "../../../api/types";

type Line = Pick<Edge, "from" | "to" | "fromKind" | "toKind">;

export function useKin(graph: Graph, selected: string | null): ReadonlySet<string> | null {
  const held = useAlt();
  return useMemo(() => (held && selected !== null ? kinOf(graph.edges, selected) : null), [graph.edges, selected, held]);
}

/** A task with its ancestors and its descendants. */
export function kinOf(edges: readonly Line[], id: string): ReadonlySet<string> {
  return new Set([...reached(edges, id, "to", "from"), ...reached(edges, id, "from", "to")]);
}

function reached(edges: readonly Line[], id: string, here: "from" | "to", there: "from" | "to"): Set<string> {
  const lines = new Map<string, string[]>();
  for (const edge of edges) {
    // Of what is folded together, the task that waits need not be the one that is waited for.
    if (edge[`${here}Kind` as const] === "stack") continue;
    const known = lines.get(edge[here]);
    if (known) known.push(edge[there]);
    else lines.set(edge[here], [edge[there]]);
  }
  const found = new Set([id]);
  // Iterating a set includes items that are added meanwhile.
  for (const one of found) lines.get(one)?.forEach((next) => found.add(next));
  return found;
}

function useAlt() {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    const follow = (event: KeyboardEvent) => setHeld(event.altKey);
    const listening = new AbortController();
    window.addEventListener("keydown", follow, listening);
    window.addEventListener("keyup", follow, listening);
    window.addEventListener("blur", () => setHeld(false), listening);
    return () => listening.abort();
  }, []);
  return held;
}
