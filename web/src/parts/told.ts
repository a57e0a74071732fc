/** What cleo said, apart: the sentence without its code, its kind as words, and the command that it ends with. */
export function told(text: string): { words: string; command: string | null } {
  const bare = text.replace(/^E_[A-Z_]+: /, "").replace(/^[a-z]+_[a-z_]+(?=: )/, (kind) => kind.replace(/_/g, " "));
  const found = /^(.*?)\s*\(`([^`]+)`\)\.?$/s.exec(bare);
  return found ? { words: found[1] ?? bare, command: found[2] ?? null } : { words: bare, command: null };
}

/** What stands between backticks, as a page quotes. */
export function quoted(text: string) {
  return text.replace(/`([^`]+)`/g, "“$1”");
}

/** The server's sentences begin small and end without a full stop; a page's do not. */
export function sentence(said: string) {
  const text = quoted(told(said).words);
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?:]$/.test(first) ? first : first + ".";
}
