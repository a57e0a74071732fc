/** The lines of hunks with their number: of a removed line that before, of others that after. */
export function linesOf(text: string) {
  let [old, next] = [0, 0];
  return (text === "" ? [] : text.replace(/\n$/, "").split("\n")).map((line) => {
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
