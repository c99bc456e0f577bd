// One device over a period: pictures over time that share their cursor, sizes, and the command that says the same.
import { words } from "./words.mjs";
import { h, ask, say, link, count, perSecond, bytes, bytesPerSecond, seconds, duration, ratio, plain, time, iso, shell } from "./tools.mjs";
import { timeChart, bars } from "./charts.mjs";
import { tellState } from "./fleet.mjs";

const FOLLOW_S = 900, LEAST_S = 10, PERIODS = [300, 900, 3600, 21600, 86400, 604800];
const w = words.device, s = w.series, p = w.pictures;

// key: picture; lists: names of columns in the answer.
const pictures = [
  { key: "heat", heat: true, height: 260, axis: seconds, lists: ["read_p50_s", "read_p99_s"],
    series: [{ label: s.p50, colour: "median", width: 2, format: seconds }, { label: s.p99, colour: "median", dash: [6, 4], width: 2, format: seconds }] },
  { key: "rate", axis: count, lists: ["reads_per_s", "writes_per_s", "others_per_s"],
    series: [{ label: s.reads, colour: "read", fill: true, format: perSecond }, { label: s.writes, colour: "write", dash: [7, 3], format: perSecond },
      { label: s.others, colour: "law", dash: [2, 3], format: perSecond }] },
  { key: "bytes", axis: bytes, binary: true, lists: ["read_bytes_per_s", "write_bytes_per_s"],
    series: [{ label: s.read, colour: "read", fill: true, format: bytesPerSecond }, { label: s.written, colour: "write", dash: [7, 3], format: bytesPerSecond }] },
  { key: "inFlight", axis: plain, lists: ["in_flight_mean"], series: [{ label: s.inFlight, colour: "inside", fill: true, format: plain }] },
  { key: "sequential", axis: ratio, top: 1, lists: ["sequential_ratio"], series: [{ label: s.sequential, colour: "accent", format: ratio }] },
  { key: "flush", axis: seconds, lists: ["flush_p99_s"], series: [{ label: s.flush, colour: "law", format: seconds }] },
];

// Stretches of columns that nobody watched, up to the newest one that somebody did.
function unwatched(c, end) {
  const runs = [];
  c.begin_s.forEach((begin, i) => {
    if (c.watched_s[i] > 0 || begin >= end) return;
    const last = runs[runs.length - 1];
    if (last && last[1] === begin) last[1] = c.end_s[i];
    else runs.push([begin, c.end_s[i]]);
  });
  return runs;
}

const most = (list) => Math.max(0, ...list.filter((v) => v !== null));

export function deviceView(main, values, tell) {
  let where = { ...values }, data = null, fleet = null, latest = null;
  const following = () => !where.begin_s || !where.end_s;
  const length = () => following() ? Number(where.last_s) || FOLLOW_S : Number(where.end_s) - Number(where.begin_s);
  const range = () => [data.begin_s, data.end_s];
  const go = (change) => { location.hash = link("device", { host: where.host, device: where.device, ...change }); };
  const show = (from, to) => {
    const grow = Math.max(0, LEAST_S - (to - from)) / 2;
    go({ begin_s: Math.floor(from - grow), end_s: Math.ceil(to + grow) });
  };
  const shift = (by) => show(data.begin_s + by * length(), data.end_s + by * length());
  const zoom = (by) => { const middle = (data.begin_s + data.end_s) / 2, half = length() * by / 2; show(middle - half, middle + half); };

  const title = h("h1", {});
  const lead = h("p", { class: "lead" });
  const remarks = h("ul", { class: "remarks" });
  const rangeText = h("p", { class: "about", role: "status" });
  const periodButtons = PERIODS.map((n) => h("button", { type: "button", "data-s": n, onclick: () => go({ last_s: n }) }, w.periods[n]));
  const tools = h("div", { class: "tools", role: "group", "aria-label": w.period }, h("span", { class: "label" }, w.period), periodButtons,
    h("span", { class: "group" }, h("button", { type: "button", onclick: () => shift(-0.5) }, w.earlier), h("button", { type: "button", onclick: () => shift(0.5) }, w.later),
      h("button", { type: "button", onclick: () => zoom(0.5) }, w.narrower), h("button", { type: "button", onclick: () => zoom(2) }, w.wider)));
  const error = h("div", { class: "empty", role: "alert", hidden: true });
  const command = h("code", {});
  const copy = h("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(command.textContent); say(copy, w.copied); } catch (e) { getSelection().selectAllChildren(command); }
    setTimeout(() => say(copy, w.copy), 1500);
  } }, w.copy);
  const figures = pictures.map((picture) => {
    const about = h("p", { class: "about" }), rows = h("tbody"), id = "picture-" + picture.key;
    const chart = timeChart({ ...picture, label: p[picture.key].title, range, onzoom: show, onout: () => zoom(2) });
    const details = h("details", { class: "data", ontoggle: () => fill() }, h("summary", {}, w.table),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": w.tableOf(p[picture.key].title) }, h("table", {}, h("caption", { class: "hidden" }, p[picture.key].title),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, w.time), picture.series.map((x) => h("th", { scope: "col" }, x.label)), h("th", { scope: "col" }, s.watched))), rows)));
    const section = h("section", { "aria-labelledby": id }, h("h2", { id }, p[picture.key].title), about, chart.element, details);
    function fill() {
      if (!details.open || !data) return;
      const c = data.columns;
      rows.replaceChildren(...c.begin_s.map((begin, i) => c.watched_s[i] > 0 ? h("tr", {}, h("th", { scope: "row" }, time(begin)),
        picture.lists.map((key, n) => h("td", {}, picture.series[n].format(c[key][i]))), h("td", {}, duration(c.watched_s[i]))) : null).filter(Boolean).reverse());
    }
    return { picture, about, chart, section, fill };
  });
  const sizes = h("div"), sizesAbout = h("p", { class: "about" }), sizesRows = h("tbody");
  const sizesSection = h("section", { "aria-labelledby": "picture-sizes" }, h("h2", { id: "picture-sizes" }, p.sizes.title), sizesAbout, sizes,
    h("details", { class: "data" }, h("summary", {}, w.table), h("table", {}, h("caption", { class: "hidden" }, p.sizes.title),
      h("thead", {}, h("tr", {}, [s.size, s.reads, s.writes].map((t) => h("th", { scope: "col" }, t)))), sizesRows)));
  const content = h("div", { class: "pictures" }, figures.map((f) => f.section), sizesSection);
  const commandSection = h("section", { "aria-labelledby": "command" }, h("h2", { id: "command" }, w.command), h("div", { class: "command" }, h("pre", { tabindex: 0 }, command), copy));
  main.append(h("p", { class: "back" }, h("a", { href: "#/" }, w.back)), title, lead, remarks, tools, rangeText, error, content, commandSection);

  function fillLead() {
    const d = data.sum, list = [];
    const requests = d.reads + d.writes;
    if (!data.windows) {
      say(lead, "");
    } else {
      let text = w.lead({ requests: count(requests + d.flushes), watched: duration(d.watched_s), rate: count((d.reads_per_s || 0) + (d.writes_per_s || 0) + (d.others_per_s || 0)),
        reads: ratio(requests ? d.reads / requests : null), size: bytes((d.read_bytes_per_s || 0) + (d.write_bytes_per_s || 0)) });
      if (d.read_p50_s !== null || d.write_p50_s !== null)
        text += " " + w.leadTimes({ r50: seconds(d.read_p50_s), r99: seconds(d.read_p99_s), w50: seconds(d.write_p50_s), w99: seconds(d.write_p99_s) });
      say(lead, text);
    }
    if (d.busiest) list.push(w.busiest({ rate: perSecond(d.busiest.requests_per_s), at: time(d.busiest.at_s) }));
    if (d.slowest) list.push(w.slowest({ time: seconds(d.slowest.p99_s), at: time(d.slowest.at_s) }));
    const blank = unwatched(data.columns, latest || data.end_s).reduce((sum, r) => sum + r[1] - r[0], 0);
    if (data.windows && blank > 0) list.push(w.unwatched(duration(blank)));
    if (d.lost > 0) list.push(words.fleet.lost(count(d.lost)));
    if (data.read_until_s) list.push(w.cut(time(data.read_until_s)));
    if (remarks.dataset.said !== list.join("\n")) {
      remarks.dataset.said = list.join("\n");
      remarks.replaceChildren(...list.map((t) => h("li", {}, t)));
    }
  }
  function fillPictures() {
    const c = data.columns, d = data.sum;
    for (const f of figures) {
      const { key, lists } = f.picture;
      const has = lists.some((name) => c[name].some((v) => v !== null)) || (key === "heat" && c.heat.some((cells) => cells.length));
      f.section.hidden = !has;
      if (!has) continue;
      f.chart.update({ x: c.begin_s, lists: lists.map((name) => c[name]), unwatched: unwatched(c, latest || data.end_s),
        heat: { cells: c.heat, begin: c.begin_s, end: c.end_s, firstOctave: data.heat_times.first_octave, perOctave: data.heat_times.per_octave } });
      const top = most(lists.flatMap((name) => c[name]));
      const facts = { max: f.picture.axis(key === "heat" ? most(c.read_p99_s) : top), mean: ratio(d.sequential_ratio), count: count(d.flushes) };
      if (key === "rate") facts.max = count(top);
      if (key === "bytes") facts.max = bytesPerSecond(top);
      say(f.about, p[key].about(facts));
      f.chart.name(f.about.textContent);
      f.fill();
    }
  }
  function fillSizes() {
    const z = data.sum.sizes, names = z.class_end_bytes.map((n) => s.upTo(bytes(n)));
    names.push(s.above(bytes(z.class_end_bytes[z.class_end_bytes.length - 1])));
    const all = names.map((label, i) => ({ label, values: [z.reads[i], z.writes[i]] }));
    const used = all.filter((r) => r.values[0] + r.values[1] > 0);
    sizesSection.hidden = !used.length;
    if (!used.length) return;
    const best = used.reduce((a, b) => a.values[0] + a.values[1] >= b.values[0] + b.values[1] ? a : b);
    say(sizesAbout, p.sizes.about({ most: best.label }));
    sizes.replaceChildren(bars(used, ["read", "write"], count));
    sizesRows.replaceChildren(...all.map((r) => h("tr", {}, h("th", { scope: "row" }, r.label), h("td", {}, count(r.values[0])), h("td", {}, count(r.values[1])))));
  }
  function fill() {
    const empty = !data.windows;
    say(title, w.title(data.device_name || where.device, where.host));
    document.title = title.textContent + " · blkcast";
    content.hidden = empty;
    error.hidden = !empty;
    if (empty) error.replaceChildren(h("p", {}, w.none), h("p", {}, w.noneHow));
    say(rangeText, w.range(time(data.begin_s), time(data.end_s), duration(data.step_s)) + ". " + w.brush);
    for (const b of periodButtons) b.setAttribute("aria-pressed", String(following() && Number(b.dataset.s) === length()));
    say(command, ["blkcast", "report", "--store", "DIR", "--host", shell(where.host || ""), "--device", shell(where.device || ""),
      "--begin", iso(data.begin_s), "--end", iso(data.end_s), "-o", "report.html"].join(" "));
    fillLead();
    if (empty) return;
    fillPictures();
    fillSizes();
  }
  async function refresh() {
    try {
      fleet = await ask("/api/v1/fleet", { host: where.host, limit: 64 });
      const row = fleet.devices.find((d) => d.device === where.device);
      latest = row ? row.end_s : fleet.as_of_s;
      const end = Math.ceil(latest || Date.now() / 1000);
      if (data && !following() && data.end_s <= (data.latest || 0)) { tellState(fleet, tell); return; }
      const asked = following() ? { begin_s: end - length(), end_s: end } : { begin_s: where.begin_s, end_s: where.end_s };
      data = { ...await ask("/api/v1/device", { host: where.host, device: where.device, ...asked }), latest };
    } catch (e) {
      if (!data) {
        say(title, words.error.title);
        content.hidden = true;
        error.hidden = false;
        error.replaceChildren(h("p", {}, e.message));
      }
      tell(words.state.lost, "lost");
      return;
    }
    fill();
    tellState(fleet, tell);
  }
  return {
    refresh,
    update(next) {
      if (next.host !== where.host || next.device !== where.device) return false;
      where = { ...next };
      data = data && { ...data, latest: 0 };
      return true;
    },
    redraw() { for (const f of figures) f.chart.redraw(); },
    close() { for (const f of figures) f.chart.close(); },
  };
}
