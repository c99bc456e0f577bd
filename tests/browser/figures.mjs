// Measures the live page; tests/browser/figures.sh starts the servers and writes the rows into a document.
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { THOUSAND, MANY, DAY, NOW, LIVE, LIVE_PID, DAY_CPU, DAY_S, DAY_KIB, BROWSER, MODULES } = process.env;
const { chromium } = createRequire(MODULES + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox", "--disable-gpu"] });
const ROUNDS = 5, SLOW_ROUNDS = 3, CPU_PAGES = 10, CPU_S = 12;
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
const row = (what, measured, goal) => process.stdout.write(`| ${what} | ${measured} | ${goal} |\n`);
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
const ticks = () => { const f = readFileSync(`/proc/${LIVE_PID}/stat`, "utf8").split(") ")[1].split(" "); return Number(f[11]) + Number(f[12]); };
const HZ = Number(execFileSync("getconf", ["CLK_TCK"]));

async function fresh(url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: "UTC" });
  const page = await context.newPage();
  // Notes when rows or pictures appear, in the page's own time.
  await page.addInitScript(() => {
    window.rowsAt = 0;
    new MutationObserver(() => {
      if (!window.rowsAt && document.querySelectorAll("table.fleet tbody tr").length) window.rowsAt = performance.now();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(url);
  return page;
}
async function until(page, f, arg) {
  for (let i = 0; i < 800; i++) { if (await page.evaluate(f, arg).catch(() => false)) return; await sleep(25); }
  throw new Error("waited in vain for " + f);
}

// ---- the first view of 1 000 hosts ----
const times = [], sizes = [];
for (let i = 0; i < ROUNDS; i++) {
  const page = await fresh(THOUSAND + "/");
  await until(page, () => window.rowsAt > 0);
  times.push(await page.evaluate(() => window.rowsAt));
  sizes.push(await page.evaluate(() => [...performance.getEntriesByType("resource"), ...performance.getEntriesByType("navigation")].reduce((sum, e) => sum + e.transferSize, 0)));
  await page.context().close();
}
row("first view of 1 000 hosts, cold: to data", `${median(times).toFixed(0)} ms`, "300 ms");
row("first view of 1 000 hosts, cold: bytes", `${(median(sizes) / 1024).toFixed(0)} KiB`, "150 KiB");

// ---- 10 000 hosts: until the rows are others ----
const changed = (page, action) => page.evaluate(async (action) => {
  const key = () => [...document.querySelectorAll("table.fleet tbody th")].map((e) => e.textContent).join();
  const before = key(), begin = performance.now();
  if (action.sort) document.querySelector(`th.c-${action.sort} button`).click();
  else {
    const q = document.getElementById("q");
    q.value = action.q;
    q.dispatchEvent(new Event("input"));
  }
  while (key() === before && performance.now() < begin + 5000) await new Promise((wake) => setTimeout(wake, 1));
  return performance.now() - begin;
}, action);
const page = await fresh(MANY + "/");
await until(page, () => window.rowsAt > 0);
const sorts = [], searches = [];
for (const c of ["host", "rate", "host", "rate", "host"]) { sorts.push(await changed(page, { sort: c })); await sleep(300); }
for (const q of ["guest0912", "guest0344", "guest0100", "guest0777", "guest0500"]) { searches.push(await changed(page, { q })); await sleep(300); }
row("10 000 hosts: sort", `${median(sorts).toFixed(0)} ms`, "100 ms");
row("10 000 hosts: search, of which 40 ms wait for more letters", `${median(searches).toFixed(0)} ms`, "100 ms");
await page.context().close();

// ---- one device with a day of windows: nobody has looked at it since serve began ----
row("a day of 86 400 windows that serve finds at its start: added up, with rests (processor time)", `${DAY_S} s (${DAY_CPU} s)`, "-");
row("what is kept of it on disk, with the journal of SQLite", `${DAY_KIB} KiB`, "-");
const all = `host=guest00000&device=8:0&begin_s=${NOW - 86400}&end_s=${NOW}`;
const device = await fresh(DAY + "/");
await until(device, () => window.rowsAt > 0);
// Returns the time from the change of the address, which a drag makes, until the pictures are on the screen.
const shown = (q) => device.evaluate((q) => new Promise((drawn) => {
  const begin = performance.now(), ask = window.fetch;
  window.fetch = async (...a) => {
    const reply = await ask(...a);
    if (!String(a[0]).includes("/api/v1/device")) return reply;
    window.fetch = ask;
    const read = reply.json.bind(reply);
    reply.json = async () => {
      const value = await read();
      requestAnimationFrame(() => requestAnimationFrame(() => drawn(performance.now() - begin)));
      return value;
    };
    return reply;
  };
  location.hash = "#/device?" + q;
}), q);
row("its day drawn for the first time, from the link to the screen", `${(await shown(all)).toFixed(0)} ms`, "200 ms");
const draws = [], zooms = [];
for (let i = 0; i < SLOW_ROUNDS; i++) {
  draws.push(await shown(all + "&r=" + i));
  await sleep(500);
  // Another ten minutes each time, which nobody has looked at.
  zooms.push(await shown(`host=guest00000&device=8:0&begin_s=${NOW - 50000 - 7000 * i}&end_s=${NOW - 49400 - 7000 * i}`));
  await sleep(500);
}
const again = [];
for (let i = 0; i < SLOW_ROUNDS; i++) {
  again.push(await shown(`host=guest00000&device=8:0&begin_s=${NOW - 50000 - i}&end_s=${NOW - 49400}`));
  await sleep(500);
}
row("its day drawn again", `${median(draws).toFixed(0)} ms`, "200 ms");
row("zoom to ten minutes that were looked at before", `${median(again).toFixed(0)} ms`, "50 ms");
row("zoom to ten minutes, from the drag to the screen", `${median(zooms).toFixed(0)} ms`, "50 ms");
await device.context().close();

// ---- processor time of serve for open pages ----
const idle = ticks();
await sleep(CPU_S * 1000);
const without = ticks() - idle, pages = [];
for (let i = 0; i < CPU_PAGES; i++) pages.push(await fresh(LIVE + "/"));
await sleep(3000);
const begun = ticks();
await sleep(CPU_S * 1000);
const each = (ticks() - begun - without) / HZ / CPU_S / CPU_PAGES;
row("processor time of serve for each open page of a live fleet", `${Math.max(0, each * 100).toFixed(2)} %`, "0.2 %");
await browser.close();
