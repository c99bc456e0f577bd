// Saved answers and kept requests in a browser; tests/browser/live-saved.sh starts it and makes TAP of its lines.
import { browser, check, ok, open, text, until } from "./page.mjs";

const { PAGE, MAY, MAY_NOT } = process.env;

async function login(token, options) {
  const page = await open(PAGE + "/", { ignoreHTTPSErrors: true, ...options });
  await until(page, () => document.getElementById("token"));
  page.notes.errors.length = 0; // The browser notes the 401 before the login.
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelectorAll("table.fleet tbody tr").length > 0);
  return page;
}
// Goes to another address of the page, and waits until its view has its data.
async function go(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await until(page, () => !document.getElementById("main").classList.contains("waiting"));
}

// ---- an answer is saved ----
let page = await login(MAY);
await go(page, "#/saved");
ok(await until(page, () => /Nothing is saved yet/.test(document.querySelector(".empty:not([hidden])")?.textContent)), "saved: an empty list says what to do");
async function save(models, name) {
  await go(page, `#/question?ask=migrate&host=db1&model=${models}&run=1`);
  ok(await until(page, () => document.getElementById("save-name") && document.getElementById("save-name").value === "Migrate db1"), `saved: the answer about ${models} can be saved under a name that is proposed`, await text(page, "main"));
  await page.locator("#save-name").fill(name);
  await page.keyboard.press("Enter");
  ok(await until(page, () => /It is saved/.test(document.querySelector(".save").textContent)), `saved: ${name} is saved by a key`, await text(page, ".save"));
}
await save("disks-read.json,disks-write.json", "disks");
await save("flash-read.json,flash-write.json", "<b>flash</b><img src=x onerror=document.title=1>");
await page.locator("#save-name").fill("disks");
await page.keyboard.press("Enter");
await until(page, () => document.querySelector(".save .bad"));
ok(/there is one of this name/.test(await text(page, ".save [role=status]")), "saved: a name that is there is refused with a sentence", await text(page, ".save"));
page.notes.errors.length = 0; // The browser notes the 409.
await check(page, "questions saved light");

// ---- it is listed, opened by its link, compared ----
await go(page, "#/saved");
ok(await until(page, () => document.querySelectorAll("table.saved tbody tr").length === 2), "saved: both are listed");
ok((await text(page, "table.saved tbody th")) === "<b>flash</b><img src=x onerror=document.title=1>", "saved: a name that is markup is text", await text(page, "table.saved tbody th"));
await check(page, "saved list light");
await page.locator("table.saved tbody tr:nth-child(2) a").focus();
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelectorAll("table.answer tbody tr").length > 3 && document.getElementById("one").textContent === "disks"), "saved: one is opened by a key");
ok(/^blkcast study migrate /.test(await text(page, ".command code")), "saved: with its command");
ok((await page.getByText("Ask this question again").getAttribute("href")).includes("model=disks-read.json"), "saved: and a link that asks again");
const one = await page.evaluate(() => location.hash);
for (let i = 1; i <= 2; i++) {
  const box = page.locator(`table.saved tbody tr:nth-child(${i}) input`);
  if (!(await box.isChecked())) { await box.focus(); await page.keyboard.press("Space"); }
}
await page.getByRole("button", { name: "Compare 2" }).focus();
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelectorAll("table.side thead th").length === 2), "comparison: a column for each");
ok((await page.evaluate(() => [...document.querySelectorAll("table.side thead th")].map((e) => e.textContent)))[0] === "disks", "comparison: the oldest is the first");
ok(await page.evaluate(() => ["Conclusion", "What limits it"].every((t) => [...document.querySelectorAll("table.side tbody th")].some((e) => e.textContent === t))), "comparison: conclusions and limits beside each other");
const rows = await page.evaluate(() => [...document.querySelectorAll("table.side tbody tr")].map((r) => [...r.children].map((c) => c.textContent)));
const p95 = rows.find((r) => /db1 sda, read p95$/.test(r[0])) || [];
ok(/^\S+ µs \(\S+ µs to \S+ µs\)$/.test(p95[1]), "comparison: a percentile with its interval", p95);
ok(/^\S+ µs.*, −\d+\.\d %$/.test(p95[2]), "comparison: and how it changes", p95);
ok(["mean", "p95", "p99"].every((point) => rows.some((r) => r[0].endsWith("read " + point))), "comparison: means and percentiles", rows.map((r) => r[0]));
ok(await page.evaluate(() => document.querySelectorAll(".intervals svg").length >= 4), "comparison: the intervals are drawn");
const both = await page.evaluate(() => location.hash);
await check(page, "saved side light");
await page.context().close();

page = await login(MAY_NOT, { viewport: { width: 320, height: 640 }, colorScheme: "dark" });
await go(page, both);
ok(await until(page, () => document.querySelectorAll("table.side thead th").length === 2), "comparison: the link opens it for a reader with the same hosts");
ok(await page.evaluate(() => document.querySelector("table.side thead a").getBoundingClientRect().right <= 320), "comparison: the first name is seen in a narrow window");
await check(page, "saved side dark 320");
await go(page, "#/saved?id=0123456789abcdef0123456789abcdef");
ok(await until(page, () => /Nothing is saved under this link/.test(document.querySelector("[role=alert]").textContent)), "saved: a link to nothing says so", await text(page, "main"));
page.notes.errors.length = 0; // The browser notes the 404.

// ---- the right to make an agent send is not the right to look ----
await go(page, "#/");
const device = await page.evaluate(async () => (await (await fetch("/api/v1/fleet?host=guest2")).json()).devices[0].device);
await go(page, `#/device?host=guest2&device=${device}`);
ok(await until(page, () => /may not ask/.test(document.querySelector(".keep .about").textContent)), "keep: a reader without the right is told so", await text(page, ".keep"));
ok(await page.locator(".keep button").first().isHidden(), "keep: and has no button");
ok(await until(page, () => /its agent kept them back/.test(document.querySelector("section[aria-labelledby=who]").textContent)), "keep: why nobody is named says so too", await text(page, "section[aria-labelledby=who]"));
await page.context().close();

page = await login(MAY);
const now = Math.floor(Date.now() / 1000);
await go(page, `#/device?host=guest2&device=${device}&begin_s=${now - 60}&end_s=${now - 30}`);
ok(await until(page, () => /too late/.test(document.querySelector(".keep .about").textContent)), "keep: what the agent has forgotten is said", await text(page, ".keep"));
await go(page, `#/device?host=guest2&device=${device}`);
ok(await until(page, () => document.querySelector(".keep button").checkVisibility()), "keep: a reader with the right has a button", await text(page, ".keep"));
await page.locator(".keep button").first().focus();
await page.keyboard.press("Enter");
ok(await until(page, () => /What it still has from .* on will come/.test(document.querySelector(".keep [role=status]").textContent)), "keep: and is told what will come", await text(page, ".keep"));
await check(page, "device keep light");

// ---- deleting asks first ----
await go(page, one);
await until(page, () => document.querySelectorAll("table.saved tbody tr").length === 2);
await page.getByRole("button", { name: "Delete disks" }).focus();
await page.keyboard.press("Enter");
ok(await until(page, () => document.activeElement.textContent === "Delete for good?") && (await page.locator("table.saved tbody tr").count()) === 2, "saved: the first press asks");
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelectorAll("table.saved tbody tr").length === 1), "saved: the second one deletes");
await page.context().close();
await browser.close();
