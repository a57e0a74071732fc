// How well the page hears from the server: the words at the foot of the sidebar.
import { create } from "zustand";

export type Line = "connecting" | "live" | "reconnecting" | "polling";

interface Connection {
  line: Line;
  /** Whether the last request was answered at all. */
  reachable: boolean;
  /** When something was last heard, in milliseconds since 1970. */
  heard: number;
}

export const useConnection = create<Connection>()(() => ({ line: "connecting", reachable: true, heard: Date.now() }));

export function answered() {
  const now = Date.now();
  const { reachable, heard } = useConnection.getState();
  if (!reachable || now - heard > 1000) useConnection.setState({ reachable: true, heard: now });
}

export function unanswered() {
  if (useConnection.getState().reachable) useConnection.setState({ reachable: false });
}

export function setLine(line: Line) {
  if (useConnection.getState().line !== line) useConnection.setState({ line });
}
