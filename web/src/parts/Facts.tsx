import type { ReactNode } from "react";
import { StatusGlyph, type State } from "./StatusGlyph";
import { Link } from "../router";

interface SectionProps {
  title: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Section({ title, aside, children }: SectionProps) {
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
  /** The value, in the font of ids. */
  mono?: ReactNode;
  children?: ReactNode;
}

/** A line of a list of facts; none where there is no value. */
export function Term({ name, mono, className = mono === undefined ? "" : "mono", children = mono }: TermProps) {
  if (children === null || children === undefined || children === "" || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className={className}>{children}</dd>
    </>
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
  const look = wide ? "wide" : "";
  if (href === undefined)
    return (
      <div className={look} title={title}>
        {inside}
      </div>
    );
  return (
    <Link className={look} href={href} title={title} replace>
      {inside}
    </Link>
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
