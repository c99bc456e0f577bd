// The view of questions: what a migration, a consolidation, more load, a cache or a plan would do. The address
// holds the whole question, so that a link asks it again.
import { words } from "./words.mjs";
import { h, ask, say, tellError, link, copyButton, change, duration, seconds, time } from "./tools.mjs";

const w = words.question, POLL_MS = 400;
const ASKS = ["migrate", "consolidate", "headroom", "cache", "scenario"];
// Which fields a question has.
const FIELDS = {
  migrate: ["loads", "models", "slo"], consolidate: ["loads", "models", "slo"], headroom: ["loads", "models", "slo"],
  cache: ["loads", "cache"], scenario: ["scenarios"],
};
const NAMES = ["host", "device", "begin_s", "end_s", "model", "scenario", "slo", "size", "hits", "hit_time", "miss_time"];

// The words of an address, whose kind of question may be none that there is.
const wordsOf = (values) => ({ ...values, ask: ASKS.includes(values.ask) ? values.ask : "migrate" });

// A time for an input field, in the reader's zone, and back.
const toField = (s) => s ? new Date(s * 1000 - new Date(s * 1000).getTimezoneOffset() * 60000).toISOString().slice(0, 19) : "";
const fromField = (text) => text ? String(new Date(text).getTime() / 1000) : "";

const request = (method, values) => change(method, "/api/v1/question", values);

const table = (t) => h("div", {}, t.title ? h("h3", {}, t.title) : null, t.about ? h("p", { class: "about" }, t.about) : null,
  h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t.title || w.result }, h("table", { class: "answer" },
    h("thead", {}, h("tr", {}, t.head.map((c) => h("th", { scope: "col", class: c.number ? null : "words" }, c.title)))),
    h("tbody", {}, t.rows.map((row) => h("tr", {}, row.map((cell, i) => h(i ? "td" : "th", { scope: i ? null : "row", class: t.head[i].number ? null : "words" }, cell))))))));

// What is shown of an answer: that of a question, or one that was saved. more: elements below its tables.
export function answerParts(state, more) {
  const shown = state.shown, advice = w.verdicts[state.verdict];
  return [shown && shown.conclusion ? h("p", { class: "lead" }, shown.conclusion) : "",
    advice ? h("p", { class: "verdict " + (state.verdict === "answered" ? "good" : "warn") }, advice) : "",
    ...(state.remarks.length ? [h("ul", { class: "remarks" }, state.remarks.map((t) => h("li", {}, t)))] : []),
    ...(shown ? [shown.facts.length ? h("dl", { class: "facts" }, shown.facts.map((f) => h("div", {}, h("dt", {}, f.title), h("dd", {}, f.value)))) : "",
      ...shown.tables.map(table), ...shown.notes.map((t) => h("p", { class: "about" }, t))] : []), ...more,
    h("h3", {}, w.command), h("div", { class: "command" }, h("pre", { tabindex: 0 }, h("code", {}, state.command)), copyButton(() => state.command))];
}

// The form that saves an answer under a name.
function saveForm(state) {
  const name = h("input", { id: "save-name", maxlength: 80, required: true, autocomplete: "off", value: w.saveName(w.asks[state.question.ask].title, state.question.host || state.question.scenario || "").slice(0, 80) });
  const said = h("p", { role: "status" });
  return h("form", { class: "save", onsubmit: async (e) => {
    e.preventDefault();
    try {
      const saved = await change("POST", "/api/v1/saved", { question: state.id, name: name.value.trim() });
      said.replaceChildren(w.saved + " ", h("a", { href: link("saved", { id: saved.id }) }, w.savedLink));
    } catch (why) { said.replaceChildren(h("span", { class: "bad" }, why.message)); }
  } }, h("label", { for: "save-name" }, w.saveAs), name, h("button", { type: "submit" }, w.save), said);
}

export function questionView(main, values, tell) {
  let where = wordsOf(values), models = null, asked = null, closed = false;
  const inputs = {}, chosen = { model: [], scenario: [] }; // chosen: in the order of choosing, or that of the address
  const field = (name, label, attributes, hint) => {
    inputs[name] = h("input", { id: "f-" + name, name, autocomplete: "off", spellcheck: "false", ...attributes, "aria-describedby": hint ? "h-" + name : null });
    return h("p", { class: "field" }, h("label", { for: "f-" + name }, label), inputs[name], hint ? h("span", { class: "hint", id: "h-" + name }, hint) : null);
  };
  const hostNames = h("datalist", { id: "hosts" }), deviceNames = h("datalist", { id: "devices" });
  const kind = h("div", { class: "choices", role: "radiogroup", "aria-label": w.kind }, ASKS.map((a) => h("label", { class: "choice" },
    h("input", { type: "radio", name: "ask", value: a, onchange: () => { where.ask = a; show(); } }), h("b", {}, w.asks[a].title), h("span", {}, w.asks[a].about))));
  const boxes = { models: h("div", {}), scenarios: h("div", {}) };
  const sets = {
    loads: h("fieldset", {}, h("legend", {}, w.loads), h("p", { class: "about" }, w.loadsAbout),
      field("host", w.host, { list: "hosts", required: true }), field("device", w.device, { list: "devices" }), hostNames, deviceNames,
      field("begin_s", w.begin, { type: "datetime-local", step: 1 }), field("end_s", w.end, { type: "datetime-local", step: 1 })),
    models: h("fieldset", {}, h("legend", {}, w.models), boxes.models),
    scenarios: h("fieldset", {}, h("legend", {}, w.scenarios), h("p", { class: "about" }, w.scenariosAbout), boxes.scenarios),
    slo: h("fieldset", {}, h("legend", {}, w.objectives), field("slo", w.slo, {}, w.sloHint)),
    cache: h("fieldset", {}, h("legend", {}, w.cache), field("size", w.size, {}, w.sizeHint), field("hits", w.hits, { inputmode: "decimal" }, w.hitsHint),
      field("hit_time", w.hitTime, {}, w.hitTimeHint), field("miss_time", w.missTime, {}, w.missTimeHint)),
  };
  const button = h("button", { type: "submit", class: "main" }, w.askNow);
  const error = h("p", { class: "bad", role: "alert" });
  const form = h("form", { class: "question", onsubmit: (e) => { e.preventDefault(); submit(); } }, kind, Object.values(sets), h("p", {}, button), error);
  const bar = h("progress", { max: 1, "aria-label": w.progress }), barText = h("span", { role: "status" });
  const stop = h("button", { type: "button", onclick: () => asked && request("DELETE", { id: asked.id }).catch(() => null) }, w.stop);
  const progress = h("p", { class: "progress", hidden: true }, bar, barText, stop);
  const answer = h("section", { "aria-labelledby": "answer", hidden: true });
  main.append(h("h1", {}, w.title), h("p", { class: "about" }, w.about), form, progress, answer);
  document.title = w.title + " · blkcast";

  function show() {
    for (const [name, set] of Object.entries(sets)) set.hidden = set.disabled = !FIELDS[where.ask].includes(name);
    for (const radio of form.elements.ask) radio.checked = radio.value === where.ask;
    inputs.slo.required = where.ask === "headroom";
    button.textContent = w.asks[where.ask].button;
  }
  function fillForm() {
    for (const name of NAMES)
      if (inputs[name]) inputs[name].value = name.endsWith("_s") ? toField(Number(where[name])) : where[name] || "";
    show();
  }
  function choices(box, name, list) {
    chosen[name] = (where[name] || "").split(",").filter((n) => list.some((m) => m.name === n));
    const choose = (e) => { chosen[name] = [...chosen[name].filter((n) => n !== e.target.value), ...(e.target.checked ? [e.target.value] : [])]; };
    box.replaceChildren(...(list.length ? list.map((m) => h("label", { class: "check" },
      h("input", { type: "checkbox", name, value: m.name, checked: chosen[name].includes(m.name), onchange: choose }), h("span", {}, m.name),
      h("span", { class: "soft" }, w.modelAbout({ kind: w.kinds[m.kind] || w.kinds.none, response: m.response, at: time(m.changed_s) })))) :
      [h("p", { class: "about" }, models.has_folder ? w.folderEmpty : w.noFolder)]));
  }
  async function fillChoices() {
    if (models) return;
    models = await ask("/api/v1/models");
    choices(boxes.models, "model", models.models.filter((m) => m.kind !== "scenario"));
    choices(boxes.scenarios, "scenario", models.models.filter((m) => m.kind === "scenario"));
    const fleet = await ask("/api/v1/fleet", { limit: 64 }), names = (key) => [...new Set(fleet.devices.map((d) => d[key]))];
    hostNames.replaceChildren(...names("host").map((n) => h("option", { value: n })));
    deviceNames.replaceChildren(...names("device_name").map((n) => h("option", { value: n })));
  }
  function collect() {
    const next = { ask: where.ask };
    for (const name of NAMES) {
      const elements = [...form.querySelectorAll(`[name="${name}"]`)].filter((e) => !e.closest("fieldset").disabled);
      const text = elements.length ? (chosen[name] || [elements[0].value.trim()]).join(",") : "";
      const value = name.endsWith("_s") ? fromField(text) : text;
      if (value) next[name] = value;
    }
    return next;
  }
  function submit() {
    where = { ...collect(), run: "1" };
    const target = link("question", where);
    if (location.hash === target) run();
    else location.hash = target;
  }
  function fillProgress(state) {
    progress.hidden = state.state === "done";
    if (state.done_ratio === null) bar.removeAttribute("value");
    else bar.value = state.done_ratio;
    say(barText, state.state === "waiting" ? w.waiting : state.left_s === null ? w.working(seconds(state.spent_s), duration(state.limit_s)) : w.left(duration(state.left_s)));
  }
  function fillAnswer(state) {
    answer.hidden = false;
    answer.replaceChildren(h("h2", { id: "answer" }, w.answer), ...answerParts(state, state.shown ?
      [h("p", {}, h("a", { href: "/api/v1/question/page?id=" + state.id, target: "_blank", rel: "noopener" }, w.asPage)), saveForm(state)] : []),
    h("p", { class: "about" }, w.commandAbout, " ", h("a", { href: location.hash }, w.link)));
  }
  async function run() {
    const mine = asked = { id: null };
    const { run: _, ...question } = where;
    say(error, "");
    answer.hidden = true;
    try {
      let state = await request("POST", question);
      mine.id = state.id;
      while (state.state !== "done" && asked === mine && !closed) {
        fillProgress(state);
        await new Promise((wake) => setTimeout(wake, POLL_MS));
        state = await ask("/api/v1/question", { id: mine.id });
      }
      if (asked !== mine || closed) return;
      fillAnswer(state);
      answer.scrollIntoView({ block: "nearest" });
    } catch (e) {
      if (asked === mine) say(error, e.message);
    }
    progress.hidden = true;
  }
  fillForm();
  if (where.run) run();
  return {
    async refresh() {
      try { await fillChoices(); tell(); } catch (e) { say(error, e.message); tellError(e, tell); }
    },
    update(next) {
      where = wordsOf(next);
      models = null;
      fillForm();
      if (where.run) run();
      return true;
    },
    close() {
      closed = true;
      if (asked && asked.id && !progress.hidden) request("DELETE", { id: asked.id }).catch(() => null);
    },
  };
}
