import type { ReactNode } from "react";
import { path } from "../../api/request";
import { useResource } from "../../api/resource";
import { touchesWork, type Now } from "../../api/types";
import { Duration } from "../../format";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "../../router";
import "./home.css";

/** The agents at work with their last line, what needs a person, and what was delivered today. */
export function usePresent() {
  const since = new Date();
  since.setHours(0, 0, 0, 0);
  return useResource<Now>(path("/api/work/now", { since: since.toISOString() }), { on: (event) => event.kind === "log" || touchesWork(event) });
}

export function Part({ title, of, none, aside, children }: { title: string; of: number; none?: ReactNode; aside?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="home-title">
        {title} <span className="muted">{of}</span> {aside}
      </h2>
      {of === 0 ? <p className="home-none muted">{none}</p> : <ul>{children}</ul>}
    </section>
  );
}

/** An agent at work: in a run, on an execution, or with a claim of its own. */
export function AtWork({ one }: { one: Now["atWork"][number] }) {
  const run = one.run && `/runs/${encodeURIComponent(one.run)}`;
  const href = run ? (one.task ? `${run}?task=${one.task}` : run) : `/work/${one.task}`;
  return (
    <li className="home-row">
      <StatusGlyph state={one.verifying ? "verifying" : "running"} label={one.verifying ? "Verifying" : one.run ? "At work" : "Claimed"} still={one.run === null} />
      <span className="home-what">
        <span className="row">
          <Link className="ell strong" href={href}>
            {one.title}
          </Link>
          {one.task && <span className="mono muted">{one.task}</span>}
        </span>
        <span className="ell mono muted" title={one.line ?? undefined}>
          {one.verifying ? "cleo verifies what it left" : (one.line ?? (one.run ? "Nothing was said yet." : "Claimed outside of runs."))}
        </span>
      </span>
      <span className="home-who small muted">
        <span className="ell">
          {one.agent}
          {one.attempt !== null && one.attempt > 1 && `, attempt ${one.attempt}`}
        </span>
        <Duration since={one.since} />
      </span>
      <Link className="button small" href={href}>
        {one.run ? "Watch" : "Open"}
      </Link>
    </li>
  );
}
