import type { ReactNode } from "react";
import { Ago } from "../format";
import { Markdown } from "./Markdown";
import { Monogram } from "./Monogram";
import type { Agent } from "./types";
import "./message.css";

interface Props {
  /** None for the person who writes. */
  agent: Pick<Agent, "name" | "color"> | null;
  at: string | null;
  /** Whether the one before is of the same sender: the name is not said again. */
  continues: boolean;
  text: string;
  /** More of it is coming. */
  streaming?: boolean;
  /** It is on its way to the server. */
  pending?: boolean;
  aside?: ReactNode;
}

/** What somebody said. What a person wrote is shown as it was written. */
export function Message({ agent, at, continues, text, streaming = false, pending = false, aside }: Props) {
  const classes = ["said", agent ? "theirs" : "mine", continues ? "more" : "", pending ? "pending" : ""];
  return (
    <article className={classes.filter(Boolean).join(" ")} aria-label={agent ? agent.name : "You"}>
      {!continues && agent && <Monogram agent={agent} />}
      {!continues && (
        <p className="who">
          <span className="ell">{agent ? agent.name : "You"}</span>
          {at !== null && <Ago at={at} />}
          {aside}
        </p>
      )}
      <div className="what">
        {agent ? <Markdown text={text} /> : <p className="text">{text}</p>}
        {streaming && <span className="caret" aria-hidden="true" />}
      </div>
    </article>
  );
}
