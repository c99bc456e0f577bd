// What the browser tests share: a page whose every request and error is noted, checks of what is shown, and TAP.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { SHOTS, BROWSER, MODULES } = process.env;
const require = createRequire(MODULES + "/");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const WAIT_MS = 20000;

const say = (text) => process.stdout.write(text.replace(/\n/g, " ") + "\n");
export function ok(holds, name, found) {
  say((holds ? "ok " : "not ok ") + name);
  if (!holds && found !== undefined) say("# found: " + JSON.stringify(found).slice(0, 400));
}
export const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox", "--disable-gpu"] });

// A page whose every request, error and message of the console is noted.
export async function open(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: "UTC", ...options });
  const page = await context.newPage();
  const notes = { foreign: [], errors: [] };
  page.on("request", (r) => { if (!r.url().startsWith(new URL(url).origin + "/") && !r.url().startsWith("data:")) notes.foreign.push(r.url()); });
  page.on("pageerror", (e) => notes.errors.push(e.message));
  page.on("console", (m) => { if (m.type() === "error") notes.errors.push(m.text()); });
  await page.goto(url);
  page.notes = notes;
  return page;
}
export async function check(page, name) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const found = result.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(", "));
  ok(found.length === 0, name + ": axe finds nothing", found);
  ok(page.notes.foreign.length === 0, name + ": no request leaves the page's origin", page.notes.foreign);
  ok(page.notes.errors.length === 0, name + ": no error", page.notes.errors);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  ok(wide <= 0, name + ": nothing is wider than the window", wide);
  await page.screenshot({ path: `${SHOTS}/${name.replace(/[^a-z0-9]+/gi, "-")}.png`, fullPage: true });
}
// What moved since the page was opened, without an act of the user; web.dev calls up to 0.1 of this sum good (Cumulative
// Layout Shift).
export async function steady(page, name) {
  const shift = await page.evaluate(() => new Promise((told) => {
    let sum = 0;
    new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) sum += e.value; }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => told(sum), 500);
  }));
  ok(shift <= 0.1, name + ": what is read stays where it is", shift);
}
export const text = (page, selector) => page.locator(selector).first().textContent();
// Playwright's own waiting makes a function of a text, which the page's policy forbids.
export async function until(page, f, arg) {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((wake) => setTimeout(wake, 50)))
    if (await page.evaluate(f, arg).catch(() => false)) return true;
  return false;
}
