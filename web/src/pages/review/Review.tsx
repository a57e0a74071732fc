// One attempt for a person to judge: what was asked, what changed, what is proven, and then a yes or words.
import { useState, type FormEvent } from "react";
import { api } from "../../api/request";
import { touch, useAct, useResource } from "../../api/resource";
import { isLive, touchesRun, type Attempt, type Diff, type FileChange, type RunPage, type RunRow, type RunTask, type TaskPage } from "../../api/types";
import { Cost, Duration, count, plural, visible } from "../../format";
import { Button, TextButton } from "../../parts/Button";
import { Fact, Lines, Rail, StateFact } from "../../parts/Facts";
import { Field } from "../../parts/Field";
import { useDraft } from "../../parts/draft";
import { sendByKey } from "../../parts/editing";
import { Absent, Empty, Loaded, Refusal } from "../../parts/States";
import { StatusGlyph, STATE_WORDS } from "../../parts/StatusGlyph";
import { Tabs } from "../../parts/Tabs";
import { toast } from "../../parts/toasts";
import { navigate, useQuery, withQuery, TextLink, Link } from "../../router";
import { SEND } from "../../shell/keys";
import { Page, Unknown } from "../../shell/Page";
import { useCommands } from "../../shell/places";
import { Log } from "../runs/Log";
import { AttemptMenu, Proof, SentPrompt, UsageTab } from "../runs/attempt";
import { useTask } from "../work/filters";
import { RunButtons } from "../work/RunButtons";
import { Hunks, linesOf } from "./lines";
import { Criteria, Description } from "../work/tabs/Overview";
import type { ViewProps } from "../../routes";
import "../runs/runs.css";
import "../work/work.css";
import "./review.css";

export default function Review({ params }: ViewProps) {
  const [id, task] = [params["id"] ?? "", params["task"] ?? ""];
  return <OfRun key={`${id} ${task}`} id={id} task={task} />;
}

function OfRun({ id, task }: { id: string; task: string }) {
  const [number] = useQuery("attempt");
  const run = useResource<RunPage>(`/api/runs/${encodeURIComponent(id)}`, { on: touchesRun(id) });
  const page = useTask(task);
  const step = run.data?.tasks.find((one) => one.taskId === task);
  const attempt = number === null ? step?.history.at(-1) : step?.history.find((one) => String(one.attempt) === number);
  const crumbs = [
    { label: "Runs", href: "/runs" },
    { label: run.data?.run.title ?? "Run", href: `/runs/${encodeURIComponent(id)}?task=${encodeURIComponent(task)}` },
  ];
  if (run.failure?.status === 404) return <Unknown id={id} crumb={{ label: "Runs", href: "/runs" }} />;
  if (page.failure?.absent) return <Unknown id={task} crumb={{ label: "Work", href: "/work" }} />;
  return (
    <Page
      title={step?.title ?? "Review"}
      id={task}
      crumbs={crumbs}
      actions={
        step &&
        attempt && (
          <>
            <AttemptMenu step={step} now={attempt} />
            {run.data && isLive(run.data.run.status) && <RunButtons id={task} state="running" run={id} tried />}
            <Link className="button" href={`/runs/${encodeURIComponent(id)}?task=${task}&attempt=${attempt.attempt}`}>
              Open the run
            </Link>
          </>
        )
      }
      rail={<ReviewRail step={step} attempt={attempt} task={page.data} />}
    >
      <Loaded of={run} rows={10}>
        {(data) =>
          step && attempt ? (
            <Loaded of={page} rows={10}>
              {(asked) => <Both run={data.run} step={step} attempt={attempt} task={asked} />}
            </Loaded>
          ) : (
            <Absent id={`Attempt ${number ?? ""} of ${task}`} back={<TextLink href={`/runs/${encodeURIComponent(id)}`}>Back to the run</TextLink>} />
          )
        }
      </Loaded>
    </Page>
  );
}

function ReviewRail({ step, attempt, task }: { step: RunTask | undefined; attempt: Attempt | undefined; task: TaskPage | undefined }) {
  const { criteria } = task?.gates ?? { criteria: [] };
  return (
    <Rail>
      <StateFact label="Task" page={task} href={`/work/${step?.taskId ?? ""}`} />
      <Fact label="Attempt" glyph={attempt?.state} value={attempt?.attempt} unit={attempt && `${STATE_WORDS[attempt.state].toLowerCase()}, ${attempt.runner ?? "runner unknown"}`} />
      {criteria.length > 0 && <Fact label="Criteria" value={criteria.filter((one) => one.state === "proven").length} unit={`of ${criteria.length} proven`} />}
      <Fact label="Time" value={attempt && <Duration {...(attempt.endedAt ? { ms: attempt.durationMs } : { since: attempt.startedAt })} />} />
      <Fact label="Cost" value={attempt && <Cost usd={attempt.cost} />} />
    </Rail>
  );
}

interface Reviewed {
  run: RunRow;
  step: RunTask;
  attempt: Attempt;
  task: TaskPage;
}

function Both(reviewed: Reviewed) {
  const { run, step, attempt, task } = reviewed;
  const draft = useDraft(`review.${run.id}.${step.taskId}`);
  const comment = (place: string) => {
    draft[1]((words) => `${words}${words === "" || words.endsWith("\n") ? "" : "\n"}${place}: `);
    document.querySelector<HTMLElement>(".review-answer textarea")?.focus();
  };
  const [tab, setTab] = useQuery("tab");
  // As long as it works, what it says is of more interest than what it has changed so far.
  const first = attempt.state === "running" ? "log" : "changes";
  const where = { run: run.id, task: step.taskId, attempt: attempt.attempt };
  const diff = useResource<Diff>(`/api/runs/${encodeURIComponent(run.id)}/tasks/${step.taskId}/attempts/${attempt.attempt}/diff`, { on: touchesRun(run.id) });
  return (
    <div className="review">
      <div className="review-main">
        <section className="review-asked" aria-label="What was asked">
          <h2 className="unseen">What was asked</h2>
          {task.task.description === "" ? <p className="section muted">Only its title was asked for.</p> : <Description text={task.task.description} />}
          <Criteria page={task} />
        </section>
        <Tabs
          label="Parts of the attempt"
          value={tab ?? first}
          onChange={(to) => setTab(to === first ? null : to)}
          tabs={[
            {
              id: "changes",
              label: `Changes ${diff.data?.total ?? ""}`,
              content: (
                <Loaded of={diff} rows={8}>
                  {(data) => <Changes diff={data} last={attempt === step.history.at(-1)} onComment={comment} />}
                </Loaded>
              ),
            },
            { id: "log", label: "Log", content: <Log key={attempt.attempt} {...where} /> },
            { id: "prompt", label: "Prompt", content: <SentPrompt {...where} /> },
            { id: "usage", label: "Usage", content: <UsageTab task={step} attempt={attempt} /> },
          ]}
        />
      </div>
      <aside className="panel" aria-label={`Judgement of attempt ${attempt.attempt}`}>
        <div className="scroll">
          <Proof {...where} />
        </div>
        <Answer {...reviewed} draft={draft} />
      </aside>
    </div>
  );
}

const PLACES: Record<Diff["place"], string> = {
  merged: "As it was merged",
  worktree: "As it is in its worktree",
  branch: "As it is on its branch",
  workspace: "This attempt left no worktree and no commit. What follows is what differs since the first attempt began, whoever changed it",
};

function Changes({ diff, last, onComment }: { diff: Diff; last: boolean; onComment: (place: string) => void }) {
  const { files, total, place, commit, base, branch, outside } = diff;
  const lines = (of: "added" | "removed") => files.reduce((sum, file) => sum + file[of], 0);
  const names = [commit && `commit ${commit.slice(0, 8)}`, branch && `branch ${branch}`, base && `against ${base.slice(0, 8)}`].filter(Boolean).join(", ");
  return (
    <div className="changes">
      <p className="small muted section">
        {PLACES[place]}
        {names && ` (${names})`}. {total > 0 && `${plural(total, "file")}, ${plural(lines("added"), "line")} added, ${lines("removed")} removed.`}
        {!last && place !== "merged" && " A later attempt worked in the same files."}
      </p>
      {outside.length > 0 && (
        <details className="section warn">
          <summary>
            {plural(outside.length, "changed file lies", "changed files lie")} outside of the declared ones{place === "workspace" && ", and cannot be told from the work of others"}.
          </summary>
          <Lines of={outside.map(visible)} look="mono" />
        </details>
      )}
      {total + outside.length === 0 && <Empty>No file differs.</Empty>}
      {files.length > 1 && (
        <ul className="section change-names" aria-label="Changed files">
          {files.map((file) => (
            <li key={file.path}>
              <a className="link mono ell" href={`#${encodeURIComponent(file.path)}`}>
                {visible(file.path)}
              </a>
              <Counts file={file} />
            </li>
          ))}
        </ul>
      )}
      {files.map((file) => (
        <Changed key={file.path} file={file} onComment={onComment} />
      ))}
      {total > files.length && <p className="section muted">{plural(total - files.length, "more file")}. See them with git.</p>}
    </div>
  );
}

function Counts({ file }: { file: FileChange }) {
  return (
    <span className="small mono">
      {file.added > 0 && <span className="ok">+{file.added} </span>}
      {file.removed > 0 && <span className="bad">−{file.removed}</span>}
    </span>
  );
}

/** Long ones show their beginning first. */
const FIRST = 300;

function Changed({ file, onComment }: { file: FileChange; onComment: (place: string) => void }) {
  const [whole, setWhole] = useState(false);
  const lines = linesOf(file.text ?? "");
  const shown = whole ? lines : lines.slice(0, FIRST);
  return (
    <details className="change" id={encodeURIComponent(file.path)} open>
      <summary>
        <span className="mono strong ell">{visible(file.path)}</span>
        {file.change !== "changed" && <span className="chip">{file.change}</span>}
        <span className="grow" />
        <Counts file={file} />
      </summary>
      {file.text === null && <p className="muted small padded">{file.cut ? "Too long to be shown." : "No text: binary, empty, or only its mode differs."}</p>}
      {lines.length > 0 && <Hunks lines={shown} path={visible(file.path)} onComment={onComment} />}
      {shown.length < lines.length && <TextButton onClick={() => setWhole(true)}>Show all {lines.length} lines</TextButton>}
      {file.cut && file.text !== null && <p className="muted small padded">There is more. See it with git.</p>}
    </details>
  );
}

/** Most characters of the words. */
const MOST = 4000;

type How = "approve" | "retry" | "same" | "note" | "send";

/** A yes, or words: to another agent in a new run, to the same one, at once to the one at work, or to the next attempt of a run that is live. */
function Answer({ run, step, attempt, task, draft: [words, setWords] }: Reviewed & { draft: ReturnType<typeof useDraft> }) {
  const id = step.taskId;
  const live = isLive(run.status);
  const atWork = live && step.state === "running" && attempt === step.history.at(-1);
  const closed = task.state === "done" || task.state === "cancelled";
  const resumes = !live && ["failed", "interrupted", "cancelled"].includes(run.status) && (run.kind === "epic" || run.kind === "tasks") && step.state !== "done" && attempt === step.history.at(-1);
  const [answer, { busy, failure, forgive }] = useAct(async (how: How) => {
    const at = `/api/work/tasks/${encodeURIComponent(id)}`;
    if (how === "approve") await api.post(`${at}/complete`);
    if (how === "send") await api.post(`/api/runs/${encodeURIComponent(run.id)}/tasks/${encodeURIComponent(id)}/words`, { text: words.trim() });
    else if (words.trim() !== "") {
      await api.patch(at, { notes: [words.trim()] });
      toast("The words are kept as a note for the next attempt.");
    }
    // What was written since it was sent stays.
    setWords((now) => (now.startsWith(words) ? now.slice(words.length).trimStart() : now));
    if (how === "retry") {
      if (closed) await api.post(`${at}/reopen`);
      const started = await api.post<{ run: RunRow }>("/api/runs", { tasks: [id] });
      navigate(`/runs/${started.run.id}?task=${id}`);
    }
    if (how === "same") {
      await api.post(`/api/runs/${encodeURIComponent(run.id)}/resume`);
      navigate(`/runs/${run.id}?task=${id}`);
    }
    touch("/api/");
    if (how === "approve") toast(`${id} approved: cleo verified it, it is done.`);
    if (how === "send") {
      navigate(withQuery({ attempt: null, tab: null }), { replace: true });
      toast("Sent: this attempt ends, and the next one begins with the words.");
    }
  });
  const said = words.trim() !== "";
  // What was refused is approved only by who has done something about it since.
  const sendsBack = said || step.state === "failed";
  const primary: How | null = atWork ? "send" : live ? "note" : sendsBack ? (resumes ? "same" : "retry") : closed ? null : "approve";
  const lacks = words.length > MOST ? "There are too many words" : live && !said ? "Write the words first" : undefined;
  const all: Record<How, { label: string; cli?: string; fits: boolean; title?: string }> = {
    send: { label: "Send to the agent", cli: `cleo runs send ${run.id} ${id} "…"`, fits: atWork },
    note: { label: step.state === "failed" ? "Keep as a note" : "Keep for the next attempt", fits: live },
    approve: { label: "Approve", cli: `cleo complete ${id}`, fits: !closed && !live },
    same: {
      label: step.canContinue ? "Send to the same agent" : "Retry in this run",
      cli: `cleo runs resume ${run.id}`,
      fits: resumes,
      title: `Other failed tasks of the run are tried again too.${step.canContinue ? "" : " Its runner keeps no conversation: an agent with the same settings gets the whole prompt."}`,
    },
    retry: { label: closed ? "Reopen and retry" : resumes ? "Retry in a new run" : "Retry", cli: `cleo run ${id}`, fits: !live },
  };
  const ways = (Object.keys(all) as How[]).filter((how) => all[how].fits);
  useCommands(`review ${id}`, lacks ? [] : ways.map((how) => ({ ...all[how], label: `${all[how].label}: ${id}`, run: () => answer(how) })));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (primary && !busy && !lacks) answer(primary);
  };
  return (
    <form className="review-answer" onSubmit={submit} onKeyDown={sendByKey}>
      <Refusal failure={failure} onClose={forgive} />
      <Field
        label="Words for the agent"
        rows={3}
        fault={words.length > MOST ? `${count(words.length)} characters; ${count(MOST)} are allowed.` : undefined}
        value={words}
        onText={setWords}
        hint={
          atWork
            ? `Sent at once: the agent is interrupted and ${step.canContinue ? "continues its conversation with them" : "begins again with the whole prompt and them"}; what it changed stays.`
            : live
              ? `Kept as a note. ${step.state === "failed" ? "This run does not try it again: once it has ended, you can retry it with these words." : "The next attempt of this run gets it."}`
              : step.canContinue && resumes
                ? "The same agent continues its conversation; another one gets the whole prompt, with your words at its end."
                : "Kept as a note, and at the end of the next prompt."
        }
      />
      <div className="row wrap">
        {ways.map((how) => (
          <Button
            key={how}
            look={how === primary ? "primary" : undefined}
            shortcut={how === primary ? SEND : undefined}
            disabled={busy || lacks !== undefined}
            title={lacks ?? all[how].title}
            onClick={() => answer(how)}
          >
            {all[how].label}
          </Button>
        ))}
        {closed && (
          <span className="row small muted">
            <StatusGlyph state={task.state} verified={task.verified} label="" />
            {task.verified ? "Verified and done." : "Done, not verified by cleo."}
          </span>
        )}
      </div>
    </form>
  );
}
