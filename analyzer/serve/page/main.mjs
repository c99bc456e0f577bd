// This module chooses the view and the colours, and keeps the shown data live.
import { words } from "./words.mjs";
import { h, say } from "./tools.mjs";
import { fleetView } from "./fleet.mjs";
import { deviceView } from "./device.mjs";
import { objectivesView } from "./objectives.mjs";
import { questionView } from "./question.mjs";

const POLL_MS = 2000, SILENT_MS = 15000, FIRST_MS = 1000;
const views = { "": fleetView, device: deviceView, question: questionView, objectives: objectivesView };
const main = document.getElementById("main");
const state = document.getElementById("state");
let shown = null;

// ---- live: server-sent events, or a request every other second if there are no events ----
const live = {
  mode: "connecting",
  source: null,
  timer: null,
  listen() {
    if (live.source) live.source.close();
    const source = live.source = new EventSource("/api/v1/live");
    source.onmessage = () => {
      live.poll(false);
      live.mode = "live";
      refresh();
    };
    source.onerror = () => {
      live.poll(true);
      if (source.readyState === EventSource.CLOSED) setTimeout(live.listen, SILENT_MS);
    };
  },
  poll(on) {
    if (on && !live.timer) {
      live.mode = "polling";
      live.timer = setInterval(refresh, POLL_MS);
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

let busy = false, again = false;
async function refresh() {
  if (document.hidden || !shown) return;
  if (busy) { again = true; return; }
  busy = true;
  const view = shown;
  try {
    await view.refresh();
  } finally {
    busy = false;
    if (view === shown) main.classList.remove("waiting");
  }
  if (again) { again = false; refresh(); }
}
document.addEventListener("visibilitychange", refresh);

// ---- login: a token becomes a cookie that no script can read ----
const session = (method, headers) => fetch("/api/v1/session", { method, headers: { "X-Blkcast": "1", ...headers } });
const out = h("button", { type: "button", hidden: true, onclick: async () => { await session("DELETE", {}); out.hidden = true; route(); } }, words.login.out);
function login() {
  if (document.getElementById("token")) return;
  if (shown && shown.close) shown.close();
  shown = null;
  const token = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const wrong = h("p", { class: "bad", role: "alert" });
  main.classList.remove("waiting");
  main.replaceChildren(h("h1", {}, words.login.title), h("p", { class: "about" }, words.login.about),
    h("form", { class: "tools", onsubmit: async (e) => {
      e.preventDefault();
      const reply = await session("POST", { Authorization: "Bearer " + token.value.trim() }).catch(() => null);
      if (!reply || !reply.ok) { say(wrong, reply ? words.login.wrong : words.error.unreachable); return; }
      out.hidden = false;
      live.listen();
      route();
    } }, h("label", { for: "token" }, words.login.token), token, h("button", { type: "submit" }, words.login.button)), wrong);
  document.title = words.login.title + " · blkcast";
  token.focus();
}
addEventListener("login", () => { login(); tell(words.login.over, "old"); });

// ---- views: "#/device?host=..." ----
function route() {
  const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
  const make = views[name];
  const values = Object.fromEntries(new URLSearchParams(query || ""));
  if (location.hash === "#main") return;
  if (shown && shown.name === name && shown.update && shown.update(values)) { refresh(); return; }
  if (shown && shown.close) shown.close();
  main.replaceChildren();
  main.classList.remove("waiting");
  if (!make) {
    shown = null;
    document.title = "blkcast";
    main.append(h("h1", {}, words.error.title), h("p", {}, words.error.unknownView));
    return;
  }
  // What is read must not move when the first data come, so that a view is shown with them, or after a second.
  main.classList.add("waiting");
  const view = shown = make(main, values, tell);
  setTimeout(() => view === shown && main.classList.remove("waiting"), FIRST_MS);
  shown.name = name;
  for (const a of document.querySelectorAll("#views a"))
    if (a.getAttribute("href") === "#/" + name) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  refresh();
}

// ---- colours ----
function theme() {
  const button = document.getElementById("theme"), order = ["auto", "light", "dark"];
  let now = "auto";
  try { now = localStorage.getItem("theme") || "auto"; } catch (e) { /* storage may be forbidden */ }
  const set = () => {
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    say(button, words.theme[now]);
    button.setAttribute("aria-label", words.theme.name(words.theme[now]));
    try { localStorage.setItem("theme", now); } catch (e) { /* likewise */ }
    if (shown && shown.redraw) shown.redraw();
  };
  button.addEventListener("click", () => { now = order[(order.indexOf(now) + 1) % order.length]; set(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && shown.redraw && shown.redraw());
  set();
}

document.getElementById("skip").textContent = words.skip;
document.getElementById("skip").addEventListener("click", (e) => { e.preventDefault(); main.focus(); });
document.getElementById("views").append(h("a", { href: "#/" }, words.views.fleet), h("a", { href: "#/objectives" }, words.views.objectives), h("a", { href: "#/question" }, words.views.question));
addEventListener("hashchange", () => { route(); main.focus({ preventScroll: true }); });
state.after(out);
theme();
route();
live.listen();
