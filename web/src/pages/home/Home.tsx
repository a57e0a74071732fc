// Home: the agents at work with their last line, what needs a person with one button each, and what was delivered today.
import { api } from "../../api/request";
import { touch, useAct } from "../../api/resource";
import type { Now } from "../../api/types";
import { Ago, plural, timeOfDay } from "../../format";
import { Button } from "../../parts/Button";
import { Fact, Rail } from "../../parts/Facts";
import { Loaded, Refusal, sentence, told } from "../../parts/States";
import { phone, useMatch } from "../../parts/screen";
import { StatusGlyph, type State } from "../../parts/StatusGlyph";
import { Link, TextLink } from "../../router";
import { Page } from "../../shell/Page";
import { useStatus } from "../../shell/places";
import Ask from "../ask/Ask";
import { RunReady } from "../work/RunReady";
import { AtWork, Part, usePresent } from "./AtWork";

type Need = Now["needsYou"][number];

export default function Home() {
  const now = usePresent();
  const counts = useStatus()?.counts;
  const isPhone = useMatch(phone);
  const data = now.data;
  const verified = data?.delivered.filter((one) => one.verified).length;
  return (
    <Page
      title="Home"
      actions={
        counts?.openTasks === 0 ? (
          <Link className="button primary" href="/agents/tasks?task=new">
            New task
          </Link>
        ) : (
          <RunReady epic={null} ready={counts?.readyTasks} />
        )
      }
      rail={
        <Rail>
          <Fact label="At work" glyph={data?.atWork.length ? "running" : undefined} value={data?.atWork.length} href="/runs?status=running" />
          <Fact label="Needs you" glyph={data?.needsYouTotal ? "needsYou" : undefined} value={data?.needsYouTotal} />
          <Fact label="Delivered today" value={data?.deliveredTotal} unit={data && data.deliveredTotal > 0 ? `${verified} verified` : undefined} href="/work?view=list&status=done" />
          <Fact label="Ready" value={counts?.readyTasks} unit={counts && `of ${counts.openTasks} open`} href="/work?view=list&status=ready" />
        </Rail>
      }
    >
      <div className="home pane">
        <Loaded of={now} rows={8}>
          {(all) => (
            <>
              <div className="home-main">
                {isPhone && <Needs now={all} />}
                <Part
                  title="At work"
                  of={all.atWork.length}
                  aside={
                    all.atWork.filter((one) => one.run && one.task).length > 1 && (
                      <TextLink className="aside" href="/logs">
                        Compare logs
                      </TextLink>
                    )
                  }
                  none={
                    counts?.openTasks === 0
                      ? "There are no open tasks. Create one, and run it: an agent works on it, and cleo checks what it brings back."
                      : counts?.readyTasks
                        ? `No agent is at work. ${plural(counts.readyTasks, "task is", "tasks are")} ready to be run.`
                        : "No agent is at work."
                  }
                >
                  {all.atWork.map((one) => (
                    <AtWork key={`${one.run} ${one.task ?? one.line}`} one={one} />
                  ))}
                </Part>
                {!isPhone && <Needs now={all} />}
              </div>
              <div className="home-side">
                <Part title="Delivered today" of={all.deliveredTotal} none="Nothing was delivered today.">
                  {all.delivered.map((one) => (
                    <li key={one.task}>
                      <Link className="home-row delivered" href={reviewOf(one) ?? `/work/${one.task}`}>
                        <StatusGlyph state="done" verified={one.verified} label={one.verified ? "Verified" : "Done, not verified"} />
                        <span className="ell">{one.title}</span>
                        <span className="small muted ell">{one.agent}</span>
                        <time className="small muted" dateTime={one.at}>
                          {timeOfDay(one.at)}
                        </time>
                      </Link>
                    </li>
                  ))}
                </Part>
              </div>
            </>
          )}
        </Loaded>
        <Ask />
      </div>
    </Page>
  );
}

/** The page on which an attempt is reviewed; none of a task that no run has tried. */
function reviewOf({ run, task, attempt }: { run: string | null; task: string | null; attempt: number | null }) {
  return run && task && attempt ? `/runs/${encodeURIComponent(run)}/${task}?attempt=${attempt}` : null;
}

const KINDS: Record<Need["kind"], [State, why: string]> = {
  failed: ["failed", "The last attempt was refused."],
  review: ["review", "Waits for your review."],
  blocked: ["needsYou", "Blocked."],
  unproven: ["waiting", "Its output is there and not proven."],
  stopped: ["paused", "The run was stopped before it ended."],
};

function Needs({ now: { needsYou, needsYouTotal } }: { now: Now }) {
  const rows = needsYou.map((need) => <Waiting key={`${need.kind} ${need.task ?? need.run}`} need={need} />);
  return (
    <Part title="Needs you" of={needsYouTotal} none="Nothing waits for you.">
      {rows}
    </Part>
  );
}

/** What waits for a person, and the one button that takes it on. */
function Waiting({ need }: { need: Need }) {
  const { kind, task, run } = need;
  const review = reviewOf(need);
  const why = need.why ? sentence(told(need.why).words.replace(/\n.*/s, "")) : KINDS[kind][1];
  const open = task ? `/work/${task}` : `/runs/${encodeURIComponent(run ?? "")}`;
  const [act, { busy, failure, forgive }] = useAct(async () => {
    await api.post(kind === "stopped" ? `/api/runs/${encodeURIComponent(run ?? "")}/resume` : `/api/work/tasks/${task}/complete`);
    touch("/api/work/");
  });
  return (
    <li>
      <div className="home-row">
        <StatusGlyph state={KINDS[kind][0]} label={kind} />
        <span className="home-what">
          <span className="row">
            <Link className="ell strong" href={open}>
              {need.title}
            </Link>
            {task && <span className="mono muted">{task}</span>}
          </span>
          <span className={`ell small ${kind === "failed" ? "bad" : "muted"}`}>{why}</span>
        </span>
        <span className="home-who small muted">
          <Ago at={need.at} />
        </span>
        {kind === "stopped" || kind === "unproven" ? (
          <Button small disabled={busy} onClick={act}>
            {kind === "stopped" ? "Resume" : "Prove"}
          </Button>
        ) : (
          <Link className="button small" href={review ?? open}>
            {kind === "blocked" ? "Answer" : "Review"}
          </Link>
        )}
      </div>
      <Refusal failure={failure} onClose={forgive} />
    </li>
  );
}
