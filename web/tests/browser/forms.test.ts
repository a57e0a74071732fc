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

test("a review shows what an agent committed, and how much lies outside of the declared files", async () => {
  const ready = async ({ page }: Look) => {
    await page.getByText('println!("two");').waitFor();
    await page.getByText("1 changed file lies outside of the declared ones").click();
    await page.getByText("other.txt").waitFor();
  };
  await world.inspect(`/runs/${failed}/T1`, "review-committed", { sizes: SIZES, ready });
});

test("a comment on a line goes with the words, which Ctrl Enter sends", async () => {
  const look = await world.open(`/runs/${failed}/T1`, "light", "wide");
  const { page } = look;
  await page.getByRole("group", { name: "Changes of main.rs" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await focused(look, "textarea");
  await page.keyboard.type("print three");
  assert.match(await page.getByLabel("Words for the agent").inputValue(), /^main\.rs:\d: print three$/);
  await page.keyboard.press("Control+Enter");
  await page.getByText("was told of a line").first().waitFor();
  assert.deepEqual(look.faults, []);
  await look.close();
});

test("Escape leaves a field, and only then its page", async () => {
  const look = await world.open("/work/T2?tab=edit", "light", "wide");
  const { page } = look;
  await page.getByLabel("Title", { exact: true }).focus();
  await page.keyboard.press("Escape");
  await focused(look, "body");
  assert.equal(new URL(page.url()).pathname, "/work/T2");
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/work\?task=T2/);
  await look.close();
});
