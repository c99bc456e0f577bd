// Pictures: lines and the heat map on uPlot, sparks and bars as SVG. Colours are the style's variables.
import { words } from "./words.mjs";
import { h, time } from "./tools.mjs";

// The style's variables are read once: each reading makes the browser compute the style of what has just changed.
const colours = new Map();
export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
  return colours.get(name);
}
// Forgets them, before pictures are drawn again in other colours.
export const forgetColours = () => colours.clear();
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const IDLE_MS = 300, HEAT_COLOURS = 10, AXIS = 62, FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// Waits until the screen shows what has been put into the page.
export const painted = () => new Promise((wake) => requestAnimationFrame(() => setTimeout(wake)));
// Waits until the browser has nothing to do, for a while at most.
export const idle = () => new Promise((wake) => window.requestIdleCallback ? requestIdleCallback(wake, { timeout: IDLE_MS }) : setTimeout(wake));

// Runs uPlot once the first numbers are on the screen, which do not need it.
let reading = null;
async function readLibrary() {
  await painted();
  const restore = withoutFormats();
  await new Promise((done, failed) => document.head.append(h("script", { src: "/assets/uPlot.iife.min.js", onload: done, onerror: failed }))).finally(restore);
}
// When uPlot is read, it makes a format of numbers and asks for the name of the time zone, both for texts that this page
// writes itself. The first format of a page makes the browser read its data of all languages, so that meanwhile a format of
// numbers is made when it is used, and the time zone has no name. Returns what ends this.
function withoutFormats() {
  const { NumberFormat, DateTimeFormat } = Intl;
  Intl.NumberFormat = function (...options) {
    let made = null;
    return { format: (v) => (made ||= new NumberFormat(...options)).format(v) };
  };
  Intl.DateTimeFormat = function () { return { resolvedOptions: () => ({}) }; };
  return () => Object.assign(Intl, { NumberFormat, DateTimeFormat });
}
const library = () => reading ||= readLibrary().catch(() => { reading = null; });

// Draws the unwatched time behind everything else: runs of columns that are marked as unwatched.
function shade(u, unwatched) {
  const { ctx } = u;
  ctx.save();
  ctx.fillStyle = colour("unwatched");
  for (const [from, to] of unwatched) {
    const a = Math.max(u.valToPos(from, "x", true), u.bbox.left);
    const b = Math.min(u.valToPos(to, "x", true), u.bbox.left + u.bbox.width);
    if (b > a) ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
  }
  ctx.restore();
}

// Returns a colour of the style, "#rrggbb", as a pixel of an image: bytes red, green, blue and opaque.
function pixel(name) {
  const n = parseInt(colour(name).slice(1), 16);
  return new Uint32Array(new Uint8Array([n >> 16, n >> 8 & 255, n & 255, 255]).buffer)[0];
}

// The heat map has a pixel for each bin of each column. Columns are equally long, and bins equally high on the axis, so
// that the browser only stretches this picture: thousands of rectangles take ten times as long.
function heatImage(grid, first, last) {
  const width = grid.cells.length, height = last - first + 1;
  const canvas = h("canvas", { width, height }), ctx = canvas.getContext("2d"), image = ctx.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer), shades = Array.from({ length: HEAT_COLOURS }, (_, i) => pixel("h" + i));
  let most = 1;
  for (const cells of grid.cells) for (let i = 1; i < cells.length; i++) most = Math.max(most, cells[i]);
  const scale = HEAT_COLOURS / Math.log(1 + most);
  grid.cells.forEach((cells, column) => {
    for (let i = 1; i < cells.length; i++)
      if (cells[i]) pixels[(last - cells[0] - i + 1) * width + column] = shades[Math.min(HEAT_COLOURS - 1, Math.floor(Math.log(1 + cells[i]) * scale))];
  });
  ctx.putImageData(image, 0, 0);
  return canvas;
}

function heat(u, data) {
  const { ctx } = u, grid = data.heat;
  if (!grid) return;
  const [first, last] = heatBins(grid);
  if (first > last) return;
  const x = (s) => u.valToPos(s, "x", true), y = (bin) => u.valToPos(Math.pow(2, grid.firstOctave + bin / grid.perOctave), "y", true);
  const left = x(grid.begin[0]), top = y(last + 1);
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(heatImage(grid, first, last), left, top, x(grid.end[grid.end.length - 1]) - left, y(first) - top);
  ctx.restore();
}

// Returns the lowest and the highest bin that holds counts.
function heatBins(grid) {
  let low = Infinity, high = -Infinity;
  for (const cells of grid.cells)
    if (cells.length > 1) { low = Math.min(low, cells[0]); high = Math.max(high, cells[0] + cells.length - 2); }
  return [low, high];
}

// Returns the ends of the logarithmic time axis: whole powers of two around the cells that hold counts.
function heatRange(data) {
  const grid = data.heat, [first, last] = heatBins(grid), isEmpty = first > last;
  const low = isEmpty ? 40 : first, high = isEmpty ? 60 : last + 1;
  return [Math.pow(2, grid.firstOctave + Math.floor(low / grid.perOctave)), Math.pow(2, grid.firstOctave + Math.ceil(high / grid.perOctave))];
}

// Ticks of bytes are whole powers of two. Ticks of time use the 24-hour clock, with the day where it changes.
const BINARY = Array.from({ length: 50 }, (_, i) => Math.pow(2, i));
function timeMarks(u, marks, axis, space, step) {
  const { minutes, clock, day } = words.times;
  let before = new Date().toDateString();
  return marks.map((v) => {
    const date = new Date(v * 1000), changed = date.toDateString() !== before;
    before = date.toDateString();
    return step >= 86400 ? day(date) : (changed ? day(date) + " " : "") + (step < 60 ? clock : minutes)(date);
  });
}

const DECADES = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100];

/*
 * Makes a picture over time. data: {x: [begin of each column], lists: [[...], ...], unwatched: [[from, to]], heat}.
 * series: [{label, colour, dash, format}]. onzoom(from, to) is called after a period was selected by dragging,
 * onout() after a double click. Returns {element, update(data), redraw()}.
 */
export function timeChart(options) {
  const box = h("div", { class: "chart", role: "img", "aria-label": options.label }), height = options.height || 190;
  box.style.minHeight = height + "px"; // What is below does not move when the picture is drawn.
  const legend = h("p", { class: "legend" });
  const readout = options.series.map((s) => {
    const value = h("b", {}, "");
    legend.append(h("span", { class: "key" }, h("i", { class: "mark mark-" + s.colour + (s.dash ? " dashed" : "") }), s.label + " ", value));
    return value;
  });
  const at = h("span", { class: "at" }, "");
  legend.append(at);
  const none = { x: [], lists: options.series.map(() => []), unwatched: [], heat: null };
  let plot = null, data = none, closed = false;

  function hover(u) {
    const i = u.cursor.idx;
    options.series.forEach((s, n) => {
      const v = i === null || i === undefined ? null : data.lists[n][i];
      readout[n].textContent = v === null || v === undefined ? "" : s.format(v);
    });
    at.textContent = i === null || i === undefined ? "" : time(data.x[i]);
  }
  function make() {
    const isHeat = Boolean(options.heat);
    const axis = { stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, font: FONT };
    const old = plot;
    plot = new uPlot({
      width: Math.max(200, box.clientWidth || 600), height,
      legend: { show: false }, pxAlign: 1,
      cursor: { sync: { key: options.sync || "time" }, drag: { x: true, y: false, setScale: false }, points: { show: !still() && !isHeat } },
      scales: {
        x: { time: true, range: () => data === none ? [0, 1] : options.range() },
        y: isHeat ? { distr: 3, log: 10, range: () => data.heat ? heatRange(data) : [0.1, 1] }
          : { range: (u, low, high) => [0, options.top || (high > 0 ? high * 1.08 : 1)] },
      },
      axes: [
        { ...axis, space: 84, size: 30, values: timeMarks },
        { ...axis, size: AXIS, values: (u, ticks) => ticks.map((v) => v === null ? "" : options.axis(v)), ...(options.binary ? { incrs: BINARY } : {}),
          ...(isHeat ? { splits: (u, n, low, high) => DECADES.filter((d) => d >= low && d <= high), filter: (u, s) => s } : {}) },
      ],
      series: [{}, ...options.series.map((s) => ({
        label: s.label, stroke: colour(s.colour), width: s.width || 1.6, dash: s.dash, spanGaps: false,
        fill: s.fill ? colour(s.colour) + "22" : undefined, points: { show: false },
        paths: options.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
      }))],
      hooks: {
        drawClear: [(u) => { shade(u, data.unwatched); }],
        drawAxes: isHeat ? [(u) => heat(u, data)] : [],
        setCursor: [hover],
        setSelect: [(u) => {
          if (u.select.width < 4) return;
          const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          if (options.onzoom) options.onzoom(from, to);
        }],
      },
    }, [data.x, ...data.lists], box);
    if (options.onout) plot.over.addEventListener("dblclick", options.onout);
    if (old) old.destroy();
  }
  const watch = new ResizeObserver(() => {
    if (plot && Math.abs(plot.width - box.clientWidth) > 1) plot.setSize({ width: Math.max(200, box.clientWidth), height: plot.height });
  });
  watch.observe(box);
  return {
    element: h("div", {}, box, legend),
    update(next) {
      data = next;
      if (plot) plot.setData([data.x, ...data.lists]);
      else if (window.uPlot) make();
      else library().then(() => { if (window.uPlot && !plot && !closed) make(); });
    },
    // Makes the picture before there are data, where the library has been read.
    prepare() { if (window.uPlot && !plot && !closed) make(); },
    name(text) { box.setAttribute("aria-label", text); },
    redraw() { if (plot) make(); },
    close() { closed = true; watch.disconnect(); if (plot) plot.destroy(); },
  };
}

// Makes a small line picture of the last hour from 60 values; null means that the minute was not watched.
export function spark(values, text) {
  const width = 120, height = 24, top = Math.max(...values.map((v) => v || 0), 1e-9);
  let line = "", pen = false;
  values.forEach((v, i) => {
    if (v === null) { pen = false; return; }
    const x = (1 + i * (width - 2) / Math.max(1, values.length - 1)).toFixed(1), y = (height - 2 - v / top * (height - 4)).toFixed(1);
    line += pen ? `L${x} ${y}` : `M${x} ${y}h.1`;
    pen = true;
  });
  return h("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text, preserveAspectRatio: "none" },
    h("path", { d: line || "M0 0", "vector-effect": "non-scaling-stroke" }));
}

// Makes bars side by side: rows of {label, values: [..]} with one colour each.
export function bars(rows, colours, format) {
  const top = Math.max(1e-9, ...rows.flatMap((r) => r.values));
  return h("div", { class: "bars" }, rows.map((row) => h("div", { class: "bar-row" },
    h("span", { class: "bar-name" }, row.label),
    h("span", { class: "bar-lines" }, row.values.map((v, i) => h("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
      h("rect", { class: "fill-" + colours[i], x: 0, y: 0, height: 8, width: (100 * v / top).toFixed(2) })))),
    h("span", { class: "bar-value" }, row.values.map((v) => format(v)).join(" · ")))));
}

// Makes intervals below one another: rows of {label, values: [{name, value, low, high}]}. All have one scale, from 0 on.
export function intervals(rows, format) {
  const top = Math.max(1e-9, ...rows.flatMap((r) => r.values.map((v) => Math.max(v.value, v.high || 0)))), x = (v) => 100 * v / top;
  return h("div", { class: "bars" }, rows.map((row) => h("div", { class: "intervals", role: "group", "aria-label": row.label }, h("p", { class: "about" }, row.label), row.values.map((v) => {
    const low = v.low === null ? v.value : v.low, high = v.high === null ? v.value : v.high;
    return h("div", { class: "bar-row" }, h("span", { class: "bar-name" }, v.name),
      h("svg", { class: "interval", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" }, h("line", { x1: 0, x2: 100, y1: 6, y2: 6 }),
        h("rect", { x: x(low).toFixed(2), y: 3, height: 6, width: Math.max(0.3, x(high) - x(low)).toFixed(2) }), h("path", { d: `M${x(v.value).toFixed(2)} 0V12`, "vector-effect": "non-scaling-stroke" })),
      h("span", { class: "bar-value" }, format(v.value)));
  }))));
}
