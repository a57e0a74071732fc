// Empty, error and loading: one sentence and one action each.
import type { ReactNode } from "react";
import type { Failure } from "../api/failure";
import { useSlow, type Resource } from "../api/resource";
import { Button } from "./Button";
import { told } from "./told";
import { Command } from "./Command";
import { Digest } from "../format";

export function Empty({ children, command, action }: { children: ReactNode; command?: string; action?: ReactNode }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {command && <Command line={command} />}
      {action}
    </div>
  );
}

export function Trouble({ failure, retry }: { failure: Failure; retry?: (() => void) | undefined }) {
  return (
    <div className="trouble" role="alert">
      <p>{sentence(failure.message)}</p>
      {failure.fix && <Command line={failure.fix} />}
      <div className="row">
        {retry && <Button small icon="again" onClick={retry}>Retry</Button>}
        {failure.request && <span className="small muted">Request <Digest value={failure.request} /></span>}
      </div>
    </div>
  );
}

/** Rows of the real height, after 300 ms, so that a fast answer shows none. */
export function Ghost({ rows = 6 }: { rows?: number }) {
  const slow = useSlow(true);
  // Not seen yet, but there: whoever waits for the page can wait for it to go.
  if (!slow) return <div className="ghost" hidden />;
  return (
    <div className="ghost" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} className={`w${i % 4}`} />
      ))}
    </div>
  );
}

/** Shows what a resource holds, or why it holds nothing yet. */
export function Loaded<T>({ of, rows, children }: { of: Resource<T>; rows?: number; children: (data: T) => ReactNode }) {
  if (of.data !== undefined) return children(of.data);
  if (of.failure) return <Trouble failure={of.failure} retry={of.reload} />;
  return <Ghost {...(rows === undefined ? {} : { rows })} />;
}

/** The server's sentences begin small and end without a full stop; a page's do not. */
export function sentence(said: string) {
  const text = told(said).words;
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?:]$/.test(first) ? first : first + ".";
}
