// Lines of the record of a run, as people read them.
import { duration } from "../../format/numbers";

const HIDDEN = new Set(["manifestId", "outputFile", "born", "group", "message"]);

/** `agent.ended T4 {"exitCode":0,"outcome":"ok"}` as `agent ended: exit code 0, outcome ok`. */
export function eventWords(text: string): string {
  const found = /^([a-z_]+(?:\.[a-z_]+)+|[a-z_]+)(?: (T\d+))?(?: (\{.*\}))?$/s.exec(text);
  if (!found) return text;
  const [, type = "", , json] = found;
  const name = type.replace(/[._]/g, " ");
  if (json === undefined) return name;
  try {
    const fields = Object.entries(JSON.parse(json) as Record<string, unknown>).filter(([key, value]) => !HIDDEN.has(key) && value !== null);
    const words = fields.map(([key, value]) => fieldWords(key, value)).join(", ");
    return words === "" ? name : `${name}: ${words}`;
  } catch {
    return text;
  }
}

function fieldWords(key: string, value: unknown) {
  if (key === "durationMs" && typeof value === "number") return duration(value);
  return `${key.replace(/([A-Z])/g, " $1").toLowerCase()} ${valueWords(value)}`;
}

function valueWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueWords).join("; ");
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return String(value).replace(/^E_[A-Z_]+: /, "");
}
