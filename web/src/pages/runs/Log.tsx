// What an agent said while it worked: keyed by task and attempt, windowed, followed until the user scrolls up.
import { useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { LogLine, LogPage } from "../../api/types";
import { bytes, duration, offset, plural } from "../../format";
import { Button, TextButton } from "../../parts/Button";
import { SearchField } from "../../parts/Field";
import { Ghost, Trouble } from "../../parts/States";
import { useConnection } from "../../api/request";
import { useKeys } from "../../shell/keys";
import { eventWords, useLog } from "./useLog";
import { useLate, useResource, flip } from "../../api/resource";
import "./log.css";

/** The log of an attempt. `beside` others it has no keys: they could mean any of them. */
export function Log({ run, task, attempt, beside = false }: { run: string; task: string; attempt: number; beside?: boolean }) {
  const field = useId();
  const { total, lines, following, failure, need, pathOf, retry } = useLog(run, task, attempt);
  const reachable = useConnection((connection) => connection.reachable);
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const [seen, setSeen] = useState(0);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [words, setWords] = useState("");
  const { matches, at, go } = useFind(words, (q) => pathOf({ from: 0, limit: 1, q }), show);
  const list = useVirtualizer({ count: total ?? 0, getScrollElement: () => scroller.current, estimateSize: () => 20, overscan: 30, getItemKey: (i) => i });
  const shown = list.getVirtualItems();
  const first = shown[0]?.index ?? 0;
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => need(first, last), [need, first, last]);
  const height = list.getTotalSize();
  useEffect(() => {
    if (atEnd && total) {
      list.scrollToIndex(total - 1, { align: "end" });
      setSeen(total);
    }
  }, [atEnd, total, list, height]);

  function show(n: number) {
    setAtEnd(false);
    list.scrollToIndex(n, { align: "center" });
  }
  function scrolled() {
    const box = scroller.current;
    if (box) setAtEnd(box.scrollHeight - box.scrollTop - box.clientHeight < 24);
  }
  function nextError() {
    const errors = [...lines.values()]
      .filter((line) => line.error)
      .map((line) => line.n)
      .sort((a, b) => a - b);
    const next = errors.find((n) => n > first + 2) ?? errors[0];
    if (next !== undefined) show(next);
  }
  const keys = [
    { keys: "L", does: "Follow the log", run: () => setAtEnd(true) },
    { keys: "/", does: "Find in the log", run: () => document.getElementById(field)?.focus() },
    { keys: "X", does: "Next error", run: nextError },
  ];
  useKeys("Log", beside ? [] : keys);

  return (
    <section className="log" aria-label={`Log of ${task}, attempt ${attempt}`}>
      <div className="log-tools">
        <SearchField id={field} label="Find in the log" value={words} onText={setWords} onKeyDown={(event) => event.key === "Enter" && go(event.shiftKey ? -1 : 1)} />
        {matches && (
          <span className="small muted" role="status">
            {matches.length === 0 ? "not found" : `${at + 1} of ${matches.length}`}
          </span>
        )}
        <span className="grow" />
        {following && (
          <Button small aria-pressed={atEnd} onClick={() => setAtEnd(!atEnd)}>
            <i className={reachable ? "dot" : "dot off"} />
            {atEnd ? "Following" : total !== null && total > seen ? plural(total - seen, "new line") : "Follow"}
          </Button>
        )}
        {!following && total !== null && <span className="small muted">{plural(total, "line")}</span>}
      </div>
      {failure && total === null && <Trouble failure={failure} retry={retry} />}
      {total === null && !failure && <Ghost rows={4} />}
      {total === 0 && <p className="empty muted">{following ? "Nothing was said yet." : "Nothing was kept of what was said."}</p>}
      <div ref={scroller} className="lines" tabIndex={0} role="group" aria-label="Lines" onScroll={scrolled} hidden={!total}>
        <ol style={{ height }}>
          {shown.map((item) => {
            const line = lines.get(item.index);
            return (
              <li key={item.key} ref={list.measureElement} data-index={item.index} style={{ transform: `translateY(${item.start}px)` }}>
                {line ? (
                  <Line line={line} words={words} current={matches?.[at] === line.n} open={open.has(line.n)} onToggle={() => setOpen(flip(open, line.n))} />
                ) : (
                  <span className="log-line muted">…</span>
                )}
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}

const FOLD = 400;

function Line({ line, words, current, open, onToggle }: { line: LogLine; words: string; current: boolean; open: boolean; onToggle: () => void }) {
  const long = line.text.length > FOLD;
  const text = long && !open ? line.text.slice(0, FOLD) : line.text;
  const look = ["log-line", line.ch, line.error && "error", current && "current"].filter(Boolean).join(" ");
  return (
    <div className={look}>
      <span className="muted">{line.ms === null ? "" : offset(line.ms)}</span>
      <span className="muted">{line.ch}</span>
      <span className="text">
        {line.tool ? <Tool tool={line.tool} /> : <Marked text={line.ch === "event" ? eventWords(text) : text} words={words} />}
        {long && <TextButton onClick={onToggle}>{open ? " fold" : ` … ${bytes(line.bytes)}`}</TextButton>}
        {line.cut && <span className="muted"> cut, {bytes(line.bytes)} in all</span>}
      </span>
    </div>
  );
}

function Tool({ tool }: { tool: NonNullable<LogLine["tool"]> }) {
  return (
    <>
      ▸ {tool.name} {tool.summary} {tool.exitCode !== null && <span className={tool.exitCode ? "bad" : "muted"}>exit {tool.exitCode}</span>}{" "}
      {tool.durationMs !== null && <span className="muted">{duration(tool.durationMs)}</span>}
    </>
  );
}

function Marked({ text, words }: { text: string; words: string }) {
  if (words.length < 2) return text;
  const parts = text.split(new RegExp(`(${words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, "gi"));
  return parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part));
}

/** Asks the server for all places once typing has paused; Enter and Shift Enter walk them. */
function useFind(words: string, pathOf: (words: string) => string, show: (n: number) => void) {
  const late = useLate(words, 200);
  const isAsked = [words, late].every((text) => text.trim().length > 1);
  const { data } = useResource<LogPage>(isAsked ? pathOf(late) : null);
  const matches = data?.matches ?? null;
  const [at, setAt] = useState(0);
  const begin = useEffectEvent(() => {
    setAt(0);
    if (matches?.[0] !== undefined) show(matches[0]);
  });
  useEffect(() => begin(), [matches]);
  function go(by: number) {
    if (!matches || matches.length === 0) return;
    const next = (at + by + matches.length) % matches.length;
    setAt(next);
    show(matches[next] ?? 0);
  }
  return { matches, at, go };
}
