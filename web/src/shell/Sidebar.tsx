import { lazy, Suspense } from "react";
import { useStatus } from "../api/status";
import { count } from "../format/numbers";
import { Link } from "wouter";
import { usePlace } from "../router/location";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { ConnectionState } from "./ConnectionState";
import { isMac } from "./keys";
import { Mark } from "./Mark";
import { AGENTS, isAt, WORK, type Where } from "./places";
import { setFolded } from "./settings";
import { openPalette } from "./palette";
import { ThemeMenu } from "./ThemeMenu";

const Tip = lazy(() => import("../parts/Tip"));

/** Folded when the user or a narrow window says so. */
export function Sidebar({ folded }: { folded: boolean }) {
  return (
    <nav className="side" aria-label="Main">
      <Workspace folded={folded} />
      <button type="button" className="find" onClick={() => openPalette()} aria-label={folded ? "Find or run" : undefined} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span className="words grow">Find or run</span>
        <kbd aria-hidden="true">{isMac ? "⌘K" : "Ctrl K"}</kbd>
      </button>
      {WORK.map((where) => (
        <Item key={where.href} where={where} folded={folded} />
      ))}
      {folded ? <div className="group" /> : <h2>Agents</h2>}
      {AGENTS.map((where) => (
        <Item key={where.href} where={where} folded={folded} />
      ))}
      <div className="foot">
        <ConnectionState folded={folded} />
        <ThemeMenu />
      </div>
    </nav>
  );
}

function Workspace({ folded }: { folded: boolean }) {
  const workspace = useStatus()?.workspace;
  return (
    <div className="workspace" title={workspace?.root ?? undefined}>
      <Mark />
      <span className="words ell grow">{workspace?.name ?? "cleo"}</span>
      <Button look="ghost" small icon="sidebar" aria-label={folded ? "Unfold the sidebar" : "Fold the sidebar"} aria-expanded={!folded} onClick={() => setFolded(!folded)} />
    </div>
  );
}

function Item({ where, folded }: { where: Where; folded: boolean }) {
  const { path } = usePlace();
  const link = (
    <Link className="nav" href={where.href} {...(isAt(where.href, path) ? { "aria-current": "page" as const } : {})} aria-label={folded ? where.label : undefined}>
      <Icon name={where.icon} />
      <span className="words">{where.label}</span>
      <Count where={where} />
    </Link>
  );
  return folded ? (
    <Suspense fallback={link}>
      <Tip text={where.label}>{link}</Tip>
    </Suspense>
  ) : (
    link
  );
}

function Count({ where }: { where: Where }) {
  const counts = useStatus()?.counts;
  if (!counts) return null;
  if (where.href === "/runs") return counts.liveRuns > 0 ? <LiveRuns n={counts.liveRuns} /> : null;
  const n = where.count?.(counts);
  return n ? (
    <span className="count" title={where.counted && `${count(n)} ${where.counted}`}>
      {count(n)}
    </span>
  ) : null;
}

function LiveRuns({ n }: { n: number }) {
  return (
    <span className="count live">
      <i className="dot" />
      {n} live
    </span>
  );
}
