// The logs of up to four agents in columns, of one run or of several.
import { useEffect } from "react";
import { useResource } from "../../api/resource";
import { isLive, touchesRun, type RunPage } from "../../api/types";
import { Button } from "../../parts/Button";
import { Menu } from "../../parts/Menu";
import { Absent, Empty, Loaded } from "../../parts/States";
import { Link, navigate, TextLink, useQuery } from "../../router";
import { Page } from "../../shell/Page";
import { usePresent } from "../home/AtWork";
import { BESIDE, logsOf } from "./attempts";
import { Log } from "./Log";
import { Head } from "./TaskRun";
import "./runs.css";

export default function Logs() {
  const [of] = useQuery("of");
  const present = usePresent();
  const atWork = present.data?.atWork.filter((one) => one.run && one.task).map((one) => ({ step: `${one.run}/${one.task}`, label: `${one.task} ${one.title}` })) ?? [];
  const steps = (of ?? "").split(",").filter(Boolean).slice(0, BESIDE);
  const first = of === null && atWork.length > 0 ? logsOf(atWork.map(({ step }) => step)) : null;
  useEffect(() => {
    // From now on the address says which: what ends stays, and nothing takes its place.
    if (first) navigate(first, { replace: true });
  }, [first]);
  const show = (wanted: string[]) => navigate(logsOf(wanted), { replace: true });
  return (
    <Page
      title="Logs"
      crumbs={[{ label: "Home", href: "/" }]}
      actions={
        <Menu
          label="Agents at work"
          align="end"
          trigger={<Button>Agents</Button>}
          entries={[
            atWork.length > 0 ? `Up to ${BESIDE} at a time` : "No agent is at work",
            ...atWork.map(({ step, label }) => ({
              label,
              checked: steps.includes(step),
              disabled: steps.length === BESIDE && !steps.includes(step),
              onSelect: () => show(steps.includes(step) ? steps.filter((one) => one !== step) : [...steps, step]),
            })),
          ]}
        />
      }
    >
      {steps.length === 0 ? (
        <Empty action={<TextLink href="/">Go home</TextLink>}>{atWork.length > 0 ? "Choose agents to see their logs." : "No agent is at work."}</Empty>
      ) : (
        <div className="logs pane">
          {steps.map((step) => (
            <Column key={step} step={step} onClose={() => show(steps.filter((one) => one !== step))} />
          ))}
        </div>
      )}
    </Page>
  );
}

/** The log of the last attempt at a task in a run ("run/task"). */
function Column({ step, onClose }: { step: string; onClose: () => void }) {
  const [id = "", task = ""] = step.split("/");
  const run = useResource<RunPage>(`/api/runs/${encodeURIComponent(id)}`, { on: touchesRun(id) });
  const absent = <Absent id={step} back={<TextLink href="/runs">All runs</TextLink>} />;
  return (
    <section className="logs-one" aria-label={`Agent of ${task}`}>
      <Loaded of={run} absent={absent}>
        {(page) => {
          const found = page.tasks.find((one) => one.taskId === task);
          const attempt = found?.history.at(-1)?.attempt;
          if (!found || !attempt) return absent;
          return (
            <>
              <Head task={found} run={id} live={isLive(page.run.status)}>
                <Link className="button small" href={`/runs/${id}/${task}`}>
                  Review
                </Link>
                <Button look="ghost" small icon="close" aria-label={`Close the log of ${task}`} onClick={onClose} />
              </Head>
              <Log key={attempt} beside run={id} task={task} attempt={attempt} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
