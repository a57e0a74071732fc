// Ask the supervisor: the field on top, the answer under it, who was used and what came back.
import { useState, type FormEvent } from "react";
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
import "./ask.css";

interface Worker {
  name: string;
  description: string;
}

export default function Ask() {
  const { query } = usePlace();
  const [text, setText] = useState(query.get("q") ?? "");
  const debug = query.get("debug") === "1";
  const workers = useResource<Worker[]>("/api/agents/registry", { on: (event) => event.kind === "agents" });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [answer, setAnswer] = useState<Answered | null>(null);

  async function ask(event?: FormEvent) {
    event?.preventDefault();
    const words = text.trim();
    if (words === "" || busy) return;
    setBusy(true);
    setFailure(null);
    navigate(withQuery({ q: words }), { replace: true });
    const began = Date.now();
    try {
      const reply = await api.post<Answered["reply"]>("/query", { query: words, options: { debug: true } });
      setAnswer({ query: words, reply, tookMs: Date.now() - began });
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
              id="query" name="query" className="input" rows={4} value={text} maxLength={20_000} autoFocus
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => { if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void ask(); }}
            />
          </div>
          <div className="row">
            <label className="check">
              <input type="checkbox" name="debug" checked={debug} onChange={(event) => navigate(withQuery({ debug: event.target.checked ? "1" : null }), { replace: true })} />
              Show steps
            </label>
            <span className="grow" />
            {busy && <span className="small muted" role="status">Workers answer</span>}
            <Button look="primary" type="submit" disabled={busy || text.trim() === ""} shortcut={isMac ? "⌘↵" : "Ctrl ↵"}>Ask</Button>
          </div>
        </form>
        {failure && <Trouble failure={failure} retry={() => void ask()} />}
        {answer && <Answer answered={answer} debug={debug} />}
        {!answer && !failure && none && (
          <Empty command="cleo agents register notes --intent summary.create --command 'sh notes.sh'">No workers are registered, so nobody can answer. A worker is a program or an address that you trust.</Empty>
        )}
      </div>
    </Page>
  );
}
