// The view of the fleet: a summary sentence, the sum of all devices over the last hour, and a table that the
// server sorts and searches.
import { words } from "./words.mjs";
import { h, ask, say, link, tellError, count, perSecond, bytesPerSecond, seconds, duration, plain, time } from "./tools.mjs";
import { timeChart, spark, painted, idle } from "./charts.mjs";

const ROWS = 64, SEARCH_MS = 40, SEARCH_BYTES = 128, ABOVE_PIXELS = 300, ROW_PIXELS = 30; // What is above the table and a row are at least as high.
const columns = ["host", "device", "rate", "spark", "bytes", "p50", "p99", "in_flight", "lost", "gap", "age"];

// Returns the begin of a text that the server takes, whose limit is of bytes.
function searchable(text) {
  const letters = [...text], encoder = new TextEncoder();
  while (encoder.encode(letters.join("")).length > SEARCH_BYTES) letters.pop();
  return letters.join("");
}

// A row of the table. Its cells are kept and filled again, so that nothing flickers and the keyboard focus stays. All rows
// are copies of one, which takes a browser a third of the time that new elements take.
let model = null;
function makeRow() {
  model ||= h("tr", {}, columns.map((c) => h(c === "host" ? "th" : "td", { class: "c-" + c, scope: c === "host" ? "row" : null },
    c === "device" ? h("a", {}) : c === "age" ? [h("span", {}), h("span", { class: "silent", hidden: true }, words.fleet.silentMark)] : null)));
  const element = model.cloneNode(true), cells = {};
  columns.forEach((c, i) => { cells[c] = element.children[i]; });
  return { element, cells, anchor: cells.device.firstChild, silent: cells.age.lastChild, sparkKey: "" };
}

function fillRow(row, d) {
  const c = row.cells, known = d.minutes_requests_per_s.filter((v) => v !== null);
  say(c.host, d.host);
  say(row.anchor, d.device_name || d.device);
  row.anchor.href = link("device", { host: d.host, device: d.device });
  say(c.rate, perSecond(d.requests_per_s));
  say(c.bytes, bytesPerSecond(d.bytes_per_s));
  say(c.p50, seconds(d.p50_s));
  say(c.p99, seconds(d.p99_s));
  say(c.in_flight, plain(d.in_flight_mean));
  say(c.lost, d.lost ? count(d.lost) : "0");
  c.lost.classList.toggle("bad", d.lost > 0);
  say(c.gap, d.gap_s >= 1 ? duration(d.gap_s) : "0");
  c.gap.classList.toggle("bad", d.gap_s >= 1);
  say(c.age.firstChild, duration(Math.max(0, d.age_s)));
  row.silent.hidden = !d.silent;
  const key = d.minutes_requests_per_s.join();
  if (key !== row.sparkKey) {
    row.sparkKey = key;
    c.spark.replaceChildren(spark(d.minutes_requests_per_s, known.length
      ? words.fleet.sparkWords(count(Math.min(...known)), count(Math.max(...known))) : words.fleet.sparkNone));
  }
}

// The table of groups: hosts with the same value of a label, added up. choose(value) shows the devices of one.
function groupTable(choose) {
  const w = words.fleet, g = w.groupColumns, names = Object.keys(g);
  const title = h("h2", { id: "groups" }), about = h("p", { class: "about" }), caption = h("caption", { class: "hidden" }), body = h("tbody");
  const region = h("div", { class: "scroll wide", tabindex: 0, role: "region" },
    h("table", { class: "groups" }, caption, h("thead", {}, h("tr", {}, names.map((n) => h("th", { scope: "col" }, g[n])))), body));
  const element = h("section", { "aria-labelledby": "groups", hidden: true }, title, about, region);
  const rows = [];
  function makeGroup() {
    const cells = Object.fromEntries(names.map((n) => [n, h(n === "value" ? "th" : "td", { class: n === "value" ? "c-host" : "", scope: n === "value" ? "row" : null })]));
    const row = { element: h("tr", {}, names.map((n) => cells[n])), cells, value: null, sparkKey: "" };
    row.button = h("button", { type: "button", class: "linkish", onclick: () => choose(row.value) });
    return row;
  }
  function fill(row, d, key) {
    const c = row.cells, shown = d.value === null ? c.value : row.button;
    row.value = d.value;
    if (d.value !== null && c.value.firstChild !== row.button) c.value.replaceChildren(row.button);
    say(shown, d.value === null ? w.groupUnlabelled(key) : d.value);
    row.button.title = d.value || "";
    say(c.hosts, count(d.hosts));
    say(c.devices, count(d.devices));
    say(c.rate, perSecond(d.requests_per_s));
    say(c.bytes, bytesPerSecond(d.bytes_per_s));
    say(c.lost, d.lost ? count(d.lost) : "0");
    say(c.peak, d.peak_minute.value_per_s > 0 ? `${perSecond(d.peak_minute.value_per_s)} ${time(d.peak_minute.at_s)}` : perSecond(0));
    say(c.own, perSecond(d.peak_minute.sum_of_peaks_per_s));
    const list = d.minutes_requests_per_s, known = list.filter((v) => v !== null), sparkKey = list.join();
    if (sparkKey === row.sparkKey) return;
    row.sparkKey = sparkKey;
    c.spark.replaceChildren(spark(list, known.length ? w.sparkWords(count(Math.min(...known)), count(Math.max(...known))) : w.sparkNone));
  }
  function update(data) {
    element.hidden = !data.group || !data.groups.length;
    if (element.hidden) return;
    say(title, w.groups(data.group));
    say(caption, w.groups(data.group));
    region.setAttribute("aria-label", words.device.tableOf(w.groups(data.group)));
    say(about, w.groupsAbout(data.group));
    while (rows.length < data.groups.length) rows.push(makeGroup());
    data.groups.forEach((d, i) => fill(rows[i], d, data.group));
    if (body.children.length !== data.groups.length) body.replaceChildren(...rows.slice(0, data.groups.length).map((r) => r.element));
  }
  return { element, update };
}

export function fleetView(main, values, tell) {
  const ask_ = { sort: values.sort || "rate", order: values.order || "", q: values.q || "", group: values.group || "", from: Number(values.from) || 0 };
  const w = words.fleet, rows = [];
  let timer = null, data = null, asked = 0, closed = false;

  const title = h("h1", {}, w.title);
  const lead = h("p", { class: "lead" });
  const remarks = h("ul", { class: "remarks" });
  const chart = timeChart({
    label: w.together, height: 130, axis: count, steps: true, range: () => [data.together.begin_s, data.together.begin_s + 3600],
    series: [{ label: w.columns.rate, colour: "accent", fill: true, format: perSecond }],
  });
  const chartAbout = h("p", { class: "about" });
  const chartRows = h("tbody");
  const chartTable = h("details", { class: "data", ontoggle: () => fillChartTable() }, h("summary", {}, words.device.table),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": w.togetherTable }, h("table", {}, h("caption", { class: "hidden" }, w.togetherTable),
      h("thead", {}, h("tr", {}, [words.device.time, w.facts.rate, w.facts.bytes].map((t) => h("th", { scope: "col" }, t)))), chartRows)));
  const search = h("input", { type: "search", id: "q", autocomplete: "off", spellcheck: "false", value: ask_.q,
    oninput: () => { if (search.value !== searchable(search.value)) search.value = searchable(search.value); clearTimeout(timer); timer = setTimeout(() => { ask_.q = search.value; ask_.from = 0; go(); }, SEARCH_MS); } });
  const groupBy = h("select", { id: "group", onchange: () => { ask_.group = groupBy.value; ask_.from = 0; go(); } });
  const groupTools = h("span", { class: "group-by", hidden: true }, h("label", { for: "group" }, w.groupBy), groupBy);
  const groups = groupTable((value) => { ask_.q = search.value = `${ask_.group}=${value}`; ask_.from = 0; go(); search.focus(); });
  const heads = {};
  const head = h("tr", {}, columns.map((c) => {
    if (c === "spark") return h("th", { scope: "col", class: "c-spark" }, w.columns.spark);
    const button = h("button", { type: "button", onclick: () => sortBy(c) }, w.columns[c]);
    heads[c] = h("th", { scope: "col", class: "c-" + c }, button);
    return heads[c];
  }));
  const caption = h("caption", { class: "hidden" });
  const body = h("tbody");
  const empty = h("p", { class: "empty", hidden: true });
  const place = h("span", { class: "place", role: "status" });
  const before = h("button", { type: "button", onclick: () => { ask_.from = Math.max(0, ask_.from - ROWS); go(); } }, w.before);
  const next = h("button", { type: "button", onclick: () => { ask_.from += ROWS; go(); } }, w.next);
  const together = h("section", { "aria-labelledby": "together" }, h("h2", { id: "together" }, w.together), chartAbout, chart.element, chartTable);
  const table = h("div", { class: "scroll wide", tabindex: 0, role: "region", "aria-label": w.title }, h("table", { class: "fleet" }, caption, h("thead", {}, head), body));
  const pager = h("nav", { class: "pager", "aria-label": w.pages }, before, place, next);
  main.append(title, lead, remarks, together,
    h("div", { class: "tools" }, h("label", { for: "q" }, w.search), search, groupTools), groups.element, empty, table, pager);
  document.title = w.title + " · blkcast";

  const lowFirst = (c) => c === "host" || c === "device";
  const isAscending = () => ask_.order ? ask_.order === "ascending" : lowFirst(ask_.sort);
  function sortBy(c) {
    ask_.order = c === ask_.sort ? (isAscending() ? "descending" : "ascending") : lowFirst(c) ? "ascending" : "descending";
    ask_.sort = c;
    ask_.from = 0;
    go();
  }
  // The address holds the state of the view, so that a user can send the address to somebody.
  function go() {
    history.replaceState(null, "", link("", { sort: ask_.sort === "rate" ? "" : ask_.sort, order: ask_.order, q: ask_.q, group: ask_.group, from: ask_.from || "" }));
    return refresh();
  }
  function fillChartTable() {
    if (!chartTable.open || !data || !data.together) return;
    const t = data.together;
    chartRows.replaceChildren(...t.requests_per_s.map((v, i) => h("tr", {}, h("th", { scope: "row" }, time(t.begin_s + i * t.step_s)),
      h("td", {}, perSecond(v)), h("td", {}, bytesPerSecond(t.bytes_per_s[i])))).reverse());
  }
  function fillRemarks() {
    const list = [];
    if (data.silent) list.push(w.silent(data.silent));
    if (data.lost) list.push(w.lost(count(data.lost)));
    if (data.gap_s >= 1) list.push(w.gaps(duration(data.gap_s)));
    if (data.refused_devices) list.push(w.refused(data.refused_devices));
    if (data.unreadable) list.push(w.unreadable(data.unreadable));
    if (remarks.dataset.said === list.join("\n")) return;
    remarks.dataset.said = list.join("\n");
    remarks.replaceChildren(...list.map((t) => h("li", {}, t)));
  }
  function fillGroups() {
    const keys = ["", ...data.label_keys];
    groupTools.hidden = !data.label_keys.length;
    if ([...groupBy.options].map((o) => o.value).join("\n") !== keys.join("\n"))
      groupBy.replaceChildren(...keys.map((k) => h("option", { value: k }, k || w.groupNone)));
    groupBy.value = keys.includes(ask_.group) ? ask_.group : "";
    groups.update(data);
  }
  function fillTogether() {
    const t = data.together;
    together.hidden = !t || !data.as_of_s;
    if (together.hidden) return;
    chart.update({ x: t.requests_per_s.map((_, i) => t.begin_s + i * t.step_s), lists: [t.requests_per_s], unwatched: [] });
    say(chartAbout, w.togetherAbout({ step: t.step_s, peak: perSecond(data.peak_requests.value_per_s) }));
    chart.name(chartAbout.textContent);
    fillChartTable();
  }
  function fillLead() {
    let text = w.lead({ hosts: data.hosts, rows: data.rows, rate: count(data.requests_per_s), bytes: bytesPerSecond(data.bytes_per_s) });
    // The sum over time is that of all devices, so that it says nothing of those that were searched.
    if (!ask_.q && data.peak_requests && data.peak_requests.value_per_s > 0)
      text += " " + w.peak({ peak: perSecond(data.peak_requests.value_per_s), at: time(data.peak_requests.at_s), sum: perSecond(data.peak_requests.sum_of_peaks_per_s) });
    if (ask_.q) text += " " + w.filtered(ask_.q);
    say(lead, data.rows || ask_.q ? text : "");
  }
  // Rows that are on the screen come first, and those below when the browser has nothing else to do.
  async function fillRows() {
    const filled = data, nr = data.devices.length, first = Math.min(nr, Math.max(rows.length, Math.ceil(Math.max(0, innerHeight - ABOVE_PIXELS) / ROW_PIXELS) + 1));
    fillRowsTo(first);
    if (first === nr) return;
    await painted();
    await idle();
    if (filled === data && !closed) fillRowsTo(nr);
  }
  function fillRowsTo(nr) {
    while (rows.length < nr) rows.push(makeRow());
    for (let i = 0; i < nr; i++) fillRow(rows[i], data.devices[i]);
    if (body.children.length !== nr) body.replaceChildren(...rows.slice(0, nr).map((r) => r.element));
  }
  function fillTable() {
    fillRows();
    for (const [c, th] of Object.entries(heads))
      if (c === ask_.sort) th.setAttribute("aria-sort", isAscending() ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    say(caption, w.table({ sort: w.columns[ask_.sort] || "", order: isAscending() ? w.ascending : w.descending }));
    empty.hidden = data.rows > 0;
    table.hidden = data.rows === 0;
    pager.hidden = data.rows <= ROWS && ask_.from === 0;
    if (data.rows === 0 && ask_.q) empty.replaceChildren(w.noMatch(ask_.q));
    else if (data.rows === 0) empty.replaceChildren(w.empty + " " + w.emptyHow + " ", h("code", {}, w.emptyCommand("http://ADDR:PORT")));
    say(place, w.rows(data.rows ? data.from + 1 : 0, Math.min(data.rows, data.from + data.devices.length), data.rows));
    before.disabled = data.from === 0;
    next.disabled = data.from + data.devices.length >= data.rows;
  }
  // Numbers of an earlier question do not stand below one that was refused.
  function fillRefusal(message) {
    say(lead, "");
    remarks.replaceChildren();
    delete remarks.dataset.said;
    together.hidden = groups.element.hidden = table.hidden = pager.hidden = true;
    empty.hidden = false;
    empty.replaceChildren(message);
  }
  async function refresh() {
    const mine = ++asked;
    try {
      // Without values in the address the question is the one that index.html asks for before any script has come.
      const answer = await ask("/api/v1/fleet", { ...ask_, from: ask_.from || "", order: isAscending() ? "ascending" : "descending", limit: ROWS });
      if (mine !== asked) return; // The user has typed on, and a later question is under way.
      data = answer;
    } catch (e) {
      if (mine !== asked) return;
      if (e.isRefusal) fillRefusal(e.message);
      tellError(e, tell);
      return;
    }
    if (data.rows && data.from >= data.rows) { // There are fewer rows than when the address was made.
      ask_.from = ROWS * Math.floor((data.rows - 1) / ROWS);
      await go();
      return;
    }
    fillLead();
    fillRemarks();
    fillTogether();
    fillGroups();
    fillTable();
    tellState(data, tell);
  }
  return {
    refresh,
    redraw() { chart.redraw(); },
    isAt: (generation) => isAt(data, generation, tell),
    close() { closed = true; clearTimeout(timer); chart.close(); },
  };
}

// Returns whether the numbers are those of a generation, which needs no question then.
export function isAt(data, generation, tell) {
  const same = data !== null && data.generation === generation;
  if (same) tellState(data, tell);
  return same;
}

// Shows whether the numbers are up to date.
export function tellState(data, tell) {
  const age = data.newest_age_s;
  if (data.segments_loaded < data.segments_to_load) tell(words.state.loading(data.segments_loaded, data.segments_to_load), "loading");
  else if (age !== null && age > 60) tell(words.state.old(duration(age)), "old");
  else tell();
}
