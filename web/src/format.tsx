// One way to write each kind of value; as a component with the exact value on hover, and a click copies it.
import { useSyncExternalStore, type ReactNode } from "react";
import { copy } from "./parts/toasts";

/** A formatter is made when it is first needed: that takes longer than to draw a page. */
function made<T>(make: () => T): () => T {
  let there: T | undefined;
  return () => (there ??= make());
}

const money = made(() => new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 2 }));
const cents = made(() => new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumSignificantDigits: 2 }));

export const UNKNOWN = "unknown";

export function count(n: number) {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** 412k, 1.2M; below ten thousand exactly. */
export function tokens(n: number) {
  if (n < 10_000) return count(n);
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

export function cost(dollars: number) {
  return dollars !== 0 && Math.abs(dollars) < 0.01 ? cents().format(dollars) : money().format(dollars);
}

export function bytes(n: number) {
  if (n < 1000) return `${n} B`;
  const step = Math.min(3, Math.floor(Math.log10(n) / 3));
  const size = n / 1000 ** step;
  return `${size.toFixed(size < 10 ? 1 : 0)} ${["B", "kB", "MB", "GB"][step]}`;
}

/** 0.3 ms, 240 ms, 14.2 s, 6m 41s, 2h 5m, 3d 4h. */
export function duration(ms: number) {
  if (ms < 10) return `${ms < 1 ? ms.toFixed(1) : Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)}m ${s % 60}s`;
  const m = Math.floor(s / 60);
  if (m < 1440) return `${Math.floor(m / 60)}h ${m % 60}m`;
  const h = Math.floor(m / 60);
  return `${Math.floor(h / 24)}d ${h % 24}h`;
}

/** For estimates, which know no seconds: 40 s, 26 min, 3 h. */
export function roughly(ms: number) {
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 129_600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`;
}

/** Minutes and seconds since a start, as in a log: 0:05, 6:41, 1:02:03. */
export function offset(ms: number) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  const minutes = Math.floor(s / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

/** 48 %; without a whole there is no part of it. */
export function percent(part: number, all: number) {
  return all > 0 ? `${Math.round((100 * part) / all)} %` : UNKNOWN;
}

export function capital(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A text that is cut to `most` characters. */
export function cut(text: string, most: number) {
  return [...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text;
}

/** Signs that are not seen, and change what is, are written out. */
export function visible(text: string) {
  return text.replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function plural(n: number, one: string, many = one + "s") {
  return `${count(n)} ${n === 1 ? one : many}`;
}

// Times are relative under a day; the exact one is on hover.
const hourMinute = made(() => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }));
const day = made(() => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" }));
const dayOfYear = made(() => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" }));
const exactly = made(() => new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" }));

/** A moment from the server: RFC 3339 text, or seconds or milliseconds since 1970. */
type Moment = string | number;

export function millis(moment: Moment): number {
  if (typeof moment === "string") return Date.parse(moment);
  return moment < 1e11 ? moment * 1000 : moment;
}

export function ago(moment: Moment, now: number): string {
  const then = millis(moment);
  if (!Number.isFinite(then)) return "unknown";
  const s = Math.round((now - then) / 1000);
  if (Math.abs(s) < 5) return "now";
  if (s < 0) return ahead(-s, then);
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  return date(then, now);
}

function ahead(s: number, then: number) {
  if (s < 60) return `in ${s} s`;
  if (s < 3600) return `in ${Math.ceil(s / 60)} min`;
  if (s < 86_400) return `in ${Math.ceil(s / 3600)} h`;
  return date(then, then);
}

function date(moment: Moment, now = Date.now()) {
  const then = new Date(millis(moment));
  return then.getFullYear() === new Date(now).getFullYear() ? day().format(then) : dayOfYear().format(then);
}

/** 14:02 today, 19 Nov 14:02 before. */
export function timeOfDay(moment: Moment, now = Date.now()) {
  const then = new Date(millis(moment));
  const today = then.toDateString() === new Date(now).toDateString();
  return today ? hourMinute().format(then) : `${date(moment, now)} ${hourMinute().format(then)}`;
}

export function exact(moment: Moment) {
  const then = millis(moment);
  return Number.isFinite(then) ? exactly().format(then) : "unknown";
}

// One clock for all texts that change by themselves; it stands still while the page is hidden.
const listeners = new Set<() => void>();
let present = Date.now();
let timer = 0;

function tick() {
  if (document.hidden) return;
  present = Date.now();
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (listeners.size === 1) timer = window.setInterval(tick, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** The present time in milliseconds, once a second. */
export function useNow() {
  return useSyncExternalStore(subscribe, () => present);
}

interface CopyProps {
  value: string;
  /** What it is, for the words "Copy …" and "Copied …". */
  what: string;
  className?: string;
  children: ReactNode;
}

function Copyable({ value, what, className = "", children }: CopyProps) {
  return (
    <button type="button" className={`copyable ${className}`} title={`${value}, a click copies the ${what}`} onClick={() => copy(value, what)}>
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
  return <At at={at} className={className ?? ""} text={ago(at, useNow())} />;
}

/** The hour of something, or its day and hour. */
export function At({ at, className = "small muted", text = timeOfDay(at) }: { at: Moment; className?: string; text?: string | undefined }) {
  return (
    <time className={className} dateTime={new Date(millis(at) || 0).toISOString()} title={exact(at)}>
      {text}
    </time>
  );
}

/** The duration of something, or its age if it has not ended. */
export function Duration({ ms, since, className }: { ms?: number | null | undefined; since?: Moment; className?: string }) {
  if (ms === undefined && since !== undefined) return <Running since={since} className={className ?? ""} />;
  if (ms === undefined || ms === null) return <span className={className}>{UNKNOWN}</span>;
  return (
    <span className={className} title={`${count(ms)} ms`}>
      {duration(ms)}
    </span>
  );
}

function Running({ since, className }: { since: Moment; className: string }) {
  const passed = Math.max(0, useNow() - millis(since));
  return (
    <span className={className} title={`since ${exact(since)}`}>
      {passed < 1000 ? "0 s" : duration(Math.floor(passed / 1000) * 1000)}
    </span>
  );
}

export function Tokens({ n: value }: { n: number | null | undefined }) {
  return value == null ? <span className="muted">{UNKNOWN}</span> : <span title={`${count(value)} tokens`}>{tokens(value)}</span>;
}

export function Cost({ usd }: { usd: number | null | undefined }) {
  return usd == null ? <span className="muted">{UNKNOWN}</span> : <span title={`$${usd}`}>{cost(usd)}</span>;
}

export function Bytes({ n: value }: { n: number | null | undefined }) {
  return value == null ? <span className="muted">{UNKNOWN}</span> : <span title={`${count(value)} bytes`}>{bytes(value)}</span>;
}
