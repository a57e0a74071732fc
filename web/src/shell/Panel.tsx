// The detail of a selection beside the list: resizable, remembered, closed with Esc.
import { useEffect, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Link } from "wouter";
import { navigate, withQuery } from "../router/location";
import { PANEL, setPanelWidth, useSettings } from "./settings";

export function Split({ children, panel }: { children: ReactNode; panel?: ReactNode }) {
  const width = useSettings((settings) => settings.panelWidth);
  return (
    <div className={panel ? "split open" : "split"} style={{ "--panel-width": `${width}px` } as React.CSSProperties}>
      {children}
      {panel}
    </div>
  );
}

/** Closes the panel that is open. */
let close: (() => void) | null = null;
/** The panel that was closed last with its key: its page, and what opens it in the query part of the address. */
let closed: { pathname: string; query: Record<string, string> } | null = null;

/** Closes the panel, or opens it again where that was on this page. */
export function togglePanel() {
  const { pathname, search } = window.location;
  if (close) {
    close();
    const left = new URLSearchParams(window.location.search);
    const gone = [...new URLSearchParams(search)].filter(([name]) => !left.has(name));
    closed = { pathname, query: Object.fromEntries(gone) };
  } else if (closed?.pathname === pathname) navigate(withQuery(closed.query));
}

interface Props {
  /** The name of the landmark: "Task T118". */
  label: string;
  title: string;
  /** Small line over the title. */
  above?: ReactNode;
  /** The page with the same content. */
  href?: string;
  onClose: () => void;
  children: ReactNode;
}

export function Panel({ label, title, above, href, onClose, children }: Props) {
  useEffect(() => {
    close = onClose;
    return () => {
      if (close === onClose) close = null;
    };
  }, [onClose]);
  return (
    <aside className="panel" aria-label={label}>
      <Handle />
      <header>
        <div className="row">
          <div className="row grow wrap">{above}</div>
          {href && (
            <Link className="button ghost square small" href={href} aria-label="Open as a page" title="Open as a page">
              <Icon name="open" />
            </Link>
          )}
          <Button look="ghost" small icon="close" aria-label="Close" onClick={onClose} />
        </div>
        <h2>{title}</h2>
      </header>
      {children}
    </aside>
  );
}

function Handle() {
  const width = useSettings((settings) => settings.panelWidth);
  function drag(event: PointerEvent<HTMLDivElement>) {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    setPanelWidth(window.innerWidth - event.clientX);
  }
  function key(event: KeyboardEvent) {
    const step = { ArrowLeft: 16, ArrowRight: -16 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setPanelWidth(width + step);
  }
  return (
    <div
      className="handle desk-only"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuemin={PANEL.least}
      aria-valuemax={PANEL.most}
      aria-valuenow={width}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={key}
    />
  );
}
