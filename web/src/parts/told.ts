/** What cleo said, apart: the sentence without its code, and the command that it ends with. */
export function told(text: string): { words: string; command: string | null } {
  const bare = text.replace(/^E_[A-Z_]+: /, "");
  const found = /^(.*?)\s*\(`([^`]+)`\)\.?$/s.exec(bare);
  return found ? { words: found[1] ?? bare, command: found[2] ?? null } : { words: bare, command: null };
}
