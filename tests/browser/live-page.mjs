// The live page in a browser; tests/browser/live-page.sh starts it and makes TAP of its lines.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { browser, check, ok, open, steady, text, until, WAIT_MS } from "./page.mjs";

const { PAGE, MANY, CLOSED, TOKENS, TOKEN, RESTART } = process.env;

// ---- the fleet, live ----
let page = await open(PAGE + "/");
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1), "fleet: the device has a row");
ok((await text(page, "table.fleet tbody th")) === "guest1", "fleet: of its host", await text(page, "table.fleet tbody th"));
ok(await until(page, () => document.getElementById("state").dataset.kind === "live"), "fleet: the page says that it is live");
const before = await text(page, "table.fleet tbody .c-rate");
ok(await until(page, (t) => document.querySelector("table.fleet tbody .c-rate").textContent !== t, before), "fleet: the rate changes without a question");
ok(/1 device does \d/.test(await text(page, ".lead")), "fleet: a sentence says what all do", await text(page, ".lead"));
await steady(page, "fleet light");
await check(page, "fleet light");

// ---- numbers do not wait for the library that draws, which never comes here ----
const undrawn = await (await browser.newContext()).newPage();
await undrawn.route("**/uPlot.iife.min.js", (route) => route.abort());
await undrawn.goto(PAGE + "/");
ok(await until(undrawn, () => document.querySelectorAll("table.fleet tbody tr").length === 1), "fleet: rows need no picture");
await undrawn.context().close();

// ---- groups by label, by the keyboard alone ----
await page.getByLabel("Group by label").focus();
await page.keyboard.press("ArrowDown");
ok(await until(page, () => document.querySelectorAll("table.groups tbody tr").length === 1), "groups: the hosts of a label have a row");
ok((await text(page, "table.groups tbody th")) === "<b>db</b>", "groups: with its value as text", await text(page, "table.groups tbody th"));
ok(await until(page, () => /^\d/.test(document.querySelector("table.groups tbody td:nth-child(4)").textContent)), "groups: with the sum of its devices");
await check(page, "groups light");
await page.locator("table.groups tbody button").focus();
await page.keyboard.press("Enter");
ok(await until(page, () => document.getElementById("q").value === "role=<b>db</b>" && document.querySelectorAll("table.fleet tbody tr").length === 1),
  "groups: a value shows its devices");
await page.getByLabel("Search hosts, devices and labels").fill("role=web");
ok(await until(page, () => document.querySelectorAll("table.groups tbody tr").length === 0 || document.querySelector("table.groups").closest("section").hidden),
  "groups: a value without devices has no row");
await page.goto(PAGE + "/#/");
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1), "groups: the address without a label has none");

// ---- the device, by the keyboard alone ----
await page.evaluate(() => document.body.focus());
let reached = false;
for (let i = 0; i < 40 && !reached; i++) {
  await page.keyboard.press("Tab");
  reached = await page.evaluate(() => document.activeElement.matches("table.fleet tbody a"));
}
ok(reached, "keyboard: the device is reached with Tab");
ok(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"), "keyboard: the focus is seen");
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelectorAll(".pictures section:not([hidden]) canvas").length >= 5), "device: its pictures are drawn");
ok(await page.evaluate(() => document.activeElement.id === "main"), "keyboard: the focus is at the new view");
ok(await page.evaluate(() => [...document.querySelectorAll(".pictures section:not([hidden])")].every((s) => s.querySelector(".about").textContent && s.querySelector("details table"))),
  "device: every picture has a sentence and a table");
ok(await page.evaluate(() => [...document.querySelectorAll(".chart")].filter((c) => c.offsetParent).every((c) => c.getAttribute("aria-label").length > 20)),
  "device: every picture tells a screen reader what it shows");
ok(await until(page, () => ["outstanding", "interarrival", "seek"].map((kind) => document.querySelector(`.pictures section[aria-labelledby=found-${kind}]`))
  .every((e) => { e.querySelector("details").open = true; return !e.hidden && e.querySelectorAll(".bar-row").length > 0 && e.querySelectorAll("tbody tr").length > 0; })),
  "device: requests under way, times and distances between requests are drawn, with tables");
await page.evaluate(() => { for (const e of document.querySelectorAll(".pictures details[open]")) e.open = false; });
ok(await page.evaluate(() => [...document.querySelectorAll(".pictures .about")].some((e) => /of the same window of 1\.00 s ended/.test(e.textContent))),
  "device: sequentiality says that it is within windows");
// Pixels of the heat map's palette: something was drawn.
ok(await page.evaluate(() => {
  const canvas = document.querySelector(".pictures canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let blue = 0;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] && pixels[i + 2] > pixels[i] + 25) blue++;
  return blue > 50;
}), "device: the heat map is coloured");
await page.locator("details.access > summary").click();
ok(await until(page, () => document.querySelector(".access canvas") && document.querySelectorAll(".access table tbody tr").length > 0), "device: the access map is read when it is opened",
  await page.evaluate(() => document.querySelector(".access").textContent));
ok(await page.evaluate(() => document.querySelector(".access canvas").getAttribute("aria-label").includes("regions")), "device: and says in words what it shows");
const lead = await text(page, ".lead");
ok(await until(page, (t) => document.querySelector(".lead").textContent !== t, lead), "device: it is live as well");
const details = page.locator(".pictures section:not([hidden]) details summary");
for (let i = 0; i < await details.count(); i++) await details.nth(i).click();
ok(await page.evaluate(() => document.querySelectorAll(".pictures details[open] tbody tr").length > 5), "device: the tables are filled when they are opened");
await check(page, "device light");
for (let i = 0; i < await details.count(); i++) await details.nth(i).click();
const command = await text(page, ".command code");
ok(/^blkcast report --store DIR --host guest1 --device \d+:\d+ --begin \S+Z --end \S+Z -o report.html$/.test(command), "device: the command that says the same", command);
ok(/^blkcast ask guest1 --store DIR --begin \S+Z --end \S+Z$/.test(await text(page, ".keep code")), "device: the command that keeps the requests of this period", await text(page, ".keep code"));
ok(/has kept no requests back/.test(await text(page, ".keep .about")) && await page.locator(".keep button").first().isHidden(), "device: no button where the agent sends all", await text(page, ".keep"));

// ---- brush and zoom ----
await page.evaluate(() => { for (const e of document.querySelectorAll(".pictures canvas")) e.dataset.isKept = 1; });
await page.locator(".pictures .u-over").first().scrollIntoViewIfNeeded();
const box = await page.locator(".pictures .u-over").first().boundingBox();
await page.mouse.move(box.x + box.width * 0.6, box.y + 20);
await page.mouse.down();
await page.mouse.move(box.x + box.width * 0.9, box.y + 30, { steps: 5 });
await page.mouse.up();
ok(await until(page, () => /begin_s=\d+&end_s=\d+/.test(location.hash)), "device: dragging over a picture chooses the period", await page.evaluate(() => location.hash));
await page.getByRole("button", { name: "Zoom out" }).focus();
const zoomed = await page.evaluate(() => location.hash);
await page.keyboard.press("Enter");
ok(await until(page, (t) => location.hash !== t, zoomed), "keyboard: the same by a button");
await page.goBack();
ok((await page.evaluate(() => location.hash)) === zoomed, "the way back leads to the period before");
ok(await page.evaluate(() => document.querySelectorAll(".pictures canvas[data-is-kept]").length >= 5 && !document.querySelector(".pictures section:first-child canvas:not([data-is-kept])")),
  "device: pictures of another period are drawn where those before were");

// ---- two periods beside each other, by the keyboard alone ----
// The change of the address, which moves the focus, is an event that the page has still to take.
await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
await page.getByRole("button", { name: "15 min", exact: true }).focus();
await page.keyboard.press("Enter");
ok(await until(page, () => /last_s=900/.test(location.hash) && !document.querySelector(".pictures").hidden && document.activeElement.id === "main"), "comparison: a period with data is chosen by a key");
await page.getByRole("button", { name: "Mark as before" }).focus();
await page.keyboard.press("Enter");
ok(await until(page, () => /Forget the mark/.test(document.querySelector(".tools").textContent)), "comparison: a period is marked by a key");
await page.getByRole("button", { name: "5 min", exact: true }).focus();
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelectorAll("section[aria-labelledby=compare]:not([hidden]) tbody tr").length > 3), "comparison: the next period stands beside it");
ok(await page.evaluate(() => /What changed most|Nothing changed|no window/.test(document.querySelector("section[aria-labelledby=compare]").textContent)), "comparison: a sentence says what changed most",
  await page.evaluate(() => document.querySelector("section[aria-labelledby=compare]").textContent));
await check(page, "comparison light");
await page.getByRole("button", { name: "Forget the mark" }).focus();
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelector("section[aria-labelledby=compare]").hidden), "comparison: it ends with the mark");

// ---- a fixed period that is asked for before the newest window is known ----
{
  const row = await page.evaluate(async () => (await (await fetch("/api/v1/fleet")).json()).devices[0]);
  const fixed = await open(PAGE + "/"), asked = [];
  fixed.on("request", (r) => { if (r.url().includes("/api/v1/device?")) asked.push(r.url()); });
  await fixed.goto(`${PAGE}/#/device?host=guest1&device=${encodeURIComponent(row.device)}&begin_s=${Math.floor(row.end_s) - 9}&end_s=${Math.floor(row.end_s) - 1}`);
  for (const end = Date.now() + WAIT_MS; Date.now() < end && asked.length < 2;) await new Promise((wake) => setTimeout(wake, 50));
  ok(await fixed.evaluate(() => performance.getEntriesByType("resource").filter((e) => /views\.mjs/.test(e.name)).length) === 1, "device: one file brings all other views");
  ok(asked.length >= 2 && asked[0] === asked[1], "device: a period that was asked for too early to be whole is asked for again", asked);
  await fixed.context().close();
}

// ---- a period that is chosen while another answer is on its way ----
{
  const row = await page.evaluate(async () => (await (await fetch("/api/v1/fleet")).json()).devices[0]);
  const chosen = await open(PAGE + "/"), end = Math.floor(row.end_s) - 2, held = [];
  const hash = (begin) => `#/device?host=guest1&device=${encodeURIComponent(row.device)}&begin_s=${begin}&end_s=${end}`;
  const shows = (begin) => until(chosen, (t) => document.querySelector(".command code").textContent.includes(t), "--begin " + new Date(begin * 1000).toISOString().slice(0, 19) + "Z");
  const choose = (begin) => chosen.evaluate((t) => { location.hash = t; }, hash(begin));
  await choose(end - 30);
  ok(await shows(end - 30), "device: a period of the address is shown");
  await chosen.route("**/api/v1/fleet?host=*", (route) => { held.push(route); });
  await choose(end - 20);
  ok(await shows(end - 20), "device: the next one is drawn before the fleet has answered");
  await chosen.route((url) => url.search.includes(`begin_s=${end - 15}&`), (route) => { held.push(route); });
  await choose(end - 15);
  await choose(end - 10);
  ok(await shows(end - 10), "device: a period does not wait for the answer about the one before");
  for (const route of held) await route.continue().catch(() => null);
  await chosen.evaluate(() => new Promise((wake) => setTimeout(wake, 500)));
  ok(await shows(end - 10), "device: which no longer takes its place");
  await chosen.context().close();
}

// ---- objectives ----
await page.goto(PAGE + "/#/objectives");
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1), "objectives: the device that one names is judged");
ok((await text(page, "table.fleet tbody")).includes("all reads"), "objectives: by the objective", await text(page, "table.fleet tbody"));
await check(page, "objectives light");

// ---- questions ----
await page.goto(PAGE + "/#/question");
ok(await until(page, () => document.querySelectorAll("[name=model]").length === 2), "questions: the stored models can be chosen");
await check(page, "questions light");
await page.getByLabel("Hosts").fill("guest1");
await page.getByLabel("disks-read.json").check();
await page.getByLabel("disks-write.json").check();
await page.getByLabel("Objectives", { exact: true }).fill("read.mean=1us");
await page.getByRole("button", { name: "Predict the migration" }).click();
ok(await until(page, () => document.querySelector("#answer") && document.querySelectorAll("table.answer tbody tr").length > 1), "questions: a migration is answered",
  await page.evaluate(() => document.querySelector("main").textContent));
ok(/^blkcast study migrate .* --host guest1 --slo read.mean=1us$/.test(await text(page, ".command code")), "questions: the command that says the same", await text(page, ".command code"));
ok(/does not hold|does not fit/.test(await page.evaluate(() => document.querySelector("#answer").parentElement.textContent)), "questions: what limits it is said");
const asked = await page.evaluate(() => location.hash);
await check(page, "questions answered");
await page.goto(PAGE + "/#/");
await page.goto(PAGE + "/" + asked);
ok(await until(page, () => document.querySelectorAll("table.answer tbody tr").length > 1), "questions: the link asks again");
ok(await page.evaluate(() => document.querySelectorAll("[name=model]:checked").length) === 2, "questions: with the same choices");
await page.goto(PAGE + "/#/question?ask=migrate&host=nobody&model=disks-read.json&run=1");
ok(await until(page, () => /Change what the sentence below names/.test((document.querySelector(".verdict") || {}).textContent)), "questions: a load that is not there is refused with a sentence");
for (const ask of ["bogus", "constructor"]) {
  await page.goto(PAGE + "/#/");
  await page.goto(`${PAGE}/#/question?ask=${ask}`);
  ok(await until(page, () => document.querySelector("[name=ask]:checked") && document.querySelector("[name=ask]:checked").value === "migrate"), `questions: ${ask} is no question, and the first one is shown`);
}
await page.goto(PAGE + "/#/question?ask=cache");
await page.goto(PAGE + "/#/question?ask=bogus");
ok(await until(page, () => document.querySelector("[name=ask]:checked").value === "migrate"), "questions: so it is where another one was shown");
await page.goto(PAGE + "/#/question?ask=scenario");
await page.getByLabel("today.yaml").check();
await page.getByLabel("growth.yaml").check();
await page.getByRole("button", { name: "Compare the scenarios" }).click();
ok(await until(page, () => /scenario=today.yaml%2Cgrowth.yaml/.test(location.hash)), "questions: the scenario that is chosen first is the baseline", await page.evaluate(() => location.hash));
await page.goto(PAGE + "/#/");
await page.goto(PAGE + "/#/question?ask=scenario&scenario=today.yaml,growth.yaml");
await until(page, () => document.querySelectorAll("[name=scenario]:checked").length === 2);
await page.getByRole("button", { name: "Compare the scenarios" }).click();
ok(await until(page, () => /scenario=today.yaml%2Cgrowth.yaml&run=1/.test(location.hash)), "questions: and that of a link stays so", await page.evaluate(() => location.hash));

// ---- a server that starts again under the open page ----
await page.goto(PAGE + "/#/");
await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1);
execFileSync("bash", [RESTART], { stdio: "ignore" });
ok(await until(page, () => document.getElementById("state").dataset.kind === "lost"), "restart: the page says that there is no connection");
ok(await until(page, () => document.getElementById("state").dataset.kind === "live"), "restart: and goes on when the server is there");
await page.context().close();

// ---- narrow, dark, without motion ----
page = await open(PAGE + "/", { viewport: { width: 320, height: 640 }, colorScheme: "dark", reducedMotion: "reduce" });
await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1);
ok((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(20, 24, 29)", "dark paper where the reader wants dark");
await steady(page, "fleet dark 320");
await check(page, "fleet dark 320");
await page.locator("table.fleet tbody a").click();
await until(page, () => document.querySelectorAll(".pictures section:not([hidden]) canvas").length >= 5);
await page.reload();
await until(page, () => document.querySelectorAll(".pictures section:not([hidden]) canvas").length >= 5);
await steady(page, "device dark 320");
await check(page, "device dark 320");
await page.goto(PAGE + "/" + asked);
ok(await until(page, () => document.querySelectorAll("table.answer tbody tr").length > 1), "questions: the answer is there in a narrow window, too");
await check(page, "questions dark 320");
ok(await page.evaluate(() => [...document.querySelectorAll(".question fieldset:not([hidden]) .field input")].every((e) => e.getBoundingClientRect().right <= e.closest("fieldset").getBoundingClientRect().right - 14)),
  "questions: fields stay within their frame");
await page.goto(PAGE + "/#/objectives");
await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1);
await check(page, "objectives dark 320");
await page.goto(PAGE + "/#/?group=role");
ok(await until(page, () => document.querySelectorAll("table.groups tbody tr").length === 1), "groups: they are there in a narrow window, too");
await check(page, "groups dark 320");
await page.goto(PAGE + "/#/?group=zone");
ok(await until(page, () => { const b = document.querySelector("table.groups tbody button"); return b && b.title === b.textContent && b.scrollWidth > b.clientWidth && getComputedStyle(b).textOverflow === "ellipsis"; }),
  "groups: a long label ends with an ellipsis, and is whole in its title");
await page.locator("#theme").click();
ok((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(255, 255, 255)", "the button changes to light");
await page.context().close();

// ---- a store that does not live, with names that are markup ----
page = await open(MANY + "/");
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 64), "many: one page has 64 rows");
ok(await until(page, () => document.getElementById("state").dataset.kind === "old"), "many: the page says that the data are old", await text(page, "#state"));
const gotten = () => performance.getEntriesByType("resource").map((e) => new URL(e.name).pathname).filter((name) => !/icon/.test(name)).sort().join(" ");
ok(await until(page, () => performance.getEntriesByType("resource").some((e) => /views/.test(e.name))), "many: the other views are read after the first one");
ok((await page.evaluate(gotten)) === "/api/v1/fleet /assets/live.css /assets/main.mjs /assets/uPlot.iife.min.js /assets/views.mjs", "many: one question and four files bring all views, and none comes twice", await page.evaluate(gotten));
await page.getByRole("button", { name: "Next" }).click();
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 64 && /65 to/.test(document.querySelector(".place").textContent)), "many: the 65th row is on the second page");
ok(/65 to 128 of 1000/.test(await text(page, ".place")), "many: which is said", await text(page, ".place"));
await page.getByLabel("Search hosts, devices and labels").pressSequentially("guest00077", { delay: 10 });
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1 && document.querySelector("table.fleet tbody th").textContent === "guest00077"),
  "many: a name that is typed fast is found by all its letters", await text(page, "table.fleet tbody"));
ok(/Only names with/.test(await text(page, ".lead")) && !/highest second/.test(await text(page, ".lead")), "many: nothing is said of what the search leaves out", await text(page, ".lead"));
await page.getByLabel("Search hosts, devices and labels").fill("guest00000");
ok(await until(page, () => document.querySelector("table.fleet tbody a").textContent.startsWith("<img")), "hostile: a name that is markup is text");
ok((await page.locator("table.fleet img").count()) === 0 && !/^1$/.test(await page.title()), "hostile: and nothing of it runs");
await page.locator("table.fleet tbody a").click();
await until(page, () => document.querySelectorAll(".pictures canvas").length >= 1 && document.querySelector("h1").textContent);
ok((await text(page, "h1")).startsWith("<img"), "hostile: in the title too", await text(page, "h1"));
await check(page, "hostile device");
await page.goto(MANY + "/#/");
await page.getByLabel("Search hosts, devices and labels").fill("nobody is named so");
ok(await until(page, () => /No host and no device/.test(document.querySelector(".empty").textContent)), "many: a search without a hit says so");
await page.goto(MANY + "/#/device?host=gone&device=9:9&begin_s=5&end_s=50");
ok(await until(page, () => /no window/.test(document.querySelector(".empty") ? document.querySelector(".empty").textContent : "")), "a link to a device that is gone says so");
await page.goto(MANY + "/#/device?host=guest00001&device=8:0&begin_s=50&end_s=5");
ok(await until(page, () => /end_s: expected/.test(document.querySelector(".empty") ? document.querySelector(".empty").textContent : "")), "a bad period says what is expected");
ok((await page.evaluate(() => document.getElementById("state").dataset.kind)) === "refused" && /end_s: expected/.test(await text(page, "#state")), "refused: that is not taken for a lost connection", await text(page, "#state"));
await page.goto(MANY + "/#/");
await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 64);
await page.getByLabel("Search hosts, devices and labels").fill("я".repeat(65));
ok(await until(page, () => /No host and no device/.test(document.querySelector(".empty").textContent)), "refused: a search is as long as the server takes", await text(page, "#state"));
ok((await page.getByLabel("Search hosts, devices and labels").inputValue()) === "я".repeat(64), "refused: and no longer");
await page.goto(MANY + "/#/?from=1024");
ok(await until(page, () => /961 to 1000 of 1000/.test(document.querySelector(".place").textContent) && document.querySelectorAll("table.fleet tbody tr").length === 40), "many: beyond the last page is the last page", await text(page, ".place"));
ok(/from=960/.test(await page.evaluate(() => location.hash)), "many: as the address says then");
await page.goto(MANY + "/#/?sort=size");
ok(await until(page, () => /sort: expected rate/.test((document.querySelector(".empty:not([hidden])") || {}).textContent)), "refused: a link with a wrong word says what is expected", await text(page, "main"));
ok(await page.evaluate(() => document.querySelector("table.fleet").closest(".scroll").hidden), "refused: and no rows stand below");
await page.context().close();

// ---- more pages than may wait for events: the 65th asks every other second ----
const waiting = new AbortController();
// A page that was closed keeps its place until serve has sent it two more events, so that a place may be had only later.
// The replies are kept: one that is garbage ends its connection, and then a place is free for the page.
async function waiter() {
  for (let left = 150; ; left--) {
    const reply = await fetch(PAGE + "/api/v1/live", { signal: waiting.signal }).catch((e) => ({ ok: false, status: String(e.cause || e) }));
    if (reply.ok || left === 0) return reply;
    await new Promise((done) => setTimeout(done, 200));
  }
}
const waiters = await Promise.all(Array.from({ length: 64 }, waiter));
page = await open(PAGE + "/");
ok(await until(page, () => document.getElementById("state").dataset.kind === "polling"), "65th page: it says that it asks every 2 s", await text(page, "#state"));
const polled = await text(page, "table.fleet tbody .c-rate");
ok(await until(page, (t) => document.querySelector("table.fleet tbody .c-rate").textContent !== t, polled), "65th page: and its numbers change");
ok(waiters.every((reply) => reply.ok), "65th page: sixty-four others wait all the time", waiters.filter((reply) => !reply.ok).map((reply) => reply.status).join(", "));
waiting.abort();
await page.context().setOffline(true);
ok(await until(page, () => document.getElementById("state").dataset.kind === "lost"), "offline: the page says that there is no connection");
await page.context().setOffline(false);
ok(await until(page, () => document.getElementById("state").dataset.kind !== "lost"), "offline: and goes on afterwards");
await page.context().close();

// ---- a login, and its end under the open page ----
page = await open(CLOSED + "/", { ignoreHTTPSErrors: true });
for (const view of ["question", "saved", "objectives", ""]) {
  await page.goto("about:blank");
  await page.goto(CLOSED + "/#/" + view);
  ok(await until(page, () => document.getElementById("token") && document.getElementById("state").textContent === "log in to go on"), `login: the page asks for a token at #/${view}`, await text(page, "#state"));
}
await page.getByLabel("Token").fill("wrong");
await page.keyboard.press("Enter");
ok(await until(page, () => /not known/.test(document.querySelector("[role=alert]").textContent)), "login: a wrong token is refused with a sentence");
await page.getByLabel("Token").fill(TOKEN);
await page.keyboard.press("Enter");
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1), "login: the right one shows the fleet");
ok(!(await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }))).includes(TOKEN), "login: no script can read the token");
await page.reload();
ok(await until(page, () => [...document.querySelectorAll("header button")].some((b) => b.textContent === "Log out" && !b.hidden)), "login: a page that is loaded again can be left");
await page.goto("about:blank");
await page.goto(CLOSED + "/#/saved");
ok(await until(page, () => [...document.querySelectorAll("header button")].some((b) => b.textContent === "Log out" && !b.hidden)), "login: and so can one of a link");
await page.goto(CLOSED + "/#/");
const tokens = readFileSync(TOKENS, "utf8");
writeFileSync(TOKENS, "");
ok(await until(page, () => { const b = document.querySelector(".c-host button"); if (b) b.click(); return Boolean(document.getElementById("token")); }), "login: when it is over, the page asks again");
page.notes.errors.length = 0; // The browser notes each 401.
await check(page, "login light");
writeFileSync(TOKENS, tokens);
for (let i = 0; i < 20 && await page.locator("#token").count(); i++) {
  await page.getByLabel("Token").fill(TOKEN).catch(() => null);
  await page.keyboard.press("Enter");
  await new Promise((wake) => setTimeout(wake, 300));
}
ok(await until(page, () => document.querySelectorAll("table.fleet tbody tr").length === 1), "login: and goes on after it");
await page.context().close();
await browser.close();
