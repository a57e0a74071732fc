/** The lines of hunks with their number: of a removed line that before, of others that after. */
export function linesOf(text: string) {
  let [old, next] = [0, 0];
  // Signs that are not seen, and change what is, are written out.
  const seen = text.replace(/\n$/, "").replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
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

/** What differs, line by line. */
export function Hunks({ lines, label }: { lines: ReturnType<typeof linesOf>; label: string }) {
  return (
    <div className="hunks" tabIndex={0} role="group" aria-label={label}>
      {lines.map((line, at) => (
        <div key={at} className={line.kind}>
          <span aria-hidden="true">{line.number}</span>
          {line.kind === "del" ? <del>{line.text}</del> : line.kind === "ins" ? <ins>{line.text}</ins> : <span>{line.text}</span>}
        </div>
      ))}
    </div>
  );
}
