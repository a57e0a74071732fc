// A page: top bar with the breadcrumbs and the h1, rail, body. Everything else is the page's own.
import { useEffect, type ReactNode, Component, useRef, type KeyboardEvent, type PointerEvent, Fragment } from "react";
import { Id, visible } from "../format";
import { GoneNotice } from "./Sidebar";
import { unanswered, useConnection } from "../api/request";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { navigate, withQuery, Link, TextLink } from "../router";
import { PANEL, choose, clamped, useSettings } from "./settings";
import { Absent, Empty } from "../parts/States";

interface PageProps {
  title: string;
  /** Text before the title, such as T118. */
  id?: string | undefined;
  crumbs?: { label: string; href: string }[];
  /** Views, filter, and at most one primary button. */
  actions?: ReactNode;
  rail?: ReactNode;
  children: ReactNode;
}

export function Page({ title: given, id, crumbs = [], actions, rail, children }: PageProps) {
  const title = visible(given);
  useEffect(() => {
    const words = [id ? `${id} ${title}` : title, ...crumbs.map((crumb) => crumb.label).reverse(), "cleo"];
    document.title = words.join(" · ");
  });
  return (
    <main className="page" id="main" tabIndex={-1}>
      <div className="bar">
        <GoneNotice />
        <header className="top">
          <div className="crumbs">
            {crumbs.map(({ label, href }) => (
              <Fragment key={href}>
                <Link className="far" href={href}>
                  {label}
                </Link>
                <span className="slash far" aria-hidden="true">
                  /
                </span>
              </Fragment>
            ))}
            {id && <Id value={id} className={id.length > 10 ? "far" : ""} />}
            <h1 title={title}>{title}</h1>
          </div>
          <div className="actions">{actions}</div>
        </header>
      </div>
      {rail}
      <div className="body">{children}</div>
    </main>
  );
}

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
  const isUp = useConnection((connection) => connection.line === "live" && connection.reachable);
  const first = useRef(isUp);
  useEffect(() => {
    if (isUp && !first.current) window.location.reload();
    first.current &&= isUp;
  }, [isUp]);
  return <p>This page could not be fetched, because cleo is not answering. It comes when cleo is back.</p>;
}

export function Split({ children, panel }: { children: ReactNode; panel?: ReactNode }) {
  const width = useSettings((settings) => settings.panelWidth);
  return (
    <div className={panel ? "split open" : "split"} style={{ "--panel-width": `${width}px` } as React.CSSProperties}>
      {children}
      {panel}
    </div>
  );
}

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

interface PanelProps {
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

export function Panel({ label, title, above, href, onClose, children }: PanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // What had the focus is gone, such as the form that made this.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
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
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
      </header>
      {children}
    </aside>
  );
}

function Handle() {
  const width = useSettings((settings) => settings.panelWidth);
  function drag(event: PointerEvent<HTMLDivElement>) {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    choose({ panelWidth: clamped(window.innerWidth - event.clientX) });
  }
  function key(event: KeyboardEvent) {
    const step = { ArrowLeft: 16, ArrowRight: -16 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose({ panelWidth: clamped(width + step) });
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

export function NotFound({ path }: { path: string }) {
  return (
    <Page title="No such page">
      <Empty action={<TextLink href="/work">Go to the work</TextLink>}>
        There is no page <span className="mono">{path}</span>.
      </Empty>
    </Page>
  );
}

/** A thing that is not in this workspace, with the way back. */
export function Unknown({ id, crumb }: { id: string; crumb: { label: string; href: string } }) {
  return (
    <Page title={id} crumbs={[crumb]}>
      <Absent id={id} back={<TextLink href={crumb.href}>Back to {crumb.label.toLowerCase()}</TextLink>} />
    </Page>
  );
}
