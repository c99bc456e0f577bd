// The view of one device over a period: pictures over time that share their cursor, request sizes, and the
// command that prints the same numbers.
import { words } from "./words.mjs";
import { h, ask, tellError, hostQuestion, deviceQuestion, say, link, copyButton, count, perSecond, bytes, bytesPerSecond, seconds, duration, ratio, plain, time, iso, shell } from "./tools.mjs";
import { timeChart, bars, painted, idle } from "./charts.mjs";
import { tellState, isAt } from "./fleet.mjs";
import { accessSection } from "./access.mjs";
import { keepSection } from "./keep.mjs";
import { foundPictures } from "./found.mjs";

const AT_ONCE = 2; // Two pictures are on the screen before it is scrolled; the others are drawn after them.
const FOLLOW_S = 900, LEAST_S = 10, WHO_MS = 15000, PERIODS = [300, 900, 3600, 21600, 86400, 604800];
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

// Returns the runs of unwatched columns, up to the newest watched column.
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

// The values by which two periods are compared.
const compared = [
  { key: "reads_per_s", label: s.reads, format: perSecond }, { key: "writes_per_s", label: s.writes, format: perSecond },
  { key: "read_bytes_per_s", label: s.read, format: bytesPerSecond }, { key: "write_bytes_per_s", label: s.written, format: bytesPerSecond },
  { key: "read_p50_s", label: s.p50, format: seconds }, { key: "read_p99_s", label: s.p99, format: seconds },
  { key: "write_p50_s", label: s.wp50, format: seconds }, { key: "write_p99_s", label: s.wp99, format: seconds },
  { key: "flush_p99_s", label: s.flush, format: seconds }, { key: "in_flight_mean", label: s.inFlight, format: plain },
  { key: "sequential_ratio", label: s.sequential, format: ratio },
];
const signed = (v) => v === null ? words.units.none : (v > 0 ? "+" : v < 0 ? "−" : "±") + ratio(Math.abs(v));

const most = (list) => Math.max(0, ...list.filter((v) => v !== null));

export function deviceView(main, values, tell) {
  let where = { ...values }, data = null, fleet = null, latest = null, who = {}, before = {}, filled = 0;
  const following = () => !where.begin_s || !where.end_s;
  const length = () => following() ? Number(where.last_s) || FOLLOW_S : Number(where.end_s) - Number(where.begin_s);
  const range = () => [data.begin_s, data.end_s];
  const marked = () => where.a_begin_s && where.a_end_s;
  const go = (change) => { location.hash = link("device", { host: where.host, device: where.device, a_begin_s: where.a_begin_s, a_end_s: where.a_end_s, ...change }); };
  const here = () => following() ? { last_s: where.last_s } : { begin_s: where.begin_s, end_s: where.end_s };
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
  const markButton = h("button", { type: "button", onclick: () => {
    if (marked()) go({ ...here(), a_begin_s: "", a_end_s: "" });
    else if (data) go({ ...here(), a_begin_s: data.begin_s, a_end_s: data.end_s });
  } }, w.mark);
  const tools = h("div", { class: "tools", role: "group", "aria-label": w.period }, h("span", { class: "label" }, w.period), periodButtons,
    h("span", { class: "group" }, h("button", { type: "button", onclick: () => shift(-0.5) }, w.earlier), h("button", { type: "button", onclick: () => shift(0.5) }, w.later),
      h("button", { type: "button", onclick: () => zoom(0.5) }, w.narrower), h("button", { type: "button", onclick: () => zoom(2) }, w.wider), markButton));
  const error = h("div", { class: "empty", role: "alert", hidden: true });
  const command = h("code", {});
  const copy = copyButton(() => command.textContent);
  const question = h("a", {}, w.question);
  const keep = keepSection(() => data && { host: where.host, begin_s: data.begin_s, end_s: following() ? Math.ceil(Date.now() / 1000 + length()) : data.end_s });
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
  const sizesSection = h("section", { "aria-labelledby": "picture-sizes", hidden: true }, h("h2", { id: "picture-sizes" }, p.sizes.title), sizesAbout, sizes,
    h("details", { class: "data" }, h("summary", {}, w.table), h("table", {}, h("caption", { class: "hidden" }, p.sizes.title),
      h("thead", {}, h("tr", {}, [s.size, s.reads, s.writes].map((t) => h("th", { scope: "col" }, t)))), sizesRows)));
  const phases = h("ol", { class: "phases" });
  const phasesSection = h("section", { "aria-labelledby": "phases", hidden: true }, h("h2", { id: "phases" }, w.phases), h("p", { class: "about" }, w.phasesAbout), phases);
  const compareAbout = h("p", { class: "about" }), compareLead = h("p", {}), compareRows = h("tbody");
  const compareSection = h("section", { "aria-labelledby": "compare", hidden: true }, h("h2", { id: "compare" }, w.compare), compareLead, compareAbout,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": w.tableOf(w.compare) }, h("table", {}, h("caption", { class: "hidden" }, w.compare),
      h("thead", {}, h("tr", {}, h("td", {}), [w.before, w.now, w.change].map((t) => h("th", { scope: "col" }, t)))), compareRows)));
  const whoCut = h("p", { class: "about" }), whoTables = h("div", { class: "who" });
  const whoSection = h("section", { "aria-labelledby": "who" }, h("h2", { id: "who" }, w.who), h("p", { class: "about" }, w.whoAbout), whoCut, whoTables);
  const found = foundPictures();
  const content = h("div", { class: "pictures" }, figures.map((f) => f.section), sizesSection, found.map((f) => f.element));
  const access = accessSection(() => data && { host: where.host, device: where.device, begin_s: data.begin_s, end_s: data.end_s });
  const accessPart = h("section", { "aria-labelledby": "access" }, h("h2", { id: "access" }, words.access.title), access.element);
  const commandSection = h("section", { "aria-labelledby": "command" }, h("h2", { id: "command" }, w.command), h("div", { class: "command" }, h("pre", { tabindex: 0 }, command), copy), keep.element, h("p", {}, question));
  main.append(h("p", { class: "back" }, h("a", { href: "#/" }, w.back)), title, lead, remarks, tools, rangeText, error, compareSection, content, phasesSection, whoSection, accessPart, commandSection);

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
    if (data.retired_until_s) list.push(w.retired(time(data.retired_until_s)));
    if (data.read_until_s) list.push(w.cut(time(data.read_until_s)));
    if (data.unreadable) list.push(words.fleet.unreadable(count(data.unreadable)));
    if (remarks.dataset.said !== list.join("\n")) {
      remarks.dataset.said = list.join("\n");
      remarks.replaceChildren(...list.map((t) => h("li", {}, t)));
    }
  }
  // Draws what lies below the screen after what is on it, unless newer data have come meanwhile.
  async function drawLater(draws, mine) {
    await painted();
    for (const draw of draws) {
      await idle();
      if (mine !== filled) return;
      draw();
    }
  }
  function fillPictures() {
    const c = data.columns, d = data.sum, mine = ++filled, draws = [];
    for (const f of figures) {
      const { key, lists } = f.picture;
      const has = lists.some((name) => c[name].some((v) => v !== null)) || (key === "heat" && c.heat.some((cells) => cells.length));
      f.section.hidden = !has;
      if (!has) continue;
      const drawn = { x: c.begin_s, lists: lists.map((name) => c[name]), unwatched: unwatched(c, latest || data.end_s),
        heat: { cells: c.heat, begin: c.begin_s, end: c.end_s, firstOctave: data.heat_times.first_octave, perOctave: data.heat_times.per_octave } };
      draws.push(() => f.chart.update(drawn));
      const top = most(lists.flatMap((name) => c[name]));
      const facts = { max: f.picture.axis(key === "heat" ? most(c.read_p99_s) : top), mean: ratio(d.sequential_ratio), window: seconds(data.window_s), count: count(d.flushes) };
      if (key === "rate") facts.max = count(top);
      if (key === "bytes") facts.max = bytesPerSecond(top);
      say(f.about, p[key].about(facts));
      f.chart.name(f.about.textContent);
      f.fill();
    }
    draws.splice(0, AT_ONCE).forEach((draw) => draw());
    drawLater([...draws, fillSizes, ...found.map((f) => () => f.fill(d.bins)), fillPhases, fillWho, () => access.refresh(following())], mine);
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
  function fillPhases() {
    const list = data.phases.length > 1 || (data.phases[0] && data.phases[0].kind !== "idle") ? data.phases : [];
    phasesSection.hidden = !list.length;
    const key = JSON.stringify(list);
    if (phases.dataset.key === key) return;
    phases.dataset.key = key;
    phases.replaceChildren(...list.map((f) => h("li", {}, h("a", { href: link("device", { ...where, last_s: "", begin_s: Math.floor(f.begin_s), end_s: Math.ceil(f.end_s) }) },
      w.phase({ kind: w.kinds[f.kind] || "idle", access: w.accesses[f.access] || "", length: duration(f.end_s - f.begin_s), rate: perSecond(f.requests_per_s), size: f.size_mean_bytes ? bytes(f.size_mean_bytes) : "" })),
      " ", h("span", { class: "soft" }, w.phaseAt(time(f.begin_s))))));
  }
  function whoTable(title, list, all) {
    return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": w.tableOf(title) }, h("table", {}, h("caption", { class: "hidden" }, title),
      h("thead", {}, h("tr", {}, [title, w.requestsColumn, w.share, w.readsColumn, w.bytesColumn, w.meanColumn].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, list.map((n) => h("tr", {}, h("th", { scope: "row" }, n.name === null ? w.rest : n.name || w.unknown), h("td", {}, count(n.requests)), h("td", {}, ratio(n.requests / all)),
        h("td", {}, ratio(n.reads / n.requests)), h("td", {}, bytes(n.bytes)), h("td", {}, seconds(n.response_mean_s)))))));
  }
  async function fillWho() {
    const keyNow = () => [where.host, where.device, where.begin_s, where.end_s, where.last_s].join(), key = keyNow(), mine = filled;
    if (who.busy || (who.key === key && (!following() || Date.now() - who.at < WHO_MS))) return;
    who.busy = true;
    try {
      const answer = await ask("/api/v1/who", { host: where.host, device: where.device, begin_s: data.begin_s, end_s: data.end_s });
      say(whoCut, [answer.requests ? answer.read_from_s ? w.whoCut(time(answer.read_from_s)) : "" : w.whoNone,
        answer.unreadable ? words.fleet.unreadable(count(answer.unreadable)) : ""].filter(Boolean).join(" "));
      whoTables.replaceChildren(...(answer.requests ? [whoTable(w.processes, answer.processes, answer.requests), whoTable(w.cgroups, answer.cgroups, answer.requests)] : []));
    } catch (e) {
      say(whoCut, e.message);
    }
    who = { key, at: Date.now(), busy: false };
    if (key !== keyNow() && mine !== filled) fillWho(); // Another period was shown meanwhile.
  }
  async function fillCompare() {
    compareSection.hidden = !marked();
    if (!marked()) return;
    const key = [where.a_begin_s, where.a_end_s].join();
    if (before.key !== key)
      before = { key, data: await ask("/api/v1/device", { host: where.host, device: where.device, begin_s: where.a_begin_s, end_s: where.a_end_s }).catch(() => null) };
    const a = before.data, b = data;
    say(compareAbout, a ? w.compareAbout({ a: w.range(time(a.begin_s), time(a.end_s), duration(a.step_s)), b: w.range(time(b.begin_s), time(b.end_s), duration(b.step_s)) }) : "");
    if (!a || !a.windows) { say(compareLead, w.compareEmpty); compareRows.replaceChildren(); return; }
    const rows = compared.map((c) => {
      const x = a.sum[c.key], y = b.sum[c.key];
      return { ...c, x, y, change: x > 0 && y !== null ? y / x - 1 : null };
    }).filter((r) => r.x !== null || r.y !== null);
    rows.sort((x, y) => Math.abs(y.change || 0) - Math.abs(x.change || 0));
    say(compareLead, rows.length && Math.abs(rows[0].change || 0) > 0.05 ? w.compareLead({ what: rows[0].label, by: signed(rows[0].change) }) : w.compareSame);
    compareRows.replaceChildren(...rows.map((r) => h("tr", {}, h("th", { scope: "row" }, r.label), h("td", {}, r.format(r.x)), h("td", {}, r.format(r.y)), h("td", {}, signed(r.change)))));
  }
  function fill() {
    const empty = !data.windows;
    say(title, w.title(data.device_name || where.device, where.host));
    document.title = title.textContent + " · blkcast";
    content.hidden = empty;
    error.hidden = !empty;
    whoSection.hidden = accessPart.hidden = empty;
    if (empty) compareSection.hidden = phasesSection.hidden = true;
    say(markButton, marked() ? w.unmark : w.mark);
    markButton.disabled = empty && !marked(); // There is nothing in it to compare with.
    if (empty) error.replaceChildren(h("p", {}, w.none), h("p", {}, w.noneHow));
    say(rangeText, w.range(time(data.begin_s), time(data.end_s), duration(data.step_s)) + ". " + w.brush);
    for (const b of periodButtons) b.setAttribute("aria-pressed", String(following() && Number(b.dataset.s) === length()));
    say(command, ["blkcast", "report", "--store", "DIR", "--host", shell(where.host || ""), "--device", shell(where.device || ""),
      "--begin", iso(data.begin_s), "--end", iso(data.end_s), "-o", "report.html"].join(" "));
    keep.fill(fleet);
    question.href = link("question", { ask: "migrate", host: where.host, device: data.device_name || where.device, begin_s: data.begin_s, end_s: data.end_s });
    fillLead();
    if (empty) return;
    fillCompare();
    fillPictures();
  }
  // What the fleet's answer says of this device: whether it sends, until when, and what its agent keeps back.
  function takeFleet(answer) {
    const row = answer.devices.find((d) => d.device === where.device);
    fleet = answer;
    latest = row ? row.end_s : answer.as_of_s;
  }
  // Returns the data of the period, or null where those that are shown are still right. A period that is over does not
  // change once all of it was there when it was asked for. One that is fixed can be asked for before the newest window is
  // known, and then only the newest of the refresh before tells that. It is drawn without waiting for the fleet's answer,
  // unless there was none yet: two answers at once take longer than one.
  async function readPeriod(asked) {
    const before = latest, question = () => ask(hostQuestion(asked));
    const isOver = data && data.asked === asked && !following() && data.end_s <= (data.latest || 0);
    if (following() || isOver) {
      takeFleet(await question());
      const end = Math.ceil(latest || Date.now() / 1000);
      return isOver ? null : { ...await ask(deviceQuestion(asked, end - length(), end)), asked, latest };
    }
    const about = fleet ? null : question(), period = ask(deviceQuestion(asked, asked.begin_s, asked.end_s));
    period.catch(() => null); // told below, unless the first question fails as well
    if (about) takeFleet(await about);
    return { ...await period, asked, latest: before };
  }
  async function refresh() {
    const asked = where;
    try {
      // The first pictures are made without data while the answer is on its way.
      const isKnown = fleet !== null, reading = readPeriod(asked);
      if (!data) figures.slice(0, AT_ONCE).forEach((f) => f.chart.prepare());
      const read = await reading;
      if (asked !== where) return; // Another period is on its way, or another view is shown.
      if (read) { data = read; fill(); }
      if (read && isKnown && !following()) {
        const before = latest;
        await painted();
        await idle();
        takeFleet(await ask(hostQuestion(asked)));
        if (asked !== where) return;
        // Windows may have come since, so that less of the end is unwatched.
        if (latest !== before && data.end_s > before) fill();
        else keep.fill(fleet);
      }
    } catch (e) {
      if (asked !== where) return;
      if (!data || e.isRefusal) {
        say(title, words.error.title);
        content.hidden = whoSection.hidden = accessPart.hidden = compareSection.hidden = phasesSection.hidden = true;
        error.hidden = false;
        error.replaceChildren(h("p", {}, e.message));
      }
      tellError(e, tell);
      return;
    }
    tellState(fleet, tell);
  }
  return {
    refresh,
    isAt: (generation) => data !== null && isAt(fleet, generation, tell),
    update(next) {
      if (next.host !== where.host || next.device !== where.device) return false;
      where = { ...next };
      return true;
    },
    redraw() { for (const f of figures) f.chart.redraw(); access.redraw(); },
    close() { where = { ...where }; filled++; for (const f of figures) f.chart.close(); },
  };
}
