import { Fragment, useState } from "react";
import type { Neighbour, TaskPage } from "../../../api/types";
import { Ago, Digest, Duration, plural } from "../../../format";
import { Command, TextButton } from "../../../parts/Button";
import { told, sentence } from "../../../parts/States";
import { StatusGlyph, STATE_WORDS, type State } from "../../../parts/StatusGlyph";
import { usePlace, withQuery, TextLink } from "../../../router";
import { GateList } from "./EvidenceTab";
import { Lines, Section, Term } from "../../../parts/Facts";

export function Overview({ page }: { page: TaskPage }) {
  return (
    <>
      {page.problems.map((problem) => (
        <p key={problem.message} className="notice">
          {sentence(problem.message)}
        </p>
      ))}
      <Facts page={page} />
      {page.task.description !== "" && <Description text={page.task.description} />}
      <Refused page={page} />
      <GateList gates={page.gates} />
      <Criteria page={page} />
      <Attempts page={page} />
      <Notes page={page} />
    </>
  );
}

function Facts({ page }: { page: TaskPage }) {
  const { task, claim, dispatch } = page;
  return (
    <div className="section">
      <dl className="facts">
        <Term name="Status" value={<Doing page={page} />} />
        {claim && (
          <Term name="Claim">
            <span className="mono">{claim.holder ?? "not claimed"}</span>
            <span className="muted">
              epoch {claim.epoch}
              {claim.expired ? ", expired" : ""}
            </span>
            <span className="muted">
              claimed <Ago at={claim.since} />
            </span>
          </Term>
        )}
        {dispatch && (
          <Term name="Skill">
            <span className="mono">{dispatch.skill}</span>
            <TextLink className="small" href={withQuery({ task: task.id, tab: "receipt" })}>
              {dispatch.strategy}
              {dispatch.matched.length > 0 ? ` “${dispatch.matched.join("”, “")}”` : ""}
            </TextLink>
          </Term>
        )}
        <Neighbours name="Waits for" list={page.depends} missing={page.missing.map((one) => one.name)} />
        <Neighbours name="Unblocks" list={page.dependents} />
        <Neighbours name="Parts" list={page.children} />
        <Term name="Part of">{task.parent && <TaskLink id={task.parent} />}</Term>
        <Term name="Files" mono={task.files.join(", ")} />
        {task.labels.length > 0 && (
          <Term name="Labels">
            {task.labels.map((label) => (
              <span key={label} className="chip">
                {label}
              </span>
            ))}
          </Term>
        )}
        <Term name="Phase">{task.phase}</Term>
        <Term name="Agent" mono={task.assignedAgent} />
        <Term name="Due">{task.due && <Ago at={task.due} />}</Term>
        <Term name="Added" value={<Ago at={task.createdAt} />} />
      </dl>
    </div>
  );
}

function Doing({ page }: { page: TaskPage }) {
  const last = page.attempts.at(-1);
  const running = last && page.live;
  const claimed = page.state === "done" && !page.verified;
  return (
    <>
      {claimed ? "Done, not verified by cleo" : page.state === "done" ? "Done, verified" : page.state === "running" && !page.live ? "Started by hand" : STATE_WORDS[page.state]}
      {running && (
        <span className="muted">
          attempt {last.attempt}
          {last.startedAt && (
            <>
              , <Duration since={last.startedAt} />
            </>
          )}
        </span>
      )}
    </>
  );
}

function Neighbours({ name, list, missing = [] }: { name: string; list: Neighbour[]; missing?: string[] }) {
  if (list.length === 0 && missing.length === 0) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {list.slice(0, 20).map((one) => (
          <span key={one.id} className="row tight">
            <StatusGlyph state={one.state} still />
            <TaskLink id={one.id} />
            <span className="ell">{one.title}</span>
          </span>
        ))}
        {missing.map((one) => (
          <span key={one} className="bad mono" title="There is no such task">
            {one} (missing)
          </span>
        ))}
        {list.length > 20 && <span className="muted">and {list.length - 20} more</span>}
      </dd>
    </>
  );
}

/** In the panel a task opens beside the list, on a page of its own as a page. */
function TaskLink({ id }: { id: string }) {
  const { path } = usePlace();
  const href = path === "/work" ? withQuery({ task: id }) : `/work/${id}`;
  return (
    <TextLink className="mono" href={href}>
      {id}
    </TextLink>
  );
}

/** Folds at six lines, so that nothing under it is pushed out of sight. */
export function Description({ text }: { text: string }) {
  const long = text.length > 480 || text.split("\n").length > 6;
  const [open, setOpen] = useState(false);
  return (
    <div className="section">
      <p className={long && !open ? "text six" : "text"}>{text}</p>
      {long && (
        <TextButton className="small" onClick={() => setOpen(!open)}>
          {open ? "Show less" : "Show all of it"}
        </TextButton>
      )}
    </div>
  );
}

function Refused({ page }: { page: TaskPage }) {
  const { refused } = page;
  if (!refused) return null;
  return (
    <div className="section">
      <h3>
        Why attempt {refused.attempt} was refused
        <TextLink className="aside" href={`/runs/${refused.run}/${page.task.id}?attempt=${refused.attempt}`}>
          Review
        </TextLink>
      </h3>
      <div className="quote bad">
        {refused.reason && <p className="text">{sentence(refused.reason)}</p>}
        {refused.violations
          .filter((line) => line !== refused.reason)
          .map((line) => (
            <p key={line} className="mono muted text">
              {told(line).words}
            </p>
          ))}
        {refused.reason && told(refused.reason).command && <Command line={told(refused.reason).command ?? ""} />}
      </div>
    </div>
  );
}

const CRITERIA: Record<string, State> = { proven: "done", claimed: "done", failed: "failed" };

export function Criteria({ page }: { page: TaskPage }) {
  const { criteria } = page.gates;
  if (criteria.length === 0) return null;
  const proven = criteria.filter((one) => one.state === "proven").length;
  return (
    <Section title="Accepted when" aside={`${proven} of ${criteria.length} proven`}>
      <ol className="criteria">
        {criteria.map((one) => (
          <li key={one.number}>
            <StatusGlyph state={CRITERIA[one.state] ?? "waiting"} verified={one.state === "proven"} label={one.state} />
            <span className="text">{one.text}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Attempts({ page }: { page: TaskPage }) {
  if (page.attempts.length === 0 && page.spawns.length === 0) return null;
  return (
    <Section title="Attempts" aside={`${plural(page.attempts.length, "by a run", "by runs")}, ${plural(page.spawns.length, "prompt")} made`}>
      <ul className="attempts">
        {page.attempts.map((one) => (
          <li key={`${one.run} ${one.attempt}`} className="row">
            <StatusGlyph state={one.state} />
            <TextLink href={`/runs/${one.run}/${page.task.id}?attempt=${one.attempt}`}>Attempt {one.attempt}</TextLink>
            <span className="muted">{one.runner}</span>
            <span className="grow" />
            <Duration className="muted" {...(one.endedAt === null && one.startedAt ? { since: one.startedAt } : { ms: one.durationMs })} />
          </li>
        ))}
        {page.spawns.map((one) => (
          <li key={one.manifestId} className="row">
            <span className="mono ell">{one.outputFile}</span>
            <span className="grow" />
            {one.promptDigest !== null && <Digest value={one.promptDigest} />}
            <Ago className="muted" at={one.at} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Notes({ page }: { page: TaskPage }) {
  const { notes, deliverables } = page.task;
  return (
    <>
      {deliverables.length > 0 && (
        <Section title="Deliverables">
          <Lines of={deliverables} />
        </Section>
      )}
      {notes.length > 0 && (
        <Section title="Notes">
          <dl className="notes">
            {notes.map((note, i) => (
              <Fragment key={i}>
                <dt className="small muted">
                  {note.by}, <Ago at={note.at} />
                </dt>
                <dd className="text">{note.text}</dd>
              </Fragment>
            ))}
          </dl>
        </Section>
      )}
    </>
  );
}
