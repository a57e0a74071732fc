export type GateState = "open" | "optional" | "passed" | "forced" | "failed";

export const GATES = ["implemented", "testsPassed", "qaPassed", "cleanupDone", "securityPassed", "documented"] as const;

const LOOKS: Record<string, string> = { optional: "free", passed: "passed", forced: "passed", failed: "failed" };

/** Six segments: full = passed, full with a cut = failed, outline = open, low = not required. */
export function GateMeter({ gates }: { gates: readonly string[] }) {
  const required = gates.filter((gate) => gate !== "optional");
  const passed = required.filter((gate) => gate === "passed" || gate === "forced").length;
  const name = `Gates: ${passed} of ${required.length} required passed`;
  return (
    <span className="gates" role="img" aria-label={name} title={name}>
      {gates.map((gate, i) => (
        <i key={GATES[i] ?? i} className={LOOKS[gate] ?? ""} />
      ))}
    </span>
  );
}
