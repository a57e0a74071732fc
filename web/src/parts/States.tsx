// Empty, error and loading: one sentence and one action each.
import type { ReactNode } from "react";
import type { Failure } from "../api/failure";
import { useSlow, type Resource } from "../api/resource";
import { Button } from "./Button";
import { sentence } from "./told";
import { Command } from "./Command";
import { Digest } from "../format";

export { sentence };

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
        {retry && (
          <Button small icon="again" onClick={retry}>
            Retry
          </Button>
        )}
        {failure.request && (
          <span className="small muted">
            Request <Digest value={failure.request} />
          </span>
        )}
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

/** What an address names and nobody knows; the children are the way back. */
export function Absent({ id, children }: { id: string; children: ReactNode }) {
  return (
    <Empty action={children}>
      <span className="mono">{id}</span> does not exist here.
    </Empty>
  );
}

interface LoadedProps<T> {
  of: Resource<T>;
  rows?: number;
  /** Shown in the place of the failure when what was asked for does not exist. */
  absent?: ReactNode;
  children: (data: T) => ReactNode;
}

/** Shows what a resource holds, or why it holds nothing yet. */
export function Loaded<T>({ of, rows, absent, children }: LoadedProps<T>) {
  if (of.data !== undefined) return children(of.data);
  if (absent !== undefined && of.failure?.absent) return absent;
  if (of.failure) return <Trouble failure={of.failure} retry={of.reload} />;
  return <Ghost {...(rows === undefined ? {} : { rows })} />;
}
