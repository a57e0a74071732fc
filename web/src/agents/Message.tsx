import { useState, memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { record, text } from "../api/request";
import { Ago } from "../format";
import { Monogram } from "./agents";
import type { Agent, ToolCalled, Execution } from "../api/types";
import { Icon } from "../parts/Icon";
import { Explained } from "./ScoreView";
import { Code } from "../parts/Button";
import "./message.css";

interface MessageProps {
  /** None for the person who writes. */
  agent: Pick<Agent, "name" | "color"> | null;
  at: string | null;
  /** Whether the one before is of the same sender: the name is not said again. */
  continues: boolean;
  text: string;
  streaming?: boolean;
  pending?: boolean;
}

/** A message. The text of a person is shown as it was written. */
export function Message({ agent, at, continues, text, streaming = false, pending = false }: MessageProps) {
  const classes = ["said", agent ? "theirs" : "mine", continues ? "more" : "", pending ? "pending" : ""];
  return (
    <article className={classes.filter(Boolean).join(" ")} aria-label={agent ? agent.name : "You"}>
      {!continues && agent && <Monogram agent={agent} />}
      {!continues && (
        <p className="who">
          <span className="ell">{agent ? agent.name : "You"}</span>
          {at !== null && <Ago at={at} />}
        </p>
      )}
      <div className="what">
        {agent ? <Markdown text={text} /> : <p className="text">{text}</p>}
        {streaming && <span className="caret" aria-hidden="true" />}
      </div>
    </article>
  );
}

/** A call of a tool in one folded line; one that failed stands open. */
export function ToolCall({ call }: { call: ToolCalled }) {
  const fault = text(record(call.result)?.["error"]);
  return (
    <details className={fault === null ? "tool-call" : "tool-call failed"} open={fault !== null}>
      <summary>
        <span className="chevron">
          <Icon name="right" />
        </span>
        <span className="ell">
          {call.name} <span className="muted">{JSON.stringify(call.args)}</span>
        </span>
        {fault !== null && <span>failed</span>}
      </summary>
      <div className="body">
        {fault !== null && <p>{fault}</p>}
        <Json label="Arguments" value={call.args} />
        {fault === null && <Json label="Result" value={call.result} />}
      </div>
    </details>
  );
}

function Json({ label, value }: { label: string; value: unknown }) {
  return (
    <div>
      <p className="caption">{label}</p>
      <Code>{JSON.stringify(value, null, 2)}</Code>
    </div>
  );
}

/** Between two messages: to whom the first was handed. It opens to the reasons. */
export function DelegationLine({ execution, agents }: { execution: Pick<Execution, "input" | "delegatedTo" | "routing" | "agentId">; agents: readonly Agent[] }) {
  const [open, setOpen] = useState(false);
  const { delegatedTo, routing } = execution;
  const to = delegatedTo ?? "finalize";
  const name = agents.find((one) => one.id === to)?.name ?? to;
  const isAsked = routing.by === "requested";
  return (
    <details className="delegation" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="chevron">
          <Icon name="right" />
        </span>
        <span>
          → <b>{name}</b>
          {isAsked ? ", asked for" : `, score ${routing.score}`}
        </span>
      </summary>
      {open && (
        <div className="body">
          <Explained delegation={{ to, score: routing.score, reason: routing.reason }} message={execution.input} requested={isAsked ? (delegatedTo ?? undefined) : undefined} agents={agents} />
        </div>
      )}
    </details>
  );
}

/** Longest text that is laid out, in characters, and how many characters of it may be marks. */
const LONGEST = 200_000;
const MOST_MARKS = 5_000;
/** A line that begins twelve quotes, lists and notes in each other. */
const DEEP = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)]|\[\^[^\]\n]*\]:)){12}/m;

/** What an agent wrote, laid out; HTML in it is text. What would take long to read is shown as it is. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const isPlain = text.length > LONGEST || (text.match(/[*_~`[\]<]/g)?.length ?? 0) > MOST_MARKS || DEEP.test(text);
  return (
    <div className="markdown">
      {isPlain ? (
        <Code>{text}</Code>
      ) : (
        <ReactMarkdown remarkPlugins={PLUGINS} components={PARTS} urlTransform={safeHref}>
          {text}
        </ReactMarkdown>
      )}
    </div>
  );
});

/** Where a link may lead: web and mail addresses. */
export function safeHref(href: string): string | null {
  return /^(?:https?:\/\/|mailto:)[^\s<>"'`\\\p{Cc}]+$/iu.test(href) ? href : null;
}

const PLUGINS = [remarkGfm];

/** Pictures are words, and links lead out of the pages. The headings of a page are its own; those of a text are only strong. */
const PARTS: Components = {
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  pre: ({ children }) => <Code>{children}</Code>,
  blockquote: ({ children }) => <blockquote className="quote">{children}</blockquote>,
  table: ({ children }) => (
    <div className="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  th: ({ children }) => <th scope="col">{children}</th>,
  td: ({ children }) => <td>{children}</td>,
  img: ({ alt }) => (alt ? `(picture: ${alt})` : "(picture)"),
  input: ({ checked }) => (checked ? "[x]" : "[ ]"),
  a: ({ href, children }) =>
    href ? (
      <a className="link" href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      children
    ),
};

function Heading({ children }: { children?: React.ReactNode }) {
  return <p className="markdown-heading">{children}</p>;
}
