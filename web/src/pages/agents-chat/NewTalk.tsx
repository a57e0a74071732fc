import { useId, useState } from "react";
import { Failure } from "../../api/failure";
import { CHAT, SUPERVISOR } from "../../agents/names";
import type { Agent } from "../../agents/types";
import { Trouble } from "../../parts/States";
import { navigate, usePlace } from "../../router/location";
import { Composer, restore } from "./Composer";
import { begin, send } from "./outbox";

const WITH: Record<string, string> = {
  [SUPERVISOR]: "Each message goes to the agent whose words and tags it names. The reasons stand between the messages.",
  [CHAT]:
    'Shows and changes the design and the components of a client. Every change is shown and asked for before it is made. Say "help" to see the sentences that it understands, with your own ids and titles.',
};

/** The beginning of a conversation: with whom, and the first message. */
export function NewTalk({ agents, known }: { agents: readonly Agent[]; known: boolean }) {
  const { query } = usePlace();
  const [wanted, setWanted] = useState(query.get("agent") ?? SUPERVISOR);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const choice = useId();
  const offered = agents.filter((one) => one.id !== SUPERVISOR && one.status === "active");
  const missing = known && !Object.hasOwn(WITH, wanted) && !offered.some((one) => one.id === wanted);
  const agent = missing ? SUPERVISOR : wanted;
  const chosen = agents.find((one) => one.id === wanted);
  const start = async (text: string) => {
    setBusy(true);
    try {
      const conversation = await begin(agent, text);
      void send(conversation, text);
      navigate(`/agents/chat/${encodeURIComponent(conversation.id)}`);
    } catch (fault) {
      restore("new", text);
      setFailure(Failure.from(fault));
      setBusy(false);
    }
  };
  return (
    <section className="thread" aria-label="New conversation">
      <div className="thread-scroll">
        <div className="thread-column new-talk">
          <div className="field">
            <label htmlFor={choice}>Talk to</label>
            <select id={choice} className="input" value={agent} onChange={(event) => setWanted(event.target.value)}>
              <option value={SUPERVISOR}>Whoever fits (routed)</option>
              <option value={CHAT}>Designs and components</option>
              {offered.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </div>
          {missing && (
            <p className="notice" role="status">
              {chosen ? `${chosen.name} is ${chosen.status}.` : `${wanted} does not exist here.`} The message goes to whoever fits.
            </p>
          )}
          <p className="muted">{WITH[agent] ?? chosen?.description ?? ""}</p>
          {failure && <Trouble failure={failure} />}
        </div>
      </div>
      <Composer key={failure ? "again" : "first"} draft="new" label="First message" busy={busy} onStop={null} onSend={(text) => void start(text)} />
    </section>
  );
}
