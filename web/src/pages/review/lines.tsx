import type { KeyboardEvent } from "react";
import { visible } from "../../format";

/** The lines of hunks with their number: of a removed line that before, of others that after. */
export function linesOf(text: string) {
  let [old, next] = [0, 0];
  const seen = visible(text.replace(/\n$/, ""));
  return (seen === "" ? [] : seen.split("\n")).map((line) => {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      [old, next] = [Number(hunk[1]), Number(hunk[2])];
      return { kind: "hunk", number: "", text: line };
    }
    if (line.startsWith("\\")) return { kind: "hunk", number: "", text: line.slice(2) };
    if (line.startsWith("-")) return { kind: "del", number: String(old++), text: line };
    if (line.startsWith("+")) return { kind: "ins", number: String(next++), text: line };
    old++;
    return { kind: "same", number: String(next++), text: line };
  });
}

/** What differs, line by line. Its numbers begin a comment on their line; arrows go from one to the next. */
export function Hunks({ lines, path, onComment }: { lines: ReturnType<typeof linesOf>; path: string; onComment: (place: string) => void }) {
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const all = [...event.currentTarget.querySelectorAll("button")];
    const next = by && all[all.indexOf(document.activeElement as HTMLButtonElement) + by];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  const placeOf = ({ kind, number }: (typeof lines)[number]) => `${path}:${number}${kind === "del" ? " (removed)" : ""}`;
  return (
    <div className="hunks" tabIndex={0} role="group" aria-label={`Changes of ${path}`} onKeyDown={walk}>
      {lines.map((line, at) => (
        <div key={at} className={line.kind}>
          {line.number === "" ? (
            <span />
          ) : (
            <button type="button" tabIndex={-1} aria-label={`Comment on ${placeOf(line)}`} onClick={() => onComment(placeOf(line))}>
              {line.number}
            </button>
          )}
          {line.kind === "del" ? <del>{line.text}</del> : line.kind === "ins" ? <ins>{line.text}</ins> : <span>{line.text}</span>}
        </div>
      ))}
    </div>
  );
}
