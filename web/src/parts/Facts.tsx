import type { ReactNode } from "react";

interface SectionProps {
  title: ReactNode;
  /** Small beside the title. */
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

/** A line of a list of facts; none where there is no value. */
export function Term({ name, className, children }: { name: ReactNode; className?: string; children: ReactNode }) {
  if (children === null || children === undefined || children === "" || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className={className}>{children}</dd>
    </>
  );
}
