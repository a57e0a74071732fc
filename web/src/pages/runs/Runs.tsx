// All runs: newest first unless asked otherwise, live ones on top then, never reordered while the page is open.
import { useMemo, useRef, useState } from "react";
import { path } from "../../api/request";
import { usePages } from "../../api/resource";
import { isLive, touchesRuns, type RunRow, type RunsList } from "../../api/types";
import { Cost, plural } from "../../format";
import { Filters, type FilterOf } from "../../parts/Filters";
import { copy } from "../../parts/toasts";
import { Fact, Rail } from "../../parts/Facts";
import { coarse, phone } from "../../parts/screen";
import { Empty, Ghost, Trouble, NoneFits } from "../../parts/States";
import { navigate, usePlace, withQuery, TextLink } from "../../router";
import { useKeys } from "../../shell/keys";
import { Page } from "../../shell/Page";
import { Windowed } from "../../parts/Windowed";
import { RunLine } from "./RunLine";
import "./runs.css";

const SORTS = [
  { value: "duration", label: "longest first" },
  { value: "cost", label: "dearest first" },
  { value: "status", label: "by status" },
];
const named = (value: string) => ({ value, label: value });
const FILTERS: FilterOf[] = [
  { name: "status", label: "Status", values: ["running", "completed", "unanswered", "failed", "cancelled", "interrupted"].map(named) },
  { name: "kind", label: "Kind", values: ["epic", "tasks", "plan", "query", "execution"].map(named) },
  { name: "sort", label: "Sort", values: SORTS },
];
const PAGE = 100;

const NOTHING = (
  <Empty command="cleo run --all-ready" action={<TextLink href="/work">Go to the work</TextLink>}>
    No runs yet. A run gives ready tasks to agents and checks what they bring back.
  </Empty>
);

export default function Runs() {
  const { query } = usePlace();
  const [status, q, said] = ["status", "q", "sort"].map((name) => query.get(name));
  const sort = SORTS.some(({ value }) => value === said) ? said : null;
  const asked = { status, q, kind: query.get("kind"), sort, dir: sort === "status" ? "asc" : null };
  const { pages, failure, loading, more, reload } = usePages<RunsList>((page) => path("/api/runs", { ...asked, limit: PAGE, offset: page === 0 ? null : page * PAGE }), touchesRuns);
  const fresh = useMemo(() => pages.flatMap((page) => page.runs), [pages]);
  const summary = pages[0]?.summary;
  const total = pages[0]?.total;
  const filtered = Boolean(status || q || asked.kind);
  return (
    <Page
      title="Runs"
      rail={
        <div className="head-bars">
          <Summary summary={summary} />
          <Filters what="run" filters={FILTERS} />
        </div>
      }
    >
      <div className="pane runs">
        {failure && fresh.length === 0 && <Trouble failure={failure} retry={reload} />}
        {loading && <Ghost rows={10} />}
        {!loading && !failure && fresh.length === 0 && (filtered ? <NoneFits what="run" all="/runs" /> : NOTHING)}
        {fresh.length > 0 && (
          <Rows key={JSON.stringify(asked)} fresh={fresh} sorted={sort !== null} end={total !== undefined && fresh.length < total ? more : undefined} total={total ?? fresh.length} />
        )}
      </div>
    </Page>
  );
}

function Summary({ summary }: { summary: RunsList["summary"] | undefined }) {
  const rest = summary && summary.today - summary.finishedToday - summary.failedToday;
  return (
    <Rail>
      <Fact label="Live" glyph={summary && summary.live > 0 ? "running" : undefined} value={summary?.live} href={withQuery({ status: "running" })} />
      <Fact label="Today" value={summary?.today} unit={summary && `${summary.finishedToday} finished, ${summary.failedToday} failed, ${rest} other`} />
      <Fact
        label="Cost today"
        value={summary && <Cost usd={summary.costToday} />}
        unit={summary && summary.today > 0 ? `told by ${summary.costsTold} of ${plural(summary.today, "run")}` : undefined}
      />
      {(summary?.needsYou ?? 0) > 0 && <Fact label="Needs you" glyph="needsYou" value={summary?.needsYou} />}
    </Rail>
  );
}

function Rows({ fresh, sorted, end, total }: { fresh: RunRow[]; sorted: boolean; end: (() => void) | undefined; total: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, waiting, show } = useOrder(fresh, sorted, scroller);
  const [at, setAt] = useState(-1);
  const step = (by: number) => setAt(Math.min(rows.length - 1, Math.max(0, at + by)));
  const chosen = rows[at];
  useKeys("List of runs", [
    { keys: "J|ArrowDown", does: "Next run", run: () => step(1) },
    { keys: "K|ArrowUp", does: "Run before", run: () => step(-1) },
    { keys: "Enter", does: "Open the run", run: () => chosen && navigate(`/runs/${chosen.id}`) },
    { keys: "C", does: "Copy the command of the run", run: () => chosen && copy(`cleo runs show ${chosen.id}`, "command") },
  ]);
  return (
    <>
      {waiting > 0 && (
        <button type="button" className="new-rows" onClick={show}>
          {plural(waiting, "new run", "new runs")}
        </button>
      )}
      <Windowed className="rows" label={plural(total, "run")} items={rows} keyOf={(row) => row.id} heightOf={heightOf} at={at} end={end} scroller={scroller}>
        {(row, index) => <RunLine run={row} selected={index === at} />}
      </Windowed>
    </>
  );
}

/** On a phone the steps have a line of their own under the title. */
function heightOf(row: RunRow) {
  const lines = row.fault ? 52 : coarse.matches || phone.matches ? 44 : 32;
  return phone.matches && row.steps ? lines + 12 : lines;
}

/**
 * The order of the first answer holds. What is new comes on top at once while the list is at its top,
 * and waits behind a button when the page is scrolled.
 */
function useOrder(fresh: RunRow[], sorted: boolean, scroller: React.RefObject<HTMLElement | null>) {
  const [order, setOrder] = useState<string[]>(() =>
    sorted ? fresh.map((row) => row.id) : [...fresh].sort((one, other) => Number(isLive(other.status)) - Number(isLive(one.status))).map((row) => row.id),
  );
  const byId = useMemo(() => new Map(fresh.map((row) => [row.id, row])), [fresh]);
  const known = new Set(order);
  const atTop = (scroller.current?.scrollTop ?? 0) < 8;
  const unknown = fresh.filter((row) => !known.has(row.id));
  const newest = fresh.findIndex((row) => known.has(row.id));
  const above = unknown.filter((row) => fresh.indexOf(row) < newest);
  const below = unknown.filter((row) => !above.includes(row));
  const next = [...(atTop ? above.map((row) => row.id) : []), ...order, ...below.map((row) => row.id)];
  if (next.length !== order.length) setOrder(next);
  const rows = order.flatMap((id) => byId.get(id) ?? []);
  const show = () => {
    setOrder([...above.map((row) => row.id), ...order]);
    scroller.current?.scrollTo({ top: 0 });
  };
  return { rows, waiting: atTop ? 0 : above.length, show };
}
