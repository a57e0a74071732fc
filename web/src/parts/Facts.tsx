import type { ReactNode } from "react";
import { Button, Code } from "./Button";
import { copy } from "./toasts";
import { StatusGlyph, STATE_WORDS, type State } from "./StatusGlyph";
import type { TaskPage } from "../api/types";
import { Link } from "../router";

/** A part of a page under a heading of its own. */
export function Section({ title, aside, children }: { title: ReactNode; aside?: ReactNode; children: ReactNode }) {
  return (
    <div className="section">
      <h3>
        {title}
        {aside !== undefined && (
          <>
            {" "}
            <span className="aside">{aside}</span>
          </>
        )}
      </h3>
      {children}
    </div>
  );
}

interface TermProps {
  name: ReactNode;
  className?: string;
  value?: ReactNode;
  /** The value, in the font of ids. */
  mono?: ReactNode;
  children?: ReactNode;
}

/** A line of a list of facts; none where there is no value. */
export function Term({ name, value, mono, className = mono === undefined ? "" : "mono", children = value ?? mono }: TermProps) {
  if (children === null || children === undefined || children === "" || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className={className}>{children}</dd>
    </>
  );
}

/** Texts, one under the other. */
export function Lines({ of, className = "plain", look = "text" }: { of: readonly string[]; className?: string; look?: string }) {
  const items = of.map((line) => (
    <li key={line} className={look}>
      {line}
    </li>
  ));
  return <ul className={className}>{items}</ul>;
}

/** A long text under what it is, ready to be copied. */
export function Copied({ title, what, text, children = <Code>{text}</Code> }: { title: ReactNode; what: string; text: string; children?: ReactNode }) {
  const button = (
    <Button small icon="copy" onClick={() => copy(text, what)}>
      Copy
    </Button>
  );
  return (
    <Section title={title} aside={button}>
      {children}
    </Section>
  );
}

/** Three to seven facts about what the page shows. On a phone it scrolls sideways. */
export function Rail({ children, label = "Summary" }: { children: ReactNode; label?: string }) {
  return (
    <div className="rail" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

interface FactProps {
  label: string;
  /** `undefined` while it is not known yet: a dash. */
  value: ReactNode;
  unit?: ReactNode;
  glyph?: State | undefined;
  /** Where the number comes from. */
  title?: string | undefined;
  /** The list or filter behind the number. */
  href?: string | undefined;
  wide?: boolean;
}

export function Fact({ label, value, unit, glyph, title, href, wide }: FactProps) {
  const inside = (
    <>
      <div className="key">{label}</div>
      <div className="value">
        {glyph && <StatusGlyph state={glyph} label="" still />}
        {value ?? <span className="muted">–</span>}
        {unit !== undefined && value !== undefined && <small>{unit}</small>}
      </div>
    </>
  );
  const about = { className: wide ? "wide" : "", title, children: inside };
  return href === undefined ? <div {...about} /> : <Link {...about} href={href} replace />;
}

/** Where a task stands; what is done but was not verified says so, and what an agent works on. */
export function StateFact({ label, page, href }: { label: string; page: TaskPage | undefined; href?: string }) {
  const claimed = page?.state === "done" && !page.verified;
  return (
    <Fact label={label} glyph={claimed ? undefined : page?.state} value={page && STATE_WORDS[page.state]} unit={claimed ? "not verified" : page?.live ? "agent at work" : undefined} href={href} />
  );
}

/** The head of a table: the names of its columns, each with its look where it has one. */
export function TableHead({ columns, className = "" }: { columns: readonly (string | [name: string, look: string])[]; className?: string }) {
  return (
    <thead className={className}>
      <tr>
        {columns.map((column, at) => {
          const [name, look = ""] = typeof column === "string" ? [column] : column;
          return (
            <th key={at} scope="col" className={look === "unseen" ? "" : look}>
              {look === "unseen" ? <span className="unseen">{name}</span> : name}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
