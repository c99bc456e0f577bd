// What requests found when they arrived, from the profiles of the period: seek distance, requests under way, time between
// arrivals, and how long flushes took.
import { words } from "./words.mjs";
import { h, say, count } from "./tools.mjs";
import { bars } from "./charts.mjs";

const w = words.found, s = words.device.series;

// One picture: fill() takes its rows of [label, reads, writes]. Flushes stand where reads do.
function foundPicture(kind) {
  const { title, about } = w.kinds[kind], names = kind === "flush" ? [w.flushes] : [s.reads, s.writes];
  const text = h("p", { class: "about" }), drawing = h("div"), rows = h("tbody"), id = "found-" + kind;
  const element = h("section", { "aria-labelledby": id }, h("h2", { id }, title), text, drawing,
    h("details", { class: "data" }, h("summary", {}, words.device.table), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.device.tableOf(title) },
      h("table", {}, h("caption", { class: "hidden" }, title), h("thead", {}, h("tr", {}, [w.bin, ...names].map((t) => h("th", { scope: "col" }, t)))), rows))));
  return { kind, element, fill(list) {
    element.hidden = !list.length;
    if (!list.length) return;
    const most = list.reduce((a, r) => r[1] + r[2] > a[1] + a[2] ? r : a), values = (r) => r.slice(1, 1 + names.length);
    say(text, about + " " + w.most(most[0]));
    drawing.replaceChildren(bars(list.map((r) => ({ label: r[0], values: values(r) })), ["read", "write"], count));
    rows.replaceChildren(...list.map((r) => h("tr", {}, h("th", { scope: "row" }, r[0]), values(r).map((n) => h("td", {}, count(n))))));
  } };
}

// elements are the sections of all pictures; fill() takes `bins` of an answer.
export function foundPictures() {
  const pictures = Object.keys(w.kinds).map(foundPicture);
  return { elements: pictures.map((p) => p.element), fill(bins) { for (const p of pictures) p.fill(bins[p.kind]); } };
}
