// What requests found when they arrived, from the profiles of the period: seek distance, requests under way, time between
// arrivals, and how long flushes took.
import { words } from "./words.mjs";
import { h, say, count } from "./tools.mjs";
import { bars } from "./charts.mjs";

const w = words.found, s = words.device.series;

// One picture: fill() takes `bins` of an answer, whose rows are [label, reads, writes]. Flushes stand where reads do.
function foundPicture(kind) {
  const { title, about } = w.kinds[kind], names = kind === "flush" ? [w.flushes] : [s.reads, s.writes];
  const text = h("p", { class: "about" }), drawing = h("div"), rows = h("tbody"), id = "found-" + kind;
  let list = [];
  const values = (r) => r.slice(1, 1 + names.length);
  const table = h("details", { class: "data", ontoggle: fillTable }, h("summary", {}, words.device.table),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.device.tableOf(title) }, h("table", {}, h("caption", { class: "hidden" }, title), h("thead", {}, h("tr", {}, [w.bin, ...names].map((t) => h("th", { scope: "col" }, t)))), rows)));
  const element = h("section", { "aria-labelledby": id, hidden: true }, h("h2", { id }, title), text, drawing, table);
  // A table is filled when it is opened, and from then on with each picture.
  function fillTable() {
    if (table.open) rows.replaceChildren(...list.map((r) => h("tr", {}, h("th", { scope: "row" }, r[0]), values(r).map((n) => h("td", {}, count(n))))));
  }
  return { element, fill(bins) {
    list = bins[kind];
    element.hidden = !list.length;
    if (!list.length) return;
    const most = list.reduce((a, r) => r[1] + r[2] > a[1] + a[2] ? r : a);
    say(text, about + " " + w.most(most[0]));
    drawing.replaceChildren(bars(list.map((r) => ({ label: r[0], values: values(r) })), ["read", "write"], count));
    fillTable();
  } };
}

export const foundPictures = () => Object.keys(w.kinds).map(foundPicture);
