import { useStatus, AGENTS, isAt, WORK, type Where, openPalette } from "./places";
import { capital, count, timeOfDay } from "../format";
import { usePlace, Link } from "../router";
import { Button } from "../parts/Button";
import { Icon, type IconName } from "../parts/Icon";
import { isMac } from "./keys";
import { choose, THEMES, useSettings, type Theme } from "./settings";
import { Menu } from "../parts/Menu";
import { useConnection, type Line } from "../api/request";

/** Folded when the user or a narrow window says so. */
export function Sidebar({ folded }: { folded: boolean }) {
  const workspace = useStatus()?.workspace;
  return (
    <nav className="side" aria-label="Main">
      <div className="workspace" title={workspace?.root ?? undefined}>
        <Mark />
        <span className="words ell grow">{workspace?.name ?? "cleo"}</span>
        <Button look="ghost" small icon="sidebar" aria-label={folded ? "Unfold the sidebar" : "Fold the sidebar"} aria-expanded={!folded} onClick={() => choose({ folded: !folded })} />
      </div>
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

function Item({ where, folded }: { where: Where; folded: boolean }) {
  const { path } = usePlace();
  return (
    <Link className="nav" title={folded ? where.label : undefined} href={where.href} aria-current={isAt(where.href, path) ? "page" : undefined} aria-label={folded ? where.label : undefined}>
      <Icon name={where.icon} />
      <span className="words">{where.label}</span>
      <Count where={where} />
    </Link>
  );
}

function Count({ where }: { where: Where }) {
  const counts = useStatus()?.counts;
  const reachable = useConnection((connection) => connection.reachable);
  if (!counts) return null;
  if (where.href === "/runs")
    return counts.liveRuns > 0 && reachable ? (
      <span className="count live">
        <i className="dot" />
        {counts.liveRuns} live
      </span>
    ) : null;
  const n = where.count?.(counts);
  return n ? (
    <span className="count" title={where.counted && `${count(n)} ${where.counted}`}>
      {count(n)}
    </span>
  ) : null;
}

const BAR: [href: string, label: string, IconName][] = [
  ["/", "Home", "overview"],
  ["/work", "Work", "work"],
  ["/runs", "Runs", "runs"],
  ["/agents", "Agents", "architecture"],
  ["/agents/chat", "Chat", "chat"],
  ["/more", "More", "menu"],
];

export function PhoneBar() {
  const { path } = usePlace();
  // The longest one that the path begins with.
  const here = BAR.findLast(([href]) => path === href || path.startsWith(`${href}/`))?.[0];
  return (
    <nav className="phone-bar glass" aria-label="Main, phone">
      {BAR.map(([href, label, icon]) => (
        <Link key={href} href={href} aria-current={here === href ? "page" : undefined}>
          <Icon name={icon} />
          {label}
        </Link>
      ))}
    </nav>
  );
}

const ICONS: Record<Theme, IconName> = { system: "screen", light: "sun", dark: "moon" };

function ThemeMenu() {
  const now = useSettings((settings) => settings.theme);
  return (
    <Menu
      label="Theme"
      trigger={<Button look="ghost" small icon={ICONS[now]} aria-label={`Theme: ${now}`} />}
      entries={THEMES.map((theme) => ({ label: capital(theme), checked: theme === now, onSelect: () => choose({ theme }) }))}
    />
  );
}

export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="var(--n12)" />
      <path d="M13.8 6.6A4.7 4.7 0 1 0 13.8 13.4" fill="none" stroke="var(--n1)" strokeWidth="2" />
      <circle cx="14" cy="10" r="1.6" fill="var(--lake8)" />
    </svg>
  );
}

const WORDS: Record<Line, string> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  polling: "Polling every 2 s",
};

function ConnectionState({ folded }: { folded: boolean }) {
  const { line, reachable } = useConnection();
  const status = useStatus();
  const live = line === "live" && reachable;
  const words = !reachable ? "Not answering" : live && status ? `Live, ${status.address}` : WORDS[line];
  return (
    <span className="row grow" title={folded ? words : status && `cleo ${status.version}, as ${status.user}`}>
      <i className={live ? "dot" : "dot off"} />
      <span className={folded ? "unseen" : "ell"}>{words}</span>
    </span>
  );
}

/** One line over the page when requests get no answer at all. */
export function GoneNotice() {
  const { reachable, heard } = useConnection();
  if (reachable) return null;
  return (
    <div className="notice bad" role="status">
      cleo is not answering. Last data {timeOfDay(heard)}.
    </div>
  );
}
