import { isLive, type RunPage } from "../../api/runs";
import type { Usage } from "../../api/work";
import { Cost, Duration, Tokens } from "../../format";
import { tokens } from "../../format/numbers";
import { Fact, Rail } from "../../parts/Rail";
import { useNow } from "../../format/clock";
import { millis } from "../../format/time";
import { withQuery } from "../../router/location";

export function RunRail({ page }: { page: RunPage | undefined }) {
  const run = page?.run;
  const steps = run?.steps;
  const reported = page?.reported;
  const source = reported && reported.attempts > 0 ? `reported for ${reported.reporting} of ${reported.attempts} attempts` : undefined;
  return (
    <Rail>
      <Fact label="Elapsed" value={page && <Elapsed page={page} />} />
      {steps && <Fact label="Verified steps" value={steps.done} unit={`of ${steps.total}`} />}
      {run && steps && isLive(run.status) && (
        <Fact
          label="Running"
          value={steps.running}
          glyph={steps.running > 0 ? "running" : undefined}
          unit={`${steps.verifying > 0 ? `+${steps.verifying} verifying, ` : ""}${run.limit ? `limit ${run.limit}` : "no limit"}`}
        />
      )}
      {steps && steps.failed > 0 && <Fact label="Failed" glyph="failed" value={steps.failed} />}
      {steps && steps.cancelled > 0 && <Fact label="Cancelled" glyph="cancelled" value={steps.cancelled} />}
      {steps && <Fact label="Attempts" value={reported?.attempts} unit={reported && reported.failed > 0 ? `${reported.failed} failed` : undefined} />}
      {run && !steps && <Fact label="Answered by" value={run.answeredBy === "offline" ? "nobody, no model is configured" : (run.answeredBy ?? "unknown")} />}
      <Fact label="Tokens" value={page && <Tokens n={sum(run?.usage, "input")} />} unit={out(run?.usage)} title={source} />
      <Fact label="Cost" value={page && <Cost usd={run?.cost} />} unit={source} />
      {page && page.run.needsYou > 0 && <NeedsYou page={page} />}
    </Rail>
  );
}

/** How many steps wait for somebody, and the way to the first of them. */
function NeedsYou({ page }: { page: RunPage }) {
  const first = page.tasks.find((task) => task.outcome === "blocked" && task.state !== "done")?.taskId;
  return <Fact label="Needs you" glyph="needsYou" value={page.run.needsYou} unit={first && `${first} is blocked`} href={first && withQuery({ task: first, attempt: null })} />;
}

/** By the server's clock: the browser only adds what passed since it answered. */
function Elapsed({ page }: { page: RunPage }) {
  return isLive(page.run.status) ? <Ticking key={page.now} page={page} /> : <Duration ms={page.run.durationMs} />;
}

function Ticking({ page }: { page: RunPage }) {
  const now = useNow();
  const skew = millis(page.now) - clockAt(page.now);
  return <Duration ms={Math.max(0, Math.floor((now + skew - millis(page.run.startedAt)) / 1000) * 1000)} />;
}

const answeredAt = new Map<string, number>();

/** The browser's time when this answer was first seen. */
export function clockAt(answer: string) {
  const at = answeredAt.get(answer) ?? Date.now();
  if (answeredAt.size > 50) answeredAt.clear();
  answeredAt.set(answer, at);
  return at;
}

function sum(usage: Usage | null | undefined, side: "input" | "output"): number | null {
  return usage?.[`${side}Tokens`] ?? null;
}

function out(usage: Usage | null | undefined) {
  const n = sum(usage, "output");
  return n === null ? undefined : `in, ${tokens(n)} out`;
}
