// Helpers for elements, numbers with units, and requests. Text is put into the page by textContent only.
import { words } from "./words.mjs";

// h("p", {class: "x", onclick: f}, "text", child): an element; null children are left out.
export function h(name, attributes, ...children) {
  const svg = ["svg", "path", "line", "rect", "circle", "text"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) e.append(child);
  return e;
}

// Formats a number with three digits, like the report.
function digits(v) {
  const a = Math.abs(v);
  return a >= 100 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : v.toFixed(2);
}
function scaled(v, units, base) {
  let i = 0;
  while (Math.abs(v) >= base * 0.9995 && i < units.length - 1) { v /= base; i++; }
  return [v, units[i]];
}
const known = (v) => typeof v === "number" && Number.isFinite(v);

export function count(v) {
  if (!known(v)) return words.units.none;
  if (v === 0) return "0";
  const [n, unit] = scaled(v, ["", " k", " M", " G", " T"], 1000);
  return (unit === "" && Number.isInteger(n) ? String(n) : digits(n)) + unit;
}
export const perSecond = (v) => known(v) ? count(v) + words.units.perSecond : words.units.none;
export function bytes(v) {
  if (!known(v)) return words.units.none;
  const [n, unit] = scaled(v, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
  return (Number.isInteger(n) ? String(n) : digits(n)) + " " + unit;
}
export const bytesPerSecond = (v) => known(v) ? bytes(v) + words.units.perSecond : words.units.none;
export function seconds(v) {
  if (!known(v)) return words.units.none;
  if (v === 0) return "0 s";
  if (v >= 120) return duration(v);
  if (v >= 1) return digits(v) + " s";
  if (v >= 1e-3) return digits(v * 1e3) + " ms";
  return v >= 1e-6 ? digits(v * 1e6) + " µs" : digits(v * 1e9) + " ns";
}
export function duration(v) {
  if (!known(v)) return words.units.none;
  if (v < 1) return words.ago.now;
  if (v < 120) return words.ago.s(Math.round(v));
  if (v < 7200) return words.ago.m(Math.round(v / 60));
  return v < 172800 ? words.ago.h(Math.round(v / 3600)) : words.ago.d(Math.round(v / 86400));
}
export const ratio = (v) => known(v) ? digits(v * 100) + " %" : words.units.none;
export const plain = (v) => known(v) ? digits(v) : words.units.none;

// Formats a time; a time of today has no date.
export function time(s) {
  if (!known(s)) return words.units.none;
  const date = new Date(s * 1000);
  return (date.toDateString() === new Date().toDateString() ? words.times.clock : words.times.full)(date);
}
export const iso = (s) => new Date(s * 1000).toISOString().replace(/\.\d+Z$/, "Z");

// Returns the values that are given as a query. A table has a link in each row, and URLSearchParams takes longer.
const query = (values) => Object.entries(values || {}).filter(([, v]) => v !== null && v !== undefined && v !== "")
  .map(([key, v]) => encodeURIComponent(key) + "=" + encodeURIComponent(v)).join("&");
export const withQuery = (path, values) => { const q = query(values); return q ? path + "?" + q : path; };

// The questions about a device, in a period that is given or else ends at `end`.
export const hostQuestion = (where) => withQuery("/api/v1/fleet", { host: where.host, limit: 64 });
export const deviceQuestion = (where, begin, end) => withQuery("/api/v1/device", { host: where.host, device: where.device, begin_s: begin, end_s: end });

// status: that of the answer, or 0 where there was none.
export class ServerError extends Error {
  constructor(message, status) { super(message); this.status = status; }
  get isRefusal() { return this.status >= 400 && this.status < 500; }
}

// Tells beside the title that a question has failed. Where a login is asked for, that has been told.
export function tellError(e, tell) {
  if (e.status) { if (e.status !== 401) tell(e.message, "refused"); } else tell(words.state.lost, "lost");
}

const ANSWER_MS = 60000;
// Questions of a view whose script is still being read; ask() takes their replies.
const ahead = new Map();
const get = (url) => fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
export function askAhead(urls) {
  ahead.clear();
  for (const url of urls) {
    const reply = get(url);
    reply.catch(() => null); // told by ask()
    ahead.set(url, reply);
  }
}

// Gets the JSON of a path. Throws a ServerError with a sentence: the server's own, or that there is no answer. The server
// bounds its own work to seconds, so that a connection which says nothing for a minute is dead.
export async function ask(path, values) {
  let reply, body = null;
  try {
    const url = withQuery(path, values), early = ahead.get(url);
    ahead.delete(url);
    reply = await (early || get(url));
  } catch (e) {
    throw new ServerError(words.error.unreachable, 0);
  }
  try {
    body = await reply.json();
  } catch (e) { /* said below */ }
  if (reply.status === 401) {
    dispatchEvent(new Event("login"));
    throw new ServerError(words.login.over, reply.status);
  }
  if (!reply.ok && body && body.error) throw new ServerError(words.error.answer(body.error), reply.status);
  if (!reply.ok || !body) throw new ServerError(words.error.unreachable, 0);
  if ("has_session" in body) dispatchEvent(new CustomEvent("session", { detail: body.has_session }));
  return body;
}

// Asks the server to change something. Throws a ServerError with a sentence.
export async function change(method, path, values) {
  const reply = await fetch(path + "?" + new URLSearchParams(values), { method, headers: { "X-Blkcast": "1" }, signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
  const body = reply ? await reply.json().catch(() => null) : null;
  if (reply && reply.status === 401) dispatchEvent(new Event("login"));
  if (!reply || !body) throw new ServerError(words.error.unreachable, 0);
  if (!reply.ok) throw new ServerError(words.error.answer(body.error), reply.status);
  return body;
}

// Formats a word for a shell, with quotes if it needs them.
export const shell = (word) => /^[A-Za-z0-9_.,:\/=+-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";

export const link = (view, values) => withQuery("#/" + view, values);

// Sets the text only if it differs, so that a screen reader does not read the same text again.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A button that copies a text.
export function copyButton(text) {
  const button = h("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text()); say(button, words.device.copied); } catch (e) { getSelection().selectAllChildren(button.previousElementSibling); }
    setTimeout(() => say(button, words.device.copy), 1500);
  } }, words.device.copy);
  return button;
}
