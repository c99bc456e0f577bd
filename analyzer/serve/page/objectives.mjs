// The view of objectives: which device keeps which, and what is left of its error budget.
import { words } from "./words.mjs";
import { h, ask, say, tellError, link, count, ratio, seconds } from "./tools.mjs";
import { spark } from "./charts.mjs";
import { tellState } from "./fleet.mjs";

const w = words.objectives;

export function objectivesView(main, values, tell) {
  const lead = h("p", { class: "lead" }), body = h("tbody"), cut = h("p", { class: "about" }), empty = h("div", { class: "empty", hidden: true });
  const list = h("ul", { class: "remarks" });
  const table = h("div", { class: "scroll wide", tabindex: 0, role: "region", "aria-label": w.title }, h("table", { class: "fleet" }, h("caption", { class: "hidden" }, w.title),
    h("thead", {}, h("tr", {}, Object.entries(w.columns).map(([c, t]) => h("th", { scope: "col", class: "c-" + c }, t)))), body));
  main.append(h("h1", {}, w.title), lead, list, empty, table, cut);
  document.title = w.title + " · blkcast";
  let shown = "";

  function row(s, names) {
    const kind = s.holds === null ? "unknown" : s.holds ? "holds" : "broken", known = s.minutes_slow_ratio.filter((v) => v !== null);
    return h("tr", {}, h("th", { scope: "row", class: "c-host" }, s.host), h("td", { class: "c-device" }, h("a", { href: link("device", { host: s.host, device: s.device, last_s: 3600 }) }, s.device_name || s.device)),
      h("td", { class: "words" }, s.objective), h("td", { class: "words" }, h("span", { class: "mark-" + kind }, w.states[kind])), h("td", {}, ratio(s.slow_ratio)), h("td", {}, ratio(names[s.objective].budget_ratio)),
      h("td", {}, s.budget_left_ratio === null ? words.units.none : ratio(Math.max(0, s.budget_left_ratio))),
      h("td", { class: "c-spark" }, spark(s.minutes_slow_ratio, known.length ? w.sparkWords(ratio(Math.min(...known)), ratio(Math.max(...known))) : words.fleet.sparkNone)),
      h("td", {}, count(s.requests)));
  }
  async function refresh() {
    try {
      const data = await ask("/api/v1/objectives"), fleet = await ask("/api/v1/fleet", { limit: 1 });
      const key = JSON.stringify(data.states);
      if (key !== shown || !data.rows) {
        shown = key;
        const names = Object.fromEntries(data.objectives.map((o) => [o.name, o]));
        body.replaceChildren(...data.states.map((s) => row(s, names)));
        list.replaceChildren(...data.objectives.map((o) => h("li", {}, h("b", {}, o.name + ": "), w.says({ percent: count(o.percentile) + " %", operation: w.operations[o.operation],
          below: seconds(o.below_s), host: o.host === "*" ? w.everyHost : o.host, device: o.device === "*" ? w.everyDevice : o.device }))));
        say(lead, data.rows ? w.lead({ rows: data.rows, broken: data.broken, holds: data.states.filter((s) => s.holds).length }) : "");
        say(cut, data.rows > data.states.length ? w.cut(data.states.length, data.rows) : data.rows ? w.about : "");
        table.hidden = !data.rows;
        empty.hidden = data.rows > 0;
        if (!data.rows) empty.replaceChildren(h("p", {}, data.has_file ? w.noDevice : w.none), h("p", {}, data.has_file ? w.noDeviceHow : w.noneHow, " ", h("code", {}, w.command)));
      }
      tellState(fleet, tell);
    } catch (e) {
      tellError(e, tell);
    }
  }
  return { refresh };
}
