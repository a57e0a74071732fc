/** An answer put together of pieces, each of which says how much came before it. Pure. */

export interface Piece {
  /** How many UTF-16 units of the answer came before. */
  after: number;
  text: string;
}

export interface SoFar {
  text: string;
  /** Pieces before which something is missing. */
  ahead: Piece[];
}

/** Most characters of an answer, and most pieces that wait for what is missing. */
const LONGEST = 400_000;
const WAITING = 5_000;

/** Takes a piece: what is known already is passed over, and what comes too soon waits. */
export function joined(answer: SoFar = { text: "", ahead: [] }, piece: Piece): SoFar {
  const pieces = [...answer.ahead, piece].sort((a, b) => a.after - b.after);
  let { text } = answer;
  const ahead: Piece[] = [];
  for (const one of pieces) {
    if (one.after > text.length) ahead.push(one);
    else text += one.text.slice(text.length - one.after);
  }
  const isFull = text.length >= LONGEST;
  return { text: text.slice(0, LONGEST), ahead: isFull ? [] : ahead.slice(-WAITING) };
}
