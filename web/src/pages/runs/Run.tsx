// One run: what happened when, what was said, and what cleo found.
import { lazy, Suspense } from "react";
import { isLive, touchesRun, type RunPage } from "../../api/runs";
import { useResource } from "../../api/resource";
import { Loaded } from "../../parts/States";
import { Page } from "../../shell/Page";
import { usePlace } from "../../router/location";
import type { ViewProps } from "../../routes";
import { Unknown } from "../NotFound";
import { Execution } from "./Execution";
import { RunActions } from "./RunActions";
import { RunRail } from "./RunRail";
import { RunNotice } from "./RunNotice";
import { TaskRun } from "./TaskRun";
import "./runs.css";

const RunCompare = lazy(() => import("./RunCompare"));

const CRUMB = { label: "Runs", href: "/runs" };

export default function Run({ params }: ViewProps) {
  const id = params["id"] ?? "";
  return <One key={id} id={id} />;
}

function One({ id }: { id: string }) {
  const run = useResource<RunPage>(`/api/runs/${encodeURIComponent(id)}`, { on: touchesRun(id) });
  const data = run.data;
  const other = usePlace().query.get("compare");
  if (run.failure?.status === 404) return <Unknown id={id} crumb={CRUMB} />;
  return (
    <Page title={data?.run.title ?? id} id={id} crumbs={[CRUMB]} actions={data && <RunActions run={data.run} />} rail={<RunRail page={data} />}>
      <div className="pane run-pane">
        {data && <RunNotice run={data.run} />}
        <Loaded of={run} rows={10}>
          {(page) => {
            if (other !== null && page.tasks.length > 0)
              return (
                <Suspense fallback={null}>
                  <RunCompare key={other} page={page} other={other} />
                </Suspense>
              );
            return page.tasks.length > 0 ? <TaskRun page={page} live={isLive(page.run.status)} /> : <Execution page={page} />;
          }}
        </Loaded>
      </div>
    </Page>
  );
}
