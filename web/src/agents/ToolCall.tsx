import { Icon } from "../parts/Icon";
import type { ToolCalled } from "./types";
import "./message.css";

/** A call of a tool in one folded line; one that failed stands open. */
export function ToolCall({ call }: { call: ToolCalled }) {
  const fault = faultOf(call.result);
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
      <pre className="code" tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </div>
  );
}

function faultOf(result: unknown): string | null {
  if (typeof result !== "object" || result === null) return null;
  const error = (result as Record<string, unknown>)["error"];
  return typeof error === "string" ? error : null;
}
