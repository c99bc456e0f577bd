// This module chooses the view and the colours, and keeps the shown data live.
import { words } from "./words.mjs";
import { h, say, askAhead, hostQuestion, deviceQuestion } from "./tools.mjs";
import { forgetColours } from "./charts.mjs";
import { fleetView } from "./fleet.mjs";

const POLL_MS = 2000, SILENT_MS = 15000, FIRST_MS = 1000;
// Other views than the first are read when they are shown, or once the first one has its data.
const views = {
  "": () => fleetView,
  device: async () => (await import("./device.mjs")).deviceView,
  question: async () => (await import("./question.mjs")).questionView,
  saved: async () => (await import("./saved.mjs")).savedView,
  objectives: async () => (await import("./objectives.mjs")).objectivesView,
};
const main = document.getElementById("main");
const state = document.getElementById("state");
let shown = null, routed = 0, readAhead = false;

// ---- live: server-sent events, or a request every other second if there are no events ----
const live = {
  mode: "connecting",
  source: null,
  timer: null,
  heard: false,
  // Begins once the first view has its data, whose question the browser would answer later otherwise.
  begin() { if (!live.source) live.listen(); },
  listen() {
    if (live.source) live.source.close();
    const source = live.source = new EventSource("/api/v1/live");
    source.onmessage = (e) => {
      const first = !live.heard;
      live.poll(false);
      live.mode = "live";
      live.heard = true;
      // The first event tells of what the view has just asked for, unless something has changed meanwhile.
      if (!(first && shown && shown.isAt && shown.isAt(JSON.parse(e.data).generation))) refresh();
    };
    source.onerror = () => {
      live.poll(true);
      if (source.readyState === EventSource.CLOSED) setTimeout(live.listen, SILENT_MS);
    };
  },
  poll(on) {
    if (on && !live.timer) {
      live.mode = "polling";
      live.timer = setInterval(() => refresh(), POLL_MS);
    } else if (!on && live.timer) {
      clearInterval(live.timer);
      live.timer = null;
    }
  },
};

export function tell(text, kind) {
  state.dataset.kind = kind || live.mode;
  say(state, text || words.state[live.mode]);
}

// A view is shown with its first data. The first one of all takes no layout before, because the browser would lay it out
// twice; later ones keep their place, in which pictures are drawn.
let isFirst = true;
function hold() {
  main.classList.add("waiting");
  main.hidden = isFirst;
  isFirst = false;
}
function reveal() {
  main.classList.remove("waiting");
  main.hidden = false;
}

// Asks for the data of the view. News wait for the answer to the questions before; another period or view
// does not wait, and the answers of the one before are dropped.
let busy = 0, again = false;
async function refresh(isNews = true) {
  if (document.hidden || !shown) return;
  if (busy && isNews) { again = true; return; }
  busy++;
  const view = shown;
  try {
    await view.refresh();
  } finally {
    busy--;
    if (view === shown) reveal();
  }
  if (view === shown) live.begin(); // not where a login is asked for
  if (!readAhead) {
    readAhead = true;
    for (const read of Object.values(views)) Promise.resolve(read()).catch(() => null);
  }
  if (again && !busy) { again = false; refresh(); }
}
document.addEventListener("visibilitychange", () => refresh());

// ---- login: a token becomes a cookie that no script can read ----
const session = (method, headers) => fetch("/api/v1/session", { method, headers: { "X-Blkcast": "1", ...headers } });
const out = h("button", { type: "button", hidden: true, onclick: async () => { await session("DELETE", {}); out.hidden = true; route(); } }, words.login.out);
function login() {
  if (document.getElementById("token")) return;
  if (shown && shown.close) shown.close();
  shown = null;
  routed++;
  out.hidden = true;
  const token = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const wrong = h("p", { class: "bad", role: "alert" });
  reveal();
  main.replaceChildren(h("h1", {}, words.login.title), h("p", { class: "about" }, words.login.about),
    h("form", { class: "tools", onsubmit: async (e) => {
      e.preventDefault();
      const reply = await session("POST", { Authorization: "Bearer " + token.value.trim() }).catch(() => null);
      if (!reply || !reply.ok) { say(wrong, reply ? words.login.wrong : words.error.unreachable); return; }
      live.listen();
      route();
    } }, h("label", { for: "token" }, words.login.token), token, h("button", { type: "submit" }, words.login.button)), wrong);
  document.title = words.login.title + " · blkcast";
  token.focus();
}
// The answers say whether there is a session, which may be older than this page.
addEventListener("session", (e) => { out.hidden = !e.detail; });
addEventListener("login", () => { login(); tell(words.login.over, "old"); });

// ---- views: "#/device?host=..." ----
// The questions of the view of a device are on their way while its script is read.
const questionsOf = (where) => [hostQuestion(where), ...(where.begin_s && where.end_s ? [deviceQuestion(where, where.begin_s, where.end_s)] : [])];
async function route() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  if (location.hash === "#main") return; // A jump within the view, which may still be on its way.
  const mine = ++routed;
  const values = Object.fromEntries(new URLSearchParams(query || ""));
  if (shown && shown.name === name && shown.update && shown.update(values)) { refresh(false); return; }
  if (shown && shown.close) shown.close();
  shown = null;
  askAhead(name === "device" && !document.hidden ? questionsOf(values) : []);
  main.replaceChildren();
  reveal();
  const make = views[name] ? await Promise.resolve(views[name]()).catch(() => null) : null;
  if (mine !== routed) return; // The address has changed meanwhile.
  if (views[name] && !make) {
    main.append(h("h1", {}, words.error.title), h("p", { role: "alert" }, words.error.unreachable), h("p", {}, h("button", { type: "button", onclick: () => location.reload() }, words.error.again)));
    return;
  }
  if (!make) {
    live.begin();
    document.title = "blkcast";
    main.append(h("h1", {}, words.error.title), h("p", {}, words.error.unknownView));
    return;
  }
  // What is read must not move when the first data come, so that a view is shown with them, or after a second.
  hold();
  const view = shown = make(main, values, tell);
  setTimeout(() => view === shown && reveal(), FIRST_MS);
  shown.name = name;
  for (const a of document.querySelectorAll("#views a"))
    if (a.getAttribute("href") === "#/" + name) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  refresh(false);
}

// ---- colours ----
function redraw() {
  forgetColours();
  if (shown && shown.redraw) shown.redraw();
}
function theme() {
  const button = document.getElementById("theme"), order = ["auto", "light", "dark"];
  let now = "auto";
  try { now = localStorage.getItem("theme") || "auto"; } catch (e) { /* storage may be forbidden */ }
  const set = () => {
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    say(button, words.theme[now]);
    button.setAttribute("aria-label", words.theme.name(words.theme[now]));
    redraw();
  };
  button.addEventListener("click", () => {
    now = order[(order.indexOf(now) + 1) % order.length];
    try { localStorage.setItem("theme", now); } catch (e) { /* likewise */ }
    set();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  set();
}

document.getElementById("skip").textContent = words.skip;
document.getElementById("skip").addEventListener("click", (e) => { e.preventDefault(); main.focus(); });
document.getElementById("views").append(h("a", { href: "#/" }, words.views.fleet), h("a", { href: "#/objectives" }, words.views.objectives), h("a", { href: "#/question" }, words.views.question),
  h("a", { href: "#/saved" }, words.views.saved));
addEventListener("hashchange", () => { route(); main.focus({ preventScroll: true }); });
state.after(out);
route();
theme(); // after the questions: the browser may have to open the storage, and they can be on their way meanwhile
