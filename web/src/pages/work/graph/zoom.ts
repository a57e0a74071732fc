import { useStore } from "@xyflow/react";

/** How far the graph can be zoomed. */
export const ZOOM = { least: 0.1, most: 2 };

export type ZoomLevel = "card" | "title" | "block";

/** What a card still shows: everything from 75 %, its title from 40 %, below that only its state. */
export function useZoomLevel(): ZoomLevel {
  return useStore((state) => {
    const zoom = state.transform[2];
    return zoom >= 0.75 ? "card" : zoom >= 0.4 ? "title" : "block";
  });
}
