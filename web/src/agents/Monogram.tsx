import type { Agent } from "./types";
import "./monogram.css";

/** The first letter of an agent with its colour at the left edge; its name stands beside it. */
export function Monogram({ agent }: { agent: Pick<Agent, "name" | "color"> | undefined }) {
  const letter = [...(agent?.name.trim() ?? "")][0]?.toUpperCase() ?? "·";
  const color = agent && /^#[0-9a-f]{6}$/i.test(agent.color) ? agent.color : "var(--n8)";
  return (
    <span className="monogram" aria-hidden="true" style={{ borderLeftColor: color }}>
      {letter}
    </span>
  );
}
