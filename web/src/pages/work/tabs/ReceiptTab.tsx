import { useResource } from "../../../api/resource";
import type { SkillCandidate, Dispatch, Why } from "../../../api/types";
import { Ago, Digest, plural } from "../../../format";
import { Command } from "../../../parts/Button";
import { Loaded, quoted } from "../../../parts/States";
import { StatusGlyph } from "../../../parts/StatusGlyph";
import { Section, Term } from "../../../parts/Facts";

const STRATEGIES = ["override", "label", "type", "keyword", "default"];

/** Why the task gets its skill, and what went into its last prompt. */
export function ReceiptTab({ id, spawned }: { id: string; spawned: boolean }) {
  const base = `/api/work/tasks/${encodeURIComponent(id)}`;
  const dispatch = useResource<Dispatch>(`${base}/dispatch?explain=true`);
  const why = useResource<Why>(spawned ? `${base}/why` : null);
  return (
    <>
      <Loaded of={dispatch}>{(data) => <Decision dispatch={data} />}</Loaded>
      {spawned ? (
        <Loaded of={why}>{(data) => <Kept why={data} />}</Loaded>
      ) : (
        <Section title="Receipt">
          <p className="muted">{id} has no receipt yet: it gets one when its prompt is made.</p>
          <Command line={`cleo spawn ${id}`} />
        </Section>
      )}
    </>
  );
}

function Decision({ dispatch }: { dispatch: Dispatch }) {
  const decided = STRATEGIES.indexOf(dispatch.strategy);
  return (
    <Section title="Skill" aside={<>decided by {dispatch.strategy}</>}>
      <p className="strong mono">{dispatch.skill}</p>
      <p>{quoted(dispatch.reason)}</p>
      <ol className="strategies" aria-label="Strategies in the order in which they decide">
        {STRATEGIES.map((name, i) => (
          <li key={name} className={i === decided ? "strong" : "muted"} aria-current={i === decided ? "true" : undefined}>
            <StatusGlyph state={i === decided ? "done" : i < decided ? "skipped" : "waiting"} label={i === decided ? "decided" : i < decided ? "said nothing" : "not asked"} />
            {name}
          </li>
        ))}
      </ol>
      <Candidates list={dispatch.candidates.filter((one) => one.skill !== dispatch.skill)} />
      <Rejected list={dispatch.rejected ?? []} />
    </Section>
  );
}

/** Skills that were no candidates, by the reason that they share. */
function Rejected({ list }: { list: { skill: string; reason: string }[] }) {
  const reasons = [...new Set(list.map((one) => one.reason))];
  return reasons.map((reason) => {
    const skills = list.filter((one) => one.reason === reason).map((one) => one.skill);
    return (
      <details key={reason} className="rejected">
        <summary className="muted">
          {plural(skills.length, "skill")}: {quoted(reason)}
        </summary>
        <p className="mono muted">{skills.join(", ")}</p>
      </details>
    );
  });
}

function Candidates({ list }: { list: SkillCandidate[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <h4 className="caption">Other candidates</h4>
      <ul className="candidates">
        {list.map((one) => (
          <li key={`${one.skill} ${one.strategy}`}>
            <span className="mono">{one.skill}</span>
            <span className="muted">
              {one.strategy}
              {one.matched.length > 0 ? ` “${one.matched.join("”, “")}”` : ""}: {quoted(one.reason)}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Kept({ why }: { why: Why }) {
  const { receipt } = why;
  return (
    <>
      <Section
        title="Last prompt"
        aside={
          <>
            made <Ago at={why.at} />
          </>
        }
      >
        <p className="row tight">
          <StatusGlyph state={why.reproduced ? "done" : "needsYou"} label="" />
          {why.reproduced ? "Made again now, it is the same byte for byte." : "Made again now, it would differ."}
        </p>
        {why.fault && <p className="bad">{why.fault}</p>}
        <dl className="facts">
          <Term name="Digest" value={<Digest value={receipt.promptDigest} />} />
          <Term name="Skill file" mono={receipt.skillPath} />
          <Term name="Entry" mono={receipt.manifestId} />
          <Term name="Verified">{why.verifiedAt ? <Ago at={why.verifiedAt} /> : "not yet"}</Term>
          <Term name="Forced" className="warn">
            {why.forced}
          </Term>
        </dl>
      </Section>
      {why.changed.length > 0 && (
        <Section title="What changed since" aside={why.changed.length}>
          <ul className="changes">
            {why.changed.map((one) => (
              <li key={one.input}>
                <span className="mono">{one.input}</span>
                <span className="mono muted text">
                  {one.then ?? "absent"} → {one.now ?? "absent"}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Protocols" aside={receipt.protocols.length}>
        <ul className="candidates">
          {receipt.protocols.map((one) => (
            <li key={one.name}>
              <span className="mono">
                {one.name} {one.version}
              </span>{" "}
              <span className="muted">{one.why}</span> <Digest value={one.digest} />
            </li>
          ))}
        </ul>
      </Section>
      <div className="section">
        <Command line={`cleo why ${why.taskId}`} />
      </div>
    </>
  );
}
