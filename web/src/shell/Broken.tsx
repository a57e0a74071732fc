import { Component, useEffect, useRef, type ReactNode } from "react";
import { unanswered, useConnection } from "../api/connection";
import { Button } from "../parts/Button";
import { Page } from "./Page";

/** A fault in a page takes only that page with it. */
export class Broken extends Component<{ children: ReactNode }, { fault: Error | null }> {
  override state: { fault: Error | null } = { fault: null };

  static getDerivedStateFromError(fault: unknown) {
    return { fault: fault instanceof Error ? fault : new Error(String(fault)) };
  }

  override componentDidCatch(fault: unknown) {
    if (isUnfetched(fault)) unanswered();
  }

  override render() {
    const { fault } = this.state;
    if (!fault) return this.props.children;
    return (
      <Page title="This page cannot be shown">
        <div className="trouble" role="alert">
          {isUnfetched(fault) ? <Unfetched /> : <p>A fault in the page itself: {fault.message}</p>}
          <div className="row">
            <Button icon="again" onClick={() => window.location.reload()}>
              Load it again
            </Button>
          </div>
        </div>
      </Page>
    );
  }
}

/** Each browser has its own words for code that could not be fetched. */
function isUnfetched(fault: unknown) {
  return fault instanceof Error && /dynamically imported module|importing a module script|preload CSS/i.test(fault.message);
}

/** The code of a page comes when the page is opened first. It is asked for again when cleo is back. */
function Unfetched() {
  const line = useConnection((connection) => connection.line);
  const first = useRef(line);
  useEffect(() => {
    if (line === "live" && first.current !== "live") window.location.reload();
  }, [line]);
  return <p>This page could not be fetched, because cleo is not answering. It comes when cleo is back.</p>;
}
