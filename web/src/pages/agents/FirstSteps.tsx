import type { Agent, Execution } from "../../agents/types";
import { StatusGlyph } from "../../parts/StatusGlyph";
import { Link } from "wouter";
import { NEW_AGENT } from "./Overview";

/** What to do first; a step is ticked once the store shows it. */
export function FirstSteps({ agents, executions }: { agents: readonly Agent[]; executions: readonly Execution[] }) {
  const own = agents.filter((agent) => !agent.isBuiltin);
  const reached = executions.some((one) => own.some((agent) => agent.id === one.delegatedTo));
  return (
    <section className="section" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol className="first-steps">
        <Step done={executions.length > 0} href="/agents/architecture" label="Run a message and see which agent it reaches" />
        <Step done={own.length > 0} href={NEW_AGENT} label="Create an agent with tags of your own" />
        <Step done={reached} href="/agents/architecture" label="Run a message that reaches it" />
      </ol>
    </section>
  );
}

function Step({ done, href, label }: { done: boolean; href: string; label: string }) {
  return (
    <li className="row">
      <StatusGlyph state={done ? "done" : "ready"} label={done ? "Done" : "Open"} />
      <Link className="link" href={href}>
        {label}
      </Link>
    </li>
  );
}
