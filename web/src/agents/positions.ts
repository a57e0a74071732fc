/** Where the user put the boxes of the picture of agents; kept in this browser. */

export interface Position {
  x: number;
  y: number;
}

const KEY = "cleo.agents.positions";

export function kept(): Record<string, Position> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, Position] => isPosition(entry[1])));
  } catch {
    return {};
  }
}

export function keep(id: string, position: Position) {
  write({ ...kept(), [id]: { x: Math.round(position.x), y: Math.round(position.y) } });
}

export function forget() {
  write({});
}

function write(positions: Record<string, Position>) {
  try {
    localStorage.setItem(KEY, JSON.stringify(positions));
  } catch {
    // A browser that keeps nothing draws the layout of the server each time.
  }
}

function isPosition(value: unknown): value is Position {
  if (typeof value !== "object" || value === null) return false;
  const { x, y } = value as Record<string, unknown>;
  return Number.isFinite(x) && Number.isFinite(y);
}
