import { lazy, Suspense, useState } from "react";
import { useResource } from "../../../api/resource";
import type { Prompt, TaskPage } from "../../../api/work";
import { Digest } from "../../../format";
import { count } from "../../../format/numbers";
import { Button } from "../../../parts/Button";
import { Command } from "../../../parts/Command";
import { copy } from "../../../parts/copy";
import { Loaded } from "../../../parts/States";
import { Section } from "../../../parts/Facts";

const PromptChanges = lazy(() => import("./PromptChanges"));

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
          {sent && (
            <Suspense fallback={null}>
              <PromptChanges task={id} sent={sent} now={data.prompt} entry={data.manifestId} entries={page.spawns.map((spawn) => spawn.manifestId)} />
            </Suspense>
          )}
          <div className="section">
            <h3>
              Prompt <Digest value={data.promptDigest} />
              <span className="aside">
                <Button small icon="copy" onClick={() => copy(data.prompt, "prompt")}>
                  Copy
                </Button>
              </span>
            </h3>
            <Text text={data.prompt} />
          </div>
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
    <Section
      title="Tokens"
      aside={
        <>
          about {count(total)}, as {method}
        </>
      }
    >
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
      <pre className="code" tabIndex={0}>
        {whole ? text : text.slice(0, FIRST)}
      </pre>
      {!whole && (
        <Button small onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </Button>
      )}
    </>
  );
}
