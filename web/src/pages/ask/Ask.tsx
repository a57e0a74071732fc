// Ask the supervisor: the field on top, the answer under it, who was used and what came back.
import { useState, type FormEvent, type ReactNode } from "react";
import { type Got, touchesRun, type RunPage } from "../../api/types";
import { api, path, record } from "../../api/request";
import { useResource, useAct } from "../../api/resource";
import { Button, Code } from "../../parts/Button";
import { Empty, Trouble, Absent, Loaded, sentence } from "../../parts/States";
import { navigate, usePlace, withQuery, TextLink } from "../../router";
import { plural, duration } from "../../format";
import { type Answered, keptAnswer, type Told, planWords, sourceWords, stepsOf, tookOf, type UsedAgent } from "./kept";
import { keepDraft, useDraft } from "../../parts/draft";
import { sendByKey } from "../../parts/editing";
import { SEND } from "../../shell/keys";
import { Field } from "../../parts/Field";
import { copy } from "../../parts/toasts";
import { type State, StatusGlyph } from "../../parts/StatusGlyph";
import "./ask.css";

export default function Ask() {
  const { query } = usePlace();
  const [text, setText] = useDraft("ask", query.get("q") ?? "");
  const debug = query.get("debug") === "1";
  const execution = query.get("execution");
  const workers = useResource<Got<"/api/agents/registry">>("/api/agents/registry", { on: (event) => event.kind === "agents" });
  const [fresh, setFresh] = useState<{ run: string | null; answered: Answered } | null>(null);
  const answer = fresh && fresh.run === execution ? fresh.answered : null;
  const [ask, { busy, failure }] = useAct(async (event?: FormEvent) => {
    event?.preventDefault();
    const words = text.trim();
    if (words === "" || busy) return;
    setFresh(null);
    // The answer before this one stays in the history.
    navigate(withQuery({ q: words, execution: null }), { replace: execution === null });
    // By now the address has it.
    keepDraft("ask", null);
    const began = Date.now();
    let run: string | null = null;
    const reply = await api.post<Answered["reply"]>("/query", { query: words, options: { debug: true } }, { heard: (headers) => (run = headers.get("x-run-id")) });
    setFresh({ run, answered: { query: words, reply, tookMs: Date.now() - began } });
    // It may come when another page is open by now.
    if (window.location.pathname === "/") navigate(withQuery({ execution: run }), { replace: true });
  });
  const chat = () => {
    if (text.trim() !== "") keepDraft("chat.new", text);
    navigate("/agents/chat");
  };
  const none = workers.data?.length === 0;
  return (
    <section className="ask" aria-label="Ask the supervisor">
      <h2 className="row">Ask the supervisor {workers.data && <span className="small muted">{plural(workers.data.length, "worker")}</span>}</h2>
      <form onSubmit={ask} onKeyDown={sendByKey}>
        <Field id="query" label="What should be done?" name="query" rows={2} value={text} maxLength={20_000} onText={setText} />
        <div className="row">
          <label className="check">
            <input type="checkbox" name="debug" checked={debug} onChange={(event) => navigate(withQuery({ debug: event.target.checked ? "1" : null }), { replace: true })} />
            Show steps
          </label>
          <span className="grow" />
          {busy && (
            <span className="small muted" role="status">
              Workers answer
            </span>
          )}
          <Button look="primary" type="submit" disabled={busy || text.trim() === ""} shortcut={SEND}>
            Ask
          </Button>
        </div>
      </form>
      {failure && <Trouble failure={failure} retry={ask} />}
      {execution !== null && <KeptAnswer key={execution} id={execution} fresh={answer} debug={debug} />}
      {execution === null && answer && <Answer answered={answer} told={[]} debug={debug} />}
      {execution === null && !answer && !failure && none && (
        <Empty command="cleo agents register notes --intent summary.create --command 'sh notes.sh'" action={<Button onClick={chat}>Ask the agents in a chat</Button>}>
          No workers are registered, so no query can be answered. A worker is a program or an address that you trust.
        </Empty>
      )}
    </section>
  );
}

interface KeptAnswerProps {
  id: string;
  /** The answer when it was given just now: it says more than what is kept of it. */
  fresh: Answered | null;
  debug: boolean;
}

/** The answer that the address names, also after a reload and while it is still to come. */
function KeptAnswer({ id, fresh, debug }: KeptAnswerProps) {
  const where = `/api/runs/${encodeURIComponent(id)}`;
  const run = useResource<RunPage>(fresh ? null : where, { on: touchesRun(id) });
  const events = useResource<{ events: Told[] }>(path(`${where}/events`, { limit: 1000 }), { on: touchesRun(id) });
  const told = events.data?.events ?? [];
  const open = <TextLink href={`/runs/${encodeURIComponent(id)}`}>Open the run</TextLink>;
  const answer = (answered: Answered) => (
    <Answer answered={answered} told={told} debug={debug}>
      {open}
    </Answer>
  );
  if (fresh) return answer(fresh);
  return (
    <Loaded of={run} rows={4} absent={<Absent id={id} back={<TextLink href="/">Ask a question</TextLink>} />}>
      {(page) => {
        if (page.run.kind === "query") return answer(keptAnswer(page, told));
        return (
          <Empty action={open}>
            <span className="mono">{id}</span> is no question to the supervisor.
          </Empty>
        );
      }}
    </Loaded>
  );
}

interface AnswerProps {
  answered: Answered;
  told: readonly Told[];
  debug: boolean;
  /** Links after the time. */
  children?: ReactNode;
}

function Answer({ answered, told, debug, children }: AnswerProps) {
  const { reply, query, tookMs } = answered;
  const plan = planWords(told);
  return (
    <section className="answer" aria-label="Answer" aria-live="polite">
      <h2>{query}</h2>
      {reply.error && <p className="quote bad">{sentence(`${reply.error.type}: ${reply.error.message}`)}</p>}
      <p className="text">{reply.answer}</p>
      <div className="used">
        <span className="small muted">{reply.used_agents.length === 0 ? "No worker was used." : "Used"}</span>
        {reply.used_agents.map((agent, i) => (
          <Used key={i} agent={agent} />
        ))}
        {tookMs !== null && <span className="small muted">{duration(tookMs)}</span>}
        <span className="small">{children}</span>
      </div>
      {plan && <p className="small muted">{plan}</p>}
      {debug && <Steps reply={reply} told={told} />}
    </section>
  );
}

const GLYPHS: Record<string, State> = { success: "done", running: "running", stopped: "cancelled" };

function Used({ agent }: { agent: UsedAgent }) {
  return (
    <span className="row tight">
      <StatusGlyph state={GLYPHS[agent.status] ?? "failed"} verified={false} label={agent.status} />
      <span className="mono">{agent.name}</span>
      {agent.intent && <span className="mono muted">{agent.intent}</span>}
    </span>
  );
}

/** What each worker got back to the supervisor, in the order of the plan. */
function Steps({ reply, told }: { reply: Answered["reply"]; told: readonly Told[] }) {
  const steps = Object.entries(reply.intermediate_results);
  if (steps.length === 0) return <p className="muted small">No step was carried out.</p>;
  return (
    <div className="ask-steps">
      <h3 className="caption">Steps</h3>
      {steps.map(([name, result], i) => (
        <details key={name}>
          <summary>
            <StatusGlyph state={GLYPHS[String(result["status"])] ?? "failed"} verified={false} label={String(result["status"])} />
            <span className="mono">{name}</span>
            <span className="mono muted">{reply.used_agents[i]?.name}</span>
            <Course name={name} told={told} />
            {failed(result) && <span className="bad ell">{failed(result)}</span>}
          </summary>
          <Code>{JSON.stringify(result, null, 2)}</Code>
          <Button small icon="copy" onClick={() => copy(JSON.stringify(result, null, 2), name)}>
            Copy
          </Button>
        </details>
      ))}
    </div>
  );
}

function Course({ name, told }: { name: string; told: readonly Told[] }) {
  const step = stepsOf(told).find((one) => `step_${one.step_id}` === name);
  if (!step) return null;
  const took = tookOf(told, step.step_id);
  return (
    <span className="small muted">
      ← {sourceWords(step)}
      {took !== null && `, ${duration(took)}`}
    </span>
  );
}

function failed(result: Record<string, unknown>): string | null {
  const error = record(result["error"]);
  return error && ([error["type"], error["message"]].filter((word) => typeof word === "string").join(": ") || "failed");
}
