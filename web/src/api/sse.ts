export interface Message {
  id: string | null;
  type: string;
  data: string;
}

/** Puts the lines of a stream of events together, as the HTML standard says, from pieces of any size. */
export class Lines {
  private rest = "";
  private data: string[] = [];
  private type = "";
  private id: string | null = null;
  retry: number | null = null;

  feed(piece: string): Message[] {
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line) ?? []);
  }

  private line(line: string): Message | null {
    if (line === "") return this.dispatch();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    else if (name === "event") this.type = value;
    else if (name === "id" && !value.includes("\0")) this.id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
    return null;
  }

  private dispatch(): Message | null {
    const { data, type } = this;
    this.data = [];
    this.type = "";
    if (data.length === 0) return null;
    return { id: this.id, type: type === "" ? "message" : type, data: data.join("\n") };
  }
}
