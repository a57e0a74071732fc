// Times are relative under a day; the exact one is on hover.
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const exactly = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** A moment from the server: RFC 3339 text, or seconds or milliseconds since 1970. */
export type Moment = string | number;

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

export function date(moment: Moment, now = Date.now()) {
  const then = new Date(millis(moment));
  return then.getFullYear() === new Date(now).getFullYear() ? day.format(then) : dayOfYear.format(then);
}

/** 14:02 today, 19 Nov 14:02 before. */
export function timeOfDay(moment: Moment, now = Date.now()) {
  const then = new Date(millis(moment));
  const today = then.toDateString() === new Date(now).toDateString();
  return today ? clock.format(then) : `${date(moment, now)} ${clock.format(then)}`;
}

export function exact(moment: Moment) {
  const then = millis(moment);
  return Number.isFinite(then) ? exactly.format(then) : "unknown";
}
