// One way to write each kind of figure. The unit is part of the text.
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 2 });
const cents = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumSignificantDigits: 2 });

export const UNKNOWN = "unknown";

export function count(n: number) {
  return whole.format(n);
}

/** 412k, 1.2M; below ten thousand exactly. */
export function tokens(n: number) {
  if (n < 10_000) return whole.format(n);
  if (n < 1_000_000) return `${Math.round(n / 1000)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

export function cost(dollars: number) {
  return dollars !== 0 && Math.abs(dollars) < 0.01 ? cents.format(dollars) : money.format(dollars);
}

export function bytes(n: number) {
  if (n < 1000) return `${n} B`;
  for (const [unit, size] of [
    ["kB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ] as const) {
    if (n < size * 1000 || unit === "GB") return `${(n / size).toFixed(n / size < 10 ? 1 : 0)} ${unit}`;
  }
  return `${n} B`;
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

export function plural(n: number, one: string, many = one + "s") {
  return `${count(n)} ${n === 1 ? one : many}`;
}
