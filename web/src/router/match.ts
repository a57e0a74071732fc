export type Params = Record<string, string>;

/** Matches a path with a pattern such as `/runs/:id`; null when it is another page. */
export function match(pattern: string, path: string): Params | null {
  const want = pattern.split("/");
  const have = path.replace(/(.)\/+$/, "$1").split("/");
  if (want.length !== have.length) return null;
  const params: Params = {};
  for (const [i, part] of want.entries()) {
    const value = have[i] ?? "";
    if (part.startsWith(":")) {
      if (value === "") return null;
      params[part.slice(1)] = value;
    } else if (part !== value) return null;
  }
  return params;
}
