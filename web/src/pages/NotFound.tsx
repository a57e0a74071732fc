import { Absent, Empty } from "../parts/States";
import { Link } from "wouter";
import { Page } from "../shell/Page";

export function NotFound({ path }: { path: string }) {
  return (
    <Page title="No such page">
      <Empty
        action={
          <Link className="link" href="/work">
            Go to the work
          </Link>
        }
      >
        There is no page <span className="mono">{path}</span>.
      </Empty>
    </Page>
  );
}

/** A thing that is not in this workspace, with the way back. */
export function Unknown({ id, crumb }: { id: string; crumb: { label: string; href: string } }) {
  return (
    <Page title={id} crumbs={[crumb]}>
      <Absent id={id}>
        <Link className="link" href={crumb.href}>
          Back to {crumb.label.toLowerCase()}
        </Link>
      </Absent>
    </Page>
  );
}
