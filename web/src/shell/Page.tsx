// A page: top bar with the breadcrumbs and the h1, rail, body. Everything else is the page's own.
import { useEffect, type ReactNode } from "react";
import { Id } from "../format";
import { Link } from "wouter";
import { GoneNotice } from "./ConnectionState";

interface Props {
  title: string;
  /** Stands before the title, as T118 does. */
  id?: string | undefined;
  crumbs?: { label: string; href: string }[];
  /** Views, filter, and at most one primary button. */
  actions?: ReactNode;
  rail?: ReactNode;
  children: ReactNode;
}

export function Page({ title, id, crumbs = [], actions, rail, children }: Props) {
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
            {crumbs.map((crumb) => (
              <Crumb key={crumb.href} {...crumb} />
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

function Crumb({ label, href }: { label: string; href: string }) {
  return (
    <>
      <Link className="far" href={href}>
        {label}
      </Link>
      <span className="slash far" aria-hidden="true">
        /
      </span>
    </>
  );
}
