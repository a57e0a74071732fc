import { useState, useMemo } from "react";
import { structuredPatch } from "diff";
import { useResource } from "../../../api/resource";
import type { Prompt, TaskPage, TaskAttempt } from "../../../api/types";
import { Digest, count, plural } from "../../../format";
import { Button, Command, Code } from "../../../parts/Button";
import { Loaded } from "../../../parts/States";
import { Copied, Section } from "../../../parts/Facts";
import { TextLink } from "../../../router";

/** The prompt as it would be made now; nothing is recorded by looking. */
export function PromptTab({ page }: { page: TaskPage }) {
  const { id } = page.task;
  const sent = page.attempts.filter((attempt) => attempt.attempt === 1 && attempt.hasPrompt).at(-1);
  const prompt = useResource<Prompt>(`/api/work/tasks/${encodeURIComponent(id)}/prompt`);
  return (
    <Loaded of={prompt} rows={10}>
      {(data) => (
        <>
          <Tokens prompt={data} />
          {(data.warnings ?? []).map((warning) => (
            <p key={warning} className="notice">
              {warning}
            </p>
          ))}
          {sent && <PromptChanges task={id} sent={sent} now={data.prompt} entry={data.manifestId} entries={page.spawns.map((spawn) => spawn.manifestId)} />}
          <Copied
            what="prompt"
            text={data.prompt}
            title={
              <>
                Prompt <Digest value={data.promptDigest} />
              </>
            }
          >
            <Text text={data.prompt} />
          </Copied>
          <div className="section">
            <Command line={`cleo spawn ${id}`} />
          </div>
        </>
      )}
    </Loaded>
  );
}

const SHADES = ["var(--n9)", "var(--n8)", "var(--n7)"];

function Tokens({ prompt }: { prompt: Prompt }) {
  const { total, sections: parts, method } = prompt.tokenEstimate;
  return (
    <Section title="Tokens" aside={`about ${count(total)}, as ${method}`}>
      <div className="parts" aria-hidden="true">
        {parts.map((part, i) => (
          <i key={part.name} style={{ flexGrow: part.tokens, background: SHADES[i % SHADES.length] }} />
        ))}
      </div>
      <ul className="row wrap small shares">
        {parts.map((part) => (
          <li key={part.name}>
            <span className="muted">{part.name}</span> {count(part.tokens)}
          </li>
        ))}
      </ul>
      {!prompt.tokenResolution.fullyResolved && <p className="warn small">Without a value: {prompt.tokenResolution.unresolvedTokens.join(", ")}</p>}
    </Section>
  );
}

const FIRST = 20_000;

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(text.length <= FIRST);
  return (
    <>
      <Code>{whole ? text : text.slice(0, FIRST)}</Code>
      {!whole && (
        <Button small onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </Button>
      )}
    </>
  );
}

interface Props {
  task: string;
  /** The last try that began with a whole prompt, not with a repair. */
  sent: TaskAttempt;
  now: string;
  /** The entry of the manifest that it names. */
  entry: string;
  /** The entries that earlier prompts named. */
  entries: string[];
}

/** What its agent was sent last, against what it would be sent now. */
function PromptChanges({ task, sent, now, entry, entries }: Props) {
  const [run, number] = [encodeURIComponent(sent.run), sent.attempt];
  const before = useResource<{ text: string }>(`/api/runs/${run}/tasks/${encodeURIComponent(task)}/attempts/${number}/prompt`);
  return (
    <div className="section" id="prompt-changes">
      <h3>
        Since it was sent last
        <span className="aside">
          <TextLink href={`/runs/${run}/${task}?attempt=${number}&tab=prompt`}>attempt {number}</TextLink>
        </span>
      </h3>
      <Loaded of={before} rows={4}>
        {(data) => {
          const { text, named } = underEntry(data.text, entries, entry);
          return (
            <>
              <Changes before={text} now={now} />
              {named !== null && (
                <p className="small muted">
                  Its entry is a new one: <span className="mono">{entry}</span>, where it was <span className="mono">{named}</span>.
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

function Changes({ before, now }: { before: string; now: string }) {
  const hunks = useMemo(() => compare(before, now), [before, now]);
  const lines = (sign: string) => plural(hunks.flat().filter((line) => line.startsWith(sign)).length, "line");
  if (hunks.length === 0) return <p className="muted">It would be sent the same again.</p>;
  return (
    <>
      <p className="small muted">
        {lines("-")} removed, {lines("+")} added.
      </p>
      <div className="code changed" tabIndex={0} role="group" aria-label="What differs">
        {hunks
          .flatMap((hunk, at) => (at > 0 ? ["…", ...hunk] : hunk))
          .map((line, at) => {
            const Element = line.startsWith("-") ? "del" : line.startsWith("+") ? "ins" : "span";
            return <Element key={at}>{line}</Element>;
          })}
      </div>
    </>
  );
}

/** Most lines that may differ; beyond that all of a text counts as changed. */
const MOST = 4_000;

/** The lines that differ, each with its sign, and three around them. */
export function compare(before: string, after: string): string[][] {
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, maxEditLength: MOST });
  // Lines that begin with a backslash are remarks of the format.
  if (patch) return patch.hunks.map((hunk) => hunk.lines.filter((line) => !line.startsWith("\\")).map((line) => `${line.charAt(0)} ${line.slice(1)}`));
  return [[...before.split("\n").map((line) => `- ${line}`), ...after.split("\n").map((line) => `+ ${line}`)]];
}

/**
 * A prompt as it would have read with another entry of the manifest, and the entry that it named: each prompt
 * gets its own entry, which does not change the prompt.
 */
export function underEntry(prompt: string, entries: readonly string[], entry: string): { text: string; named: string | null } {
  const named = entries.filter((one) => one !== entry && prompt.includes(one)).sort((a, b) => b.length - a.length)[0];
  if (named === undefined || prompt.includes(entry)) return { text: prompt, named: null };
  return { text: prompt.replaceAll(named, entry), named };
}
