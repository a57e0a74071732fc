import { Component, type ReactNode } from "react";
import { Button } from "../parts/Button";
import { Page } from "./Page";

/** A fault in a page takes only that page with it. */
export class Broken extends Component<{ children: ReactNode }, { fault: Error | null }> {
  override state: { fault: Error | null } = { fault: null };

  static getDerivedStateFromError(fault: unknown) {
    return { fault: fault instanceof Error ? fault : new Error(String(fault)) };
  }

  override render() {
    if (!this.state.fault) return this.props.children;
    return (
      <Page title="This page cannot be shown">
        <div className="trouble" role="alert">
          <p>A fault in the page itself: {this.state.fault.message}</p>
          <div className="row"><Button icon="again" onClick={() => window.location.reload()}>Load it again</Button></div>
        </div>
      </Page>
    );
  }
}
