// Where on a device requests began, and the miss-ratio curve: both from the stored requests, asked for when opened.
import { words } from "./words.mjs";
import { h, ask, say, count, bytes, ratio, time } from "./tools.mjs";
import { colour } from "./charts.mjs";

const w = words.access, SHADES = 10, WIDTH = 720, HEIGHT = 256, TABLE_ROWS = 20, AGAIN_MS = 15000;

function drawMap(canvas, data) {
  const { rows, columns } = data.map, ctx = canvas.getContext("2d"), most = Math.max(1, ...columns.flatMap((c) => c.map((x) => x[1] + x[2])));
  const cell = WIDTH / columns.length, high = HEIGHT / rows;
  ctx.clearRect(0, 0, WIDTH, HEIGHT);
  columns.forEach((cells, i) => cells.forEach(([row, reads, writes]) => {
    ctx.fillStyle = colour("h" + Math.min(SHADES - 1, 1 + Math.floor(Math.log(1 + reads + writes) / Math.log(1 + most) * (SHADES - 1))));
    ctx.fillRect(Math.floor(i * cell), Math.floor(HEIGHT - (row + 1) * high), Math.ceil(cell), Math.max(2, Math.ceil(high)));
  }));
}

// Draws the curve as steps over the logarithm of the size.
function curve(points, text) {
  const x0 = Math.log2(points[0][0]), x1 = Math.max(x0 + 1, Math.log2(points[points.length - 1][0]));
  const x = (v) => (46 + (Math.log2(v) - x0) / (x1 - x0) * 590).toFixed(1), y = (v) => (10 + (1 - v) * 190).toFixed(1);
  const line = points.map((p, i) => (i ? `H${x(p[0])}V${y(p[1])}` : `M${x(p[0])} ${y(p[1])}`)).join("");
  const step = Math.max(1, Math.ceil((x1 - x0) / 6)), marks = [];
  for (let v = Math.ceil(x0); v <= x1; v += step) marks.push(v);
  return h("svg", { class: "curve", viewBox: "0 0 660 232", role: "img", "aria-label": text },
    [0, 0.25, 0.5, 0.75, 1].map((v) => [h("line", { class: "grid", x1: 46, x2: 636, y1: y(v), y2: y(v) }), h("text", { x: 40, y: Number(y(v)) + 4, "text-anchor": "end" }, Math.round(v * 100) + " %")]),
    marks.map((v) => h("text", { x: x(2 ** v), y: 222, "text-anchor": "middle" }, bytes(2 ** v))), h("path", { d: line }));
}

// where() gives host, device and the period that is shown.
export function accessSection(where) {
  const about = h("p", { class: "about", role: "status" }), body = h("div", {});
  const details = h("details", { class: "access", ontoggle: () => refresh(false) }, h("summary", {}, w.open), about, body);
  let key = "", at = 0, busy = false, canvas = null, data = null;

  function fill() {
    const m = data.map, totals = Array.from({ length: m.rows }, () => [0, 0]);
    for (const cells of m.columns) for (const [row, reads, writes] of cells) { totals[row][0] += reads; totals[row][1] += writes; }
    const order = totals.map((t, row) => ({ row, reads: t[0], writes: t[1] })).filter((t) => t.reads + t.writes).sort((a, b) => b.reads + b.writes - a.reads - a.writes);
    const range = (row) => w.range(bytes(m.first_byte + row * m.row_bytes), bytes(m.first_byte + (row + 1) * m.row_bytes));
    const mapText = w.mapAbout({ rows: m.rows, each: bytes(m.row_bytes), most: range(order[0].row), share: ratio((order[0].reads + order[0].writes) / data.requests) });
    const points = data.miss_ratio, last = points[points.length - 1];
    canvas = h("canvas", { width: WIDTH, height: HEIGHT, role: "img", "aria-label": mapText });
    drawMap(canvas, data);
    const table = (title, head, rows) => h("details", { class: "data" }, h("summary", {}, words.device.table), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.device.tableOf(title) },
      h("table", {}, h("caption", { class: "hidden" }, title), h("thead", {}, h("tr", {}, head.map((t) => h("th", { scope: "col" }, t)))), h("tbody", {}, rows.map((r) => h("tr", {}, r.map((c, i) => h(i ? "td" : "th", { scope: i ? null : "row" }, c))))))));
    body.replaceChildren(h("div", { class: "pair" },
      h("section", {}, h("h3", {}, w.map), h("p", { class: "about" }, mapText), h("div", { class: "map" }, h("span", { class: "low" }, bytes(m.first_byte + m.rows * m.row_bytes)), canvas, h("span", { class: "low" }, bytes(m.first_byte)),
        h("span", { class: "ends" }, h("span", {}, time(data.begin_s)), h("span", {}, time(data.end_s)))), table(w.map, [w.region, words.device.series.reads, words.device.series.writes], order.slice(0, TABLE_ROWS).map((t) => [range(t.row), count(t.reads), count(t.writes)]))),
      h("section", {}, h("h3", {}, w.curve), ...(points.length > 1 ? [h("p", { class: "about" }, w.curveAbout({ size: bytes(last[0]), miss: ratio(last[1]) })), curve(points, w.curveAbout({ size: bytes(last[0]), miss: ratio(last[1]) })),
        table(w.curve, [w.size, w.misses], points.map((p) => [bytes(p[0]), ratio(p[1])]))] : [h("p", { class: "about" }, points.length ? w.flat(ratio(last[1])) : w.noCurve)]))));
  }
  async function refresh(following) {
    const now = where(), mine = JSON.stringify(now);
    if (!now || !details.open || busy || mine === key || (following && Date.now() < at + AGAIN_MS)) return;
    busy = true;
    say(about, w.reading);
    try {
      data = await ask("/api/v1/access", now);
      key = mine;
      at = Date.now();
      say(about, (data.requests ? w.about(count(data.requests)) : words.device.whoNone) + (data.read_until_s ? " " + w.cut(time(data.read_until_s)) : "") + (data.unreadable ? " " + words.fleet.unreadable(count(data.unreadable)) : ""));
      if (data.requests) fill();
      else body.replaceChildren();
    } catch (e) {
      say(about, e.message);
    }
    busy = false;
  }
  return { element: details, refresh, redraw() { if (canvas && data && data.requests) drawMap(canvas, data); } };
}
