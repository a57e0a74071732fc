import { useState, type FormEvent } from "react";
import { api } from "../../api/request";
import { useAct } from "../../api/resource";
import { Button, Command } from "../../parts/Button";
import { sentence } from "../../parts/States";
import { Mark } from "../../shell/Sidebar";
import { usePlace } from "../../router";
import { Field } from "../../parts/Field";
import "./sign-in.css";

export default function SignIn() {
  const { query } = usePlace();
  const [token, setToken] = useState("");
  const [submit, { busy, failure }] = useAct(async (event: FormEvent) => {
    event.preventDefault();
    await api.post("/api/session", { token: token.trim() });
    window.location.assign(ownPath(query.get("next")));
  });

  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <div className="row">
          <Mark />
          <h1>Sign in to cleo</h1>
        </div>
        <Field
          label="Token"
          name="password"
          type="password"
          className="mono"
          autoComplete="current-password"
          autoFocus
          value={token}
          onText={setToken}
          fault={failure && <span role="alert">{sentence(failure.message)}</span>}
        />
        <p className="small muted">Made on the machine where the server runs:</p>
        <Command line="cleo serve token create" />
        <Button look="primary" type="submit" disabled={busy || token.trim() === ""}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

/** Only a path of our own: `//host` and `/\host` lead elsewhere. */
function ownPath(next: string | null): string {
  if (next === null || !/^\/(?![/\\])/.test(next)) return "/work";
  const url = new URL(next, window.location.origin);
  return url.origin === window.location.origin ? url.pathname + url.search : "/work";
}
