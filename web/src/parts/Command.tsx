import { Button } from "./Button";
import { copy } from "./copy";

/** A line for a shell that does the same as the page, ready to be copied. */
export function Command({ line }: { line: string }) {
  return (
    <div className="command">
      <code tabIndex={0}>{line}</code>
      <Button look="ghost" small icon="copy" aria-label={`Copy the command ${line}`} title="Copy" onClick={() => copy(line, "command")} />
    </div>
  );
}
