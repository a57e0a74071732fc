// What people do to pages to be able to read them: enlarge them four times, set their text wider, put
// their own colors in the place of ours. Every page has to stand it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { agency } from "./agency";
import { notes } from "./notes";
import type { Look, Size, World } from "./world";

const WORLDS: [() => Promise<World>, string[]][] = [
  [
    notes,
    [
      "/",
      "/work?epic=T1",
      "/work?epic=T1&task=T4",
      "/work?view=list&epic=T1",
      "/work/T4",
      "/work/T5?tab=receipt",
      "/work/T7?tab=prompt",
      "/work/T5?tab=manifest",
      "/work/T7?tab=evidence",
      "/runs",
      "/runs/RUN",
      "/more",
      "/work/T999",
      "/nowhere",
      "/sign-in",
    ],
  ],
  [agency, ["/agents", "/agents/architecture", "/agents/manage", "/agents/manage?agent=toby-technical", "/agents/chat", "/agents/tasks", "/agents/tasks?task=T1"]],
];

/** WCAG 1.4.12. */
const SPACING = "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; } p { margin-bottom: 2em !important; }";

for (const [make, paths] of WORLDS) {
  let world: World;
  before(async () => {
    world = await make();
  });
  after(() => world.end());

  /** The address of a page; RUN is the first run that failed. */
  async function address(path: string): Promise<string> {
    if (!path.includes("RUN")) return path;
    const { runs } = JSON.parse(await (await fetch(`${world.address}/api/runs?status=failed`)).text()) as { runs: { id: string }[] };
    return path.replace("RUN", runs[0]?.id ?? "");
  }

  for (const path of paths) {
    test(`${path} enlarged four times`, async () => {
      const look = await world.open(await address(path), "light", "zoomed");
      assert.deepEqual(await beyond(look), [], "something is cut off or needs scrolling sideways");
      const height = await look.page.locator("main").evaluate((main) => {
        const { top, bottom } = main.getBoundingClientRect();
        return Math.min(bottom, innerHeight) - Math.max(top, 0);
      });
      assert.ok(height >= 96, `what stays in its place leaves ${height} pixels for the page`);
      assert.deepEqual(look.faults, []);
      await look.close();
    });

    test(`${path} with its text set wider, and in the colors of its reader`, async () => {
      const wider = async (size: Size) => {
        const look = await world.open(await address(path), "light", size);
        await look.page.evaluate((rules) => {
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(rules);
          document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
        }, SPACING);
        await look.settled();
        assert.equal(await look.sideways(), false, size);
        assert.deepEqual(await cut(look), [], size);
        await look.page.evaluate(() => (document.adoptedStyleSheets = []));
        return look;
      };
      const [look, other] = await Promise.all([wider("desk"), wider("phone")]);
      await other.close();
      await look.page.emulateMedia({ colorScheme: "dark", forcedColors: "active" });
      assert.deepEqual(await look.axe(), []);
      for (let stop = 0; stop < 12; stop++) {
        await look.page.keyboard.press("Tab");
        const unseen = await look.page.evaluate(() => {
          const focused = document.activeElement;
          if (!focused || focused === document.body) return null;
          const rings = [focused, focused.closest("label, li, .field, .react-flow__node")].flatMap((one) => (one ? [getComputedStyle(one)] : []));
          const seen = rings.some((ring) => ring.outlineStyle !== "none" && parseFloat(ring.outlineWidth) >= 1);
          return seen ? null : focused.outerHTML.slice(0, 160);
        });
        assert.equal(unseen, null, "what has the focus cannot be told");
      }
      await look.page.emulateMedia({ forcedColors: "none" });
      assert.deepEqual(look.faults, []);
      await look.close();
    });
  }
}

/** What lies to the right of the window and cannot be scrolled to by itself: tables and pictures may be wide. */
async function beyond(look: Look): Promise<string[]> {
  return look.page.evaluate(() => {
    const wide = document.documentElement.scrollWidth > innerWidth ? [`the page is ${document.documentElement.scrollWidth} pixels wide`] : [];
    const scrolls = (element: Element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
    const controls = document.querySelectorAll("main :is(a, button, input, textarea, select, summary)");
    const lost = [...controls].filter((control) => {
      const box = control.getBoundingClientRect();
      if (box.width === 0 || getComputedStyle(control).visibility === "hidden" || control.closest(".unseen, [hidden], svg, .react-flow, .graph")) return false;
      for (let above = control.parentElement; above; above = above.parentElement) if (scrolls(above) && above.tagName !== "HTML") return false;
      return box.right > innerWidth + 1 || box.left < -1;
    });
    return [...wide, ...lost.map((control) => control.outerHTML.slice(0, 160))];
  });
}

/** Text that is cut off without a sign that it goes on, and text that lies over other text. */
async function cut(look: Look): Promise<string[]> {
  return look.page.evaluate(() => {
    const found: string[] = [];
    const told = (element: Element) => `${element.tagName.toLowerCase()}.${element.className}: ${element.textContent?.trim().slice(0, 60)}`;
    const own = (element: Element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
    const texts = [...document.querySelectorAll("body *")].filter((element) => own(element).length > 0 && !element.closest(".unseen, script, style, title, svg, [hidden]"));
    const places: { element: Element; box: DOMRect }[] = [];
    for (const element of texts) {
      const style = getComputedStyle(element);
      const hides = (way: string) => way === "hidden" || way === "clip";
      const goesOn = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
      if (!goesOn && hides(style.overflowY) && element.scrollHeight > element.clientHeight + 3) found.push(`cut below: ${told(element)}`);
      if (!goesOn && hides(style.overflowX) && element.scrollWidth > element.clientWidth + 1) found.push(`cut at the side: ${told(element)}`);
      for (const node of own(element)) {
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const line of range.getClientRects()) {
          // What an ellipsis stands for is not to be seen, wherever it would be.
          const inside = goesOn ? element.getBoundingClientRect() : line;
          const [left, right] = [Math.max(line.left, inside.left), Math.min(line.right, inside.right)];
          const box = new DOMRect(left, line.y, Math.max(0, right - left), line.height);
          const seen = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
          if (box.width > 2 && seen && (seen === element || element.contains(seen))) places.push({ element, box });
        }
      }
    }
    for (const [at, one] of places.entries())
      for (const other of places.slice(at + 1)) {
        if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue;
        const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        const lesser = Math.min(one.box.height, other.box.height);
        if (width > 4 && height > lesser / 2) found.push(`on one another: ${told(one.element)} / ${told(other.element)}`);
      }
    return [...new Set(found)].slice(0, 6);
  });
}
