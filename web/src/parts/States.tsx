// Empty, error and loading: one sentence and one action each.
import { useEffect, useState, type ReactNode } from "react";
import { useConnection, type Failure } from "../api/request";
import type { Resource } from "../api/resource";
import { Button, Command } from "./Button";
import { Digest, capital } from "../format";
import { TextLink } from "../router";

export function Empty({ children, command, action }: { children: ReactNode; command?: string; action?: ReactNode }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {command && <Command line={command} />}
      {action}
    </div>
  );
}

/** What a filter leaves when it leaves nothing, and the way to all. */
export function NoneFits({ what, all }: { what: string; all: string }) {
  return (
    <Empty
      action={
        <TextLink href={all} replace>
          Show all {what}s
        </TextLink>
      }
    >
      No {what} fits this filter.
    </Empty>
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

/** What the server refused, over what it is about, until it is closed. */
export function Refusal({ failure, children = failure && sentence(failure.message), onClose }: { failure: Failure | null; children?: ReactNode; onClose: () => void }) {
  const { reachable } = useConnection();
  // That cleo did not answer is over once it answers again.
  if (!children || (failure?.status === 0 && reachable)) return null;
  return (
    <div className="notice bad refusal" role="alert">
      <div className="grow">{children}</div>
      {failure?.fix && <Command line={failure.fix} />}
      <Button look="ghost" small icon="close" aria-label="Close the message" onClick={onClose} />
    </div>
  );
}

/** Rows of the real height, after 300 ms, so that a fast answer shows none. */
export function Ghost({ rows = 6 }: { rows?: number }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 300);
    return () => clearTimeout(timer);
  }, []);
  // Not seen yet, but there: whoever waits for the page can wait for it to go.
  if (!slow) return <div className="ghost" hidden />;
  return (
    <div className="ghost" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <i key={i} />
      ))}
    </div>
  );
}

/** The page for an address that does not exist, with the way back. */
export function Absent({ id, back }: { id: string; back: ReactNode }) {
  return (
    <Empty action={back}>
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

/** What cleo said, apart: the sentence without its code, its kind as words, and the command that it ends with. */
export function told(text: string): { words: string; command: string | null } {
  const bare = text
    .replace(/^E_[A-Z_]+: /, "")
    .replace(/^[a-z]+_[a-z_]+(?=: )/, (kind) => kind.replace(/_/g, " "))
    .replace(/^T\d+ was spawned and does not verify: /, "");
  // The last lines of a failed command may follow.
  const found = /^(.*?)\s*\(`([^`]+)`\)\.?(\n.*)?$/s.exec(bare);
  return found ? { words: `${found[1] ?? bare}${found[3] ?? ""}`, command: found[2] ?? null } : { words: bare, command: null };
}

/** What stands between backticks, as a page quotes. */
export function quoted(text: string) {
  return text.replace(/`([^`]+)`/g, "“$1”");
}

/** The server's sentences begin small and end without a full stop; a page's do not. */
export function sentence(said: string) {
  const first = capital(quoted(told(said).words));
  return /[.?:]$/.test(first) ? first : first + ".";
}
