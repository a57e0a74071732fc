import { useId, useState, type FormEvent } from "react";
import { useAct } from "../../api/act";
import type { Failure } from "../../api/failure";
import { api } from "../../api/request";
import { touch } from "../../api/resource";
import type { Conversation } from "../../agents/types";
import { Button } from "../../parts/Button";
import { Confirm, Dialog } from "../../parts/Dialog";
import { Menu } from "../../parts/Menu";
import { Trouble } from "../../parts/States";
import { navigate } from "../../router/location";

/** Renaming and archiving a conversation. */
export function TalkMenu({ conversation }: { conversation: Conversation }) {
  const [asks, setAsks] = useState<"title" | "archive" | null>(null);
  const { run: put, failure } = useAct(async (change: Record<string, string>) => {
    await api.put(`/api/conversations/${encodeURIComponent(conversation.id)}`, change);
    touch("/api/conversations");
    setAsks(null);
    if (change["status"]) navigate("/agents/chat");
  });
  if (conversation.status === "archived") return null;
  return (
    <>
      <Menu
        label="Actions for the conversation"
        trigger={<Button look="ghost" small icon="more" aria-label="Actions for the conversation" />}
        entries={[
          { label: "Rename…", icon: "edit", onSelect: () => setAsks("title") },
          { label: "Archive…", onSelect: () => setAsks("archive") },
        ]}
      />
      {asks === "title" && <Title now={conversation.title ?? ""} failure={failure} onSave={(title) => put({ title })} onClose={() => setAsks(null)} />}
      {asks === "archive" && (
        <Confirm title="Archive this conversation?" action="Archive" onConfirm={() => put({ status: "archived" })} onClose={() => setAsks(null)}>
          <p>It leaves the list. It can still be read at its address, and nothing can be added to it.</p>
          {failure && <Trouble failure={failure} />}
        </Confirm>
      )}
    </>
  );
}

function Title({ now, failure, onSave, onClose }: { now: string; failure: Failure | null; onSave: (title: string) => void; onClose: () => void }) {
  const [title, setTitle] = useState(now);
  const field = useId();
  const save = (event: FormEvent) => {
    event.preventDefault();
    onSave(title);
  };
  return (
    <Dialog title="Rename the conversation" onClose={onClose}>
      <form className="talk-title" onSubmit={save}>
        <div className="field">
          <label htmlFor={field}>Title</label>
          <input id={field} className="input" value={title} autoComplete="off" onChange={(event) => setTitle(event.target.value)} />
        </div>
        {failure && <Trouble failure={failure} />}
        <footer>
          <Button onClick={onClose}>Keep</Button>
          <Button look="primary" type="submit">
            Rename
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
