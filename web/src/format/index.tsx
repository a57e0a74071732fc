// One formatter for each kind of value: the exact value on hover, a click copies it.
import type { ReactNode } from "react";
import { copy } from "../parts/copy";
import { useNow } from "./clock";
import * as n from "./numbers";
import { ago, exact, millis, type Moment } from "./time";

interface CopyProps {
  value: string;
  /** What it is, for the words "Copy …" and "Copied …". */
  what: string;
  title?: string;
  className?: string;
  children: ReactNode;
}

function Copyable({ value, what, title, className = "", children }: CopyProps) {
  return (
    <button type="button" className={`copyable ${className}`} title={title ?? `${value}, a click copies the ${what}`} onClick={() => copy(value, what)}>
      {children}
    </button>
  );
}

/** An id, in the font in which 0 and O differ; of a long one its kind and its end. */
export function Id({ value, className = "" }: { value: string; className?: string }) {
  return (
    <Copyable value={value} what="id" className={`mono muted ${className}`}>
      {value.length > 16 ? `${value.slice(0, value.indexOf("_") + 1)}…${value.slice(-5)}` : value}
    </Copyable>
  );
}

/** A digest: its first and last characters. */
export function Digest({ value }: { value: string }) {
  const bare = value.replace(/^sha256:/, "");
  return (
    <Copyable value={value} what="digest" className="mono muted">
      {bare.length > 12 ? `${bare.slice(0, 4)}…${bare.slice(-4)}` : bare}
    </Copyable>
  );
}

export function Ago({ at, className }: { at: Moment; className?: string }) {
  const now = useNow();
  return (
    <time className={className} dateTime={new Date(safe(at)).toISOString()} title={exact(at)}>
      {ago(at, now)}
    </time>
  );
}

/** How long something took, or has been going on for when only its start is known. */
export function Duration({ ms, since, className }: { ms?: number | null | undefined; since?: Moment; className?: string }) {
  if (ms === undefined && since !== undefined) return <Running since={since} className={className ?? ""} />;
  if (ms === undefined || ms === null) return <span className={className}>{n.UNKNOWN}</span>;
  return (
    <span className={className} title={`${n.count(ms)} ms`}>
      {n.duration(ms)}
    </span>
  );
}

function Running({ since, className }: { since: Moment; className: string }) {
  const passed = Math.max(0, useNow() - millis(since));
  return (
    <span className={className} title={`since ${exact(since)}`}>
      {passed < 1000 ? "0 s" : n.duration(Math.floor(passed / 1000) * 1000)}
    </span>
  );
}

export function Tokens({ n: value }: { n: number | null | undefined }) {
  return value == null ? <span className="muted">{n.UNKNOWN}</span> : <span title={`${n.count(value)} tokens`}>{n.tokens(value)}</span>;
}

export function Cost({ usd }: { usd: number | null | undefined }) {
  return usd == null ? <span className="muted">{n.UNKNOWN}</span> : <span title={`$${usd}`}>{n.cost(usd)}</span>;
}

export function Bytes({ n: value }: { n: number | null | undefined }) {
  return value == null ? <span className="muted">{n.UNKNOWN}</span> : <span title={`${n.count(value)} bytes`}>{n.bytes(value)}</span>;
}

function safe(at: Moment) {
  const ms = millis(at);
  return Number.isFinite(ms) ? ms : 0;
}
