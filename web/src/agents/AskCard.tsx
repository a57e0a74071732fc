import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { Ago, useNow, millis } from "../format";
import type { Change, Choosable, Pending } from "../api/types";
import { Button } from "../parts/Button";
import { TableHead } from "../parts/Facts";
import "./message.css";

interface Props {
  asked: AskedFor;
  /** Whether it may take the focus: nothing is typed yet. */
  takesFocus: boolean;
  busy: boolean;
  onAnswer: (answer: string) => void;
}

/** A question of an agent that waits: a yes or no to a change, or a choice. */
export function AskCard({ asked, takesFocus, busy, onAnswer }: Props) {
  const card = useRef<HTMLDivElement>(null);
  const question = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it appears: an answer that is being typed keeps the focus
  useEffect(() => {
    if (takesFocus) card.current?.focus({ preventScroll: true });
  }, []);
  const isOver = useNow() > millis(asked.expires);
  const Body = asked.kind === "confirm" ? Confirm : Select;
  return (
    <div className="ask-card" ref={card} role="group" tabIndex={-1} aria-labelledby={question} onKeyDown={(event) => keys(event, asked, isOver || busy, onAnswer)}>
      <p className="question" id={question}>
        {asked.question}
      </p>
      {asked.changes.length > 0 && <Changes asked={asked} />}
      {asked.more !== "" && <p className="small more">{asked.more}</p>}
      {isOver ? <p className="small muted">This question has expired. Ask again to change something.</p> : <Body asked={asked} busy={busy} onAnswer={onAnswer} />}
    </div>
  );
}

/** Y and N, and numbers, only while the card has the focus. */
function keys(event: KeyboardEvent, asked: AskedFor, off: boolean, onAnswer: (answer: string) => void) {
  if (off || event.metaKey || event.ctrlKey || event.altKey) return;
  const key = event.key.toLowerCase();
  const place = Number(key);
  const answer = asked.kind === "confirm" ? { y: "yes", n: "no" }[key] : place >= 1 && place <= asked.options.length ? String(place) : undefined;
  if (answer === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  onAnswer(answer);
}

function Changes({ asked }: { asked: AskedFor }) {
  return (
    <table>
      <TableHead className="unseen" columns={["Field", "Before", "After"]} />
      <tbody>
        {asked.changes.map((change) => (
          <tr key={change.label}>
            <th scope="row">{change.label}</th>
            <td className="before">{change.before ?? ""}</td>
            <td>
              <span aria-hidden="true" className="muted">
                →{" "}
              </span>
              <strong>{change.after}</strong>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type BodyProps = Pick<Props, "asked" | "busy" | "onAnswer">;

function Confirm({ asked, busy, onAnswer }: BodyProps) {
  return (
    <div className="actions">
      <Button look={asked.destructive ? "danger" : "primary"} shortcut="Y" disabled={busy} onClick={() => onAnswer("yes")}>
        {asked.verb}
      </Button>
      <Button shortcut="N" disabled={busy} onClick={() => onAnswer("no")}>
        Cancel
      </Button>
      <Expiry at={asked.expires} />
    </div>
  );
}

function Select({ asked, busy, onAnswer }: BodyProps) {
  const name = useId();
  const [chosen, setChosen] = useState<number | null>(null);
  return (
    <>
      <fieldset>
        <legend className="unseen">Components</legend>
        {asked.options.map((option, at) => (
          <label className="option" key={option.id}>
            <input type="radio" name={name} checked={chosen === at} onChange={() => setChosen(at)} />
            <span className="muted right">{at < 9 ? at + 1 : ""}</span>
            <span className="mono">{option.id}</span>
            <span className="muted ell">{option.type}</span>
            <span className="ell">{option.title}</span>
          </label>
        ))}
      </fieldset>
      <div className="actions">
        <Button look="primary" disabled={busy || chosen === null} onClick={() => onAnswer(asked.options[chosen ?? 0]?.id ?? "")}>
          Choose
        </Button>
        <Button disabled={busy} onClick={() => onAnswer("cancel")}>
          None of these
        </Button>
        <Expiry at={asked.expires} />
      </div>
    </>
  );
}

function Expiry({ at }: { at: string }) {
  return (
    <span className="expiry">
      expires <Ago at={at} />
    </span>
  );
}

interface AskedFor {
  kind: "confirm" | "select";
  question: string;
  /** What the reply says beside the question and the changes. */
  more: string;
  changes: Change[];
  options: Choosable[];
  verb: string;
  destructive: boolean;
  expires: string;
}

export function askedFor(pending: Pending, reply: string): AskedFor {
  const { question, more } = split(reply);
  const isSelect = pending.kind === "select";
  const isNew = pending.tool === "addComponent";
  const component = word(pending.args["componentId"]);
  return {
    kind: isSelect ? "select" : "confirm",
    question: isSelect ? "Which component is meant?" : question,
    more: isSelect ? "" : more,
    // Of what is new nothing was set before.
    changes: pending.changes.map((change) => (isNew ? change : { ...change, before: change.before ?? "not set" })),
    options: pending.options,
    verb: !pending.destructive ? "Confirm" : pending.tool === "deleteComponent" ? `Delete component ${component}` : `Remove ${word(pending.args["security_group_title"])} from component ${component}`,
    destructive: pending.destructive,
    expires: pending.expires,
  };
}

const UNDERSTOOD = "Understood: ";

/** The sentence that asks, and everything else of a reply. */
function split(reply: string): { question: string; more: string } {
  const lines = reply.split("\n").filter((line) => line.trim() !== "");
  // An agent that says what it understood asks for that.
  const understood = lines.find((line) => line.startsWith(UNDERSTOOD))?.slice(UNDERSTOOD.length);
  if (understood !== undefined) {
    const rest = lines.filter((line) => !line.startsWith(UNDERSTOOD) && !/^(?:Action: none|Next: )/.test(line));
    return { question: understood.charAt(0).toUpperCase() + understood.slice(1).replace(/\.$/, "") + "?", more: rest.join("\n") };
  }
  const asks = lines.findIndex((line) => line.includes("?"));
  const question = lines[asks] ?? lines[0] ?? "";
  return { question, more: lines.filter((line) => line !== question).join("\n") };
}

export function word(value: unknown): string {
  return typeof value === "string" ? value : "";
}
