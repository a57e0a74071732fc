// Forms and reviews: what is wrong is said beside its field, nothing that an agent committed is hidden, and keys do the topmost thing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { quay } from "./review";
import type { Look, World } from "./world";

let world: World;
let failed = "";
before(async () => {
  world = await quay();
  const { runs } = (await (await fetch(`${world.address}/api/runs?status=failed`)).json()) as { runs: { id: string; title: string }[] };
  failed = runs.find((run) => run.title === "Print two")?.id ?? "";
});
after(() => world.end());

const SIZES = ["wide", "phone"] as const;
const focused = ({ page }: Look, what: string) => page.waitForFunction((what) => document.activeElement?.matches(what), what);

test("a run of several tasks is named by their number", async () => {
  const look = await world.open("/runs");
  await look.page.getByText("T2 and 1 more").waitFor();
  await look.close();
});
