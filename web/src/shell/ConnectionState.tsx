import { useConnection, type Line } from "../api/connection";
import { useStatus } from "../api/status";
import { timeOfDay } from "../format/time";

const WORDS: Record<Line, string> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  polling: "Polling every 2 s",
};

export function ConnectionState({ folded }: { folded: boolean }) {
  const line = useConnection((connection) => connection.line);
  const status = useStatus();
  const words = line === "live" && status ? `Live, ${status.address}` : WORDS[line];
  return (
    <span className="row grow" title={folded ? words : status && `cleo ${status.version}, as ${status.user}`}>
      <i className={line === "live" ? "dot" : "dot off"} />
      <span className={folded ? "unseen" : "ell"}>{words}</span>
    </span>
  );
}

/** One line over the page when requests get no answer at all. */
export function GoneNotice() {
  const { reachable, heard } = useConnection();
  if (reachable) return null;
  return (
    <div className="notice bad" role="status">
      cleo is not answering. Last data {timeOfDay(heard)}.
    </div>
  );
}
