// Ask the supervisor: the field on top, the answer under it, who was used and what came back.
import type { Got } from "../../api/answers";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { useResource } from "../../api/resource";
import { Button } from "../../parts/Button";
import { Empty, Trouble } from "../../parts/States";
import { navigate, usePlace, withQuery } from "../../router/location";
import { isMac } from "../../shell/keys";
import { Page } from "../../shell/Page";
import { plural } from "../../format/numbers";
import { Answer } from "./Answer";
import type { Answered } from "./answered";
import { KeptAnswer } from "./KeptAnswer";
import "./ask.css";

export default function Ask() {
  const { query } = usePlace();
  const [text, setText] = useState(query.get("q") ?? "");
  const debug = query.get("debug") === "1";
  const execution = query.get("execution");
  const workers = useResource<Got<"/api/agents/registry">>("/api/agents/registry", { on: (event) => event.kind === "agents" });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [fresh, setFresh] = useState<{ run: string | null; answered: Answered } | null>(null);
  const answer = fresh && fresh.run === execution ? fresh.answered : null;
  const here = useHere();

  async function ask(event?: FormEvent) {
    event?.preventDefault();
    const words = text.trim();
    if (words === "" || busy) return;
    setBusy(true);
    setFailure(null);
    setFresh(null);
    // The answer before this one stays in the history.
    navigate(withQuery({ q: words, execution: null }), { replace: execution === null });
    const began = Date.now();
    let run: string | null = null;
    try {
      const reply = await api.post<Answered["reply"]>("/query", { query: words, options: { debug: true } }, { heard: (headers) => (run = headers.get("x-run-id")) });
      setFresh({ run, answered: { query: words, reply, tookMs: Date.now() - began } });
      if (here.current) navigate(withQuery({ execution: run }), { replace: true });
    } catch (fault) {
      if (fault instanceof Failure) setFailure(fault);
    }
    setBusy(false);
  }

  const none = workers.data?.length === 0;
  return (
    <Page title="Ask the supervisor" actions={workers.data && <span className="small muted">{plural(workers.data.length, "worker")}</span>}>
      <div className="ask pane">
        <form onSubmit={(event) => void ask(event)}>
          <div className="field">
            <label htmlFor="query">What should be done?</label>
            <textarea
              id="query"
              name="query"
              className="input"
              rows={4}
              value={text}
              maxLength={20_000}
              autoFocus
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void ask();
              }}
            />
          </div>
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
            <Button look="primary" type="submit" disabled={busy || text.trim() === ""} shortcut={isMac ? "⌘↵" : "Ctrl ↵"}>
              Ask
            </Button>
          </div>
        </form>
        {failure && <Trouble failure={failure} retry={() => void ask()} />}
        {execution !== null && <KeptAnswer key={execution} id={execution} fresh={answer} debug={debug} />}
        {execution === null && answer && <Answer answered={answer} told={[]} debug={debug} />}
        {execution === null && !answer && !failure && none && (
          <Empty command="cleo agents register notes --intent summary.create --command 'sh notes.sh'">
            No workers are registered, so nobody can answer. A worker is a program or an address that you trust.
          </Empty>
        )}
      </div>
    </Page>
  );
}

/** Whether this page is still the one that is shown: an answer may come when somebody has gone on. */
function useHere() {
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);
  return here;
}
