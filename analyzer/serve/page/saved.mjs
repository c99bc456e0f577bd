// The view of saved answers: a list, one of them as it was answered, or several side by side.
import { words } from "./words.mjs";
import { h, ask, change, say, tellError, link, seconds, ratio, bytes, plain, time } from "./tools.mjs";
import { intervals } from "./charts.mjs";
import { answerParts } from "./question.mjs";

const w = words.saved, POINTS = ["mean", "p95", "p99"], MOST = 6;
const signed = (v) => (v > 0 ? "+" : v < 0 ? "−" : "±") + ratio(Math.abs(v));
const times = (v) => w.times(plain(v));

// A value of an answer. key: which values of other answers are the same; isTime: it is drawn.
const value = (key, label, format, v, range, more) => ({ key: JSON.stringify(key), label, format, value: v, low: range ? range[0] : null, high: range ? range[1] : null, ...more });

function studyValues(a) {
  return a.results.filter((r) => POINTS.includes(r.point) && r.target_s !== null).map((r) => value([r.case, r.name, r.type, r.point],
    w.row({ load: r.name, type: r.type, point: r.point, alone: r.case === "alone", how: r.case }), seconds, r.target_s, r.ci, { isTime: true, point: r.point }));
}
function headroomValues(a) {
  return a.objectives.flatMap((o) => [
    value(["factor", o.slo, o.load], w.headroom(o.slo, o.load), times, o.headroom.factor, [o.low.factor, o.high.factor], { atLeast: o.headroom.at_least }),
    value(["today", o.slo, o.load], w.today(o.slo), seconds, o.predicted_today_s, null, { isTime: true, point: "mean" })]);
}
function cacheValues(a) {
  return a.loads.flatMap((l) => {
    const last = l.sizes[l.sizes.length - 1];
    return [value(["hits", l.load], w.cacheHits(l.load), (v) => `${ratio(v)} (${bytes(l.most_bytes)})`, l.most_hit_ratio, null),
      ...(last && last.response_s !== null ? [value(["time", l.load], w.cacheTime(l.load), seconds, last.response_s, null, { isTime: true, point: "mean" })] : [])];
  });
}
function scenarioValues(a) {
  return a.scenarios.flatMap((s) => [value(["mean", s.scenario], w.scenarioMean(s.scenario), seconds, s.mean_s, null, { isTime: true, point: "mean" }),
    ...s.vms.flatMap((vm) => ["read", "write"].filter((type) => vm[type] && vm[type].mean_s !== null).map((type) => value(["vm", s.scenario, vm.vm, type],
      w.scenarioRow({ scenario: s.scenario, vm: vm.vm, type }), seconds, vm[type].mean_s, vm[type].ci, { isTime: true, point: "mean" })))]);
}
// An answer of another form has no values to compare, but still its conclusion.
function values(saved) {
  const a = saved.answer || {};
  if (Array.isArray(a.results)) return studyValues(a);
  if (Array.isArray(a.objectives)) return headroomValues(a);
  if (Array.isArray(a.loads)) return cacheValues(a);
  return Array.isArray(a.scenarios) ? scenarioValues(a) : [];
}
function limits(saved) {
  const a = saved.answer || {};
  if (saved.verdict === "cannot tell") return w.extrapolated;
  if (a.limited_by) return w.limitedBy(a.limited_by);
  if (Array.isArray(a.objectives) && a.objectives[a.tightest]) return w.tightest(a.objectives[a.tightest].slo);
  return w.noLimit;
}

function cellText(v, first) {
  if (!v || v.value === null) return words.units.none;
  const text = v.atLeast ? w.atLeast(v.format(v.value)) : v.format(v.value);
  const range = v.low !== null && v.high !== null && v.format(v.low) !== v.format(v.high) ? ` (${w.interval(v.format(v.low), v.format(v.high))})` : "";
  const change = first && first !== v && first.value > 0 ? `, ${signed(v.value / first.value - 1)}` : "";
  return text + range + change;
}

// Several answers: a row for each value, a column for each answer, and the 95th percentiles drawn.
export function comparison(list) {
  const all = list.map((s) => new Map(values(s).map((v) => [v.key, v]))), keys = [...new Set(all.flatMap((m) => [...m.keys()]))];
  const labelOf = (key) => all.find((m) => m.has(key)).get(key);
  const texts = [[w.kind, (s) => words.question.asks[s.ask].title], [w.conclusion, (s) => s.shown.conclusion || ""], [w.verdict, (s) => w.verdicts[s.verdict] || s.verdict], [w.limits, limits]];
  const title = w.compare(list.length);
  const table = h("div", { class: "scroll wide", tabindex: 0, role: "region", "aria-label": words.device.tableOf(title) }, h("table", { class: "side" }, h("caption", { class: "hidden" }, title),
    h("thead", {}, h("tr", {}, h("td", {}), list.map((s) => h("th", { scope: "col" }, h("a", { href: link("saved", { id: s.id }) }, s.name))))),
    h("tbody", {}, texts.map(([label, text]) => h("tr", {}, h("th", { scope: "row" }, label), list.map((s) => h("td", { class: "words" }, text(s))))),
      keys.map((key) => h("tr", {}, h("th", { scope: "row" }, labelOf(key).label), all.map((m) => h("td", {}, cellText(m.get(key), all[0].get(key)))))))));
  const drawn = keys.filter((key) => labelOf(key).isTime), wanted = drawn.some((key) => labelOf(key).point === "p95") ? "p95" : "mean";
  const rows = drawn.filter((key) => labelOf(key).point === wanted).map((key) => ({ label: labelOf(key).label,
    values: all.map((m, i) => ({ name: list[i].name, ...(m.get(key) || { value: null }) })).filter((v) => v.value !== null) }));
  return h("section", { "aria-labelledby": "side" }, h("h2", { id: "side" }, title), h("p", { class: "about" }, w.compareAbout), table,
    h("h3", {}, w.picture), h("p", { class: "about" }, rows.length ? pictureWords(rows[0]) : w.pictureNone), rows.length ? intervals(rows, seconds) : "");
}
function pictureWords(row) {
  const best = row.values.reduce((a, b) => a.value <= b.value ? a : b);
  return w.pictureAbout({ what: row.label, best: seconds(best.value), name: best.name });
}

export function savedView(main, first, tell) {
  let where = { ...first }, list = null, shown = "";
  const lead = h("p", { class: "about" }), body = h("tbody"), empty = h("div", { class: "empty", hidden: true }, h("p", {}, w.none), h("p", {}, w.noneHow, " ", h("a", { href: "#/question" }, words.views.question)));
  const error = h("p", { class: "bad", role: "alert" }), detail = h("div", {});
  const open = h("button", { type: "submit" }, w.open);
  const table = h("form", { onsubmit: (e) => { e.preventDefault(); location.hash = link("saved", { id: chosen().join(",") }); } },
    h("div", { class: "scroll wide", tabindex: 0, role: "region", "aria-label": w.title }, h("table", { class: "saved" }, h("caption", { class: "hidden" }, w.title),
      h("thead", {}, h("tr", {}, Object.values(w.columns).map((t) => h("th", { scope: "col", class: "words" }, t)))), body)), h("p", {}, open));
  main.append(h("h1", {}, w.title), h("p", { class: "about" }, w.about), error, detail, h("section", { "aria-labelledby": "list" }, h("h2", { id: "list" }, w.list), empty, table, lead));
  document.title = w.title + " · blkcast";
  const wanted = () => (where.id || "").split(",").filter(Boolean).slice(0, MOST);
  // The newest is the first one of the list; the oldest is what the others are compared with.
  const chosen = () => [...body.querySelectorAll("input:checked")].map((e) => e.value).reverse();
  function count() {
    const n = chosen().length;
    open.disabled = !n || n > MOST;
    say(open, n > 1 ? w.openSeveral(n) : w.open);
  }
  // The first press asks, the second one deletes.
  function removeButton(s) {
    const button = h("button", { type: "button", "aria-label": w.removeName(s.name), onclick: async () => {
      if (button.dataset.sure) {
        try { list = await change("DELETE", "/api/v1/saved", { id: s.id }); fillList(); error.textContent = ""; table.querySelector("input, button").focus(); } catch (e) { say(error, e.message); }
        return;
      }
      button.dataset.sure = "1";
      button.removeAttribute("aria-label");
      say(button, w.sure);
    }, onblur: () => { delete button.dataset.sure; button.setAttribute("aria-label", w.removeName(s.name)); say(button, w.remove); } }, w.remove);
    return button;
  }
  function fillList() {
    const before = new Set([...chosen(), ...wanted()]);
    body.replaceChildren(...list.saved.map((s) => h("tr", {}, h("td", { class: "words" }, h("input", { type: "checkbox", value: s.id, checked: before.has(s.id), "aria-label": w.choose(s.name), onchange: count })),
      h("th", { scope: "row", class: "words" }, h("a", { href: link("saved", { id: s.id }) }, s.name)), h("td", { class: "words" }, words.question.asks[s.ask].title), h("td", { class: "words" }, time(s.at_s)),
      h("td", { class: "words long" }, s.conclusion || words.units.none), h("td", {}, removeButton(s)))));
    table.hidden = !list.saved.length;
    empty.hidden = table.hidden === false;
    say(lead, list.refusal ? w.refusal(list.refusal) : list.saved.length ? w.room(list.saved.length, list.most) : "");
    count();
  }
  async function fillDetail() {
    const ids = wanted(), key = ids.join();
    if (key === shown) return;
    shown = key;
    error.textContent = "";
    const found = await Promise.all(ids.map((id) => ask("/api/v1/saved", { id }).catch(() => null)));
    if (key !== wanted().join()) return;
    const there = found.filter(Boolean);
    if (there.length < ids.length) say(error, w.gone);
    if (!there.length) { detail.replaceChildren(); return; }
    if (there.length > 1) { detail.replaceChildren(comparison(there)); return; }
    const s = there[0];
    detail.replaceChildren(h("section", { "aria-labelledby": "one" }, h("h2", { id: "one" }, s.name), h("p", { class: "about" }, w.at(time(s.at_s))),
      ...answerParts(s, [h("p", {}, h("a", { href: link("question", s.question) }, w.again))])));
  }
  return {
    async refresh() {
      try {
        if (!list) { list = await ask("/api/v1/saved"); fillList(); }
        await fillDetail();
        tell();
      } catch (e) {
        say(error, e.message);
        tellError(e, tell);
      }
    },
    update(next) {
      where = { ...next };
      list = null;
      return true;
    },
  };
}
