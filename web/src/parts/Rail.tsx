import type { ReactNode } from "react";
import { Link } from "wouter";
import { StatusGlyph } from "./StatusGlyph";
import type { State } from "./state";

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
        {glyph && <StatusGlyph state={glyph} label="" />}
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
