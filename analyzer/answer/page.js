// The little that needs a script: choosing the theme, copying commands, reading values off.
// Everything else works without it.
"use strict";
(function () {
  const root = document.documentElement;

  function themes() {
    const order = ["auto", "light", "dark"];
    const button = document.getElementById("theme");
    let at = 0;
    button.hidden = false;
    button.addEventListener("click", function () {
      at = (at + 1) % order.length;
      if (order[at] === "auto") root.removeAttribute("data-theme");
      else root.setAttribute("data-theme", order[at]);
      button.textContent = "Theme: " + order[at];
    });
  }

  function copying() {
    if (!navigator.clipboard) return;
    for (const pre of document.querySelectorAll("pre.command")) {
      const button = document.createElement("button");
      button.textContent = "Copy the command";
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(pre.textContent).then(function () {
          button.textContent = "Copied";
        });
      });
      pre.after(button);
    }
  }

  // The CSV under a picture is its data: no second copy of it is in the page.
  function rows(section) {
    const link = section.querySelector("a.csv");
    const text = decodeURIComponent(link.getAttribute("href").replace(/^[^,]*,/, ""));
    return text.trim().split("\n").map(function (line) { return line.split(","); });
  }

  // data-rate: the axis is per second in that unit, so the counts of a column are divided by its width.
  function words(svg, head, row, step) {
    const rate = svg.getAttribute("data-rate");
    const unit = rate === "bytes" ? " MiB/s" : "/s";
    const per = rate === "bytes" ? step * 1048576 : step;
    const parts = [];
    for (let i = 1; i < row.length && parts.length < 12; i++) {
      if (row[i] === "" || Number(row[i]) === 0) continue;
      const name = head[i].replace(rate ? /_(requests|bytes)$/ : "", "").replace(/_/g, " ");
      const value = rate ? Number(row[i]) / per : Number(row[i]);
      parts.push(name + ": " + value.toLocaleString("en") + (rate ? unit : ""));
    }
    return parts.length ? parts.join(" · ") : "nothing";
  }

  // The clock of the axis: that of the machine which wrote the page, not of the reader's browser.
  function clock(svg, seconds) {
    const zone = Number(svg.getAttribute("data-zone"));
    const text = new Date((seconds + zone) * 1000).toISOString();
    const two = function (n) { return String(n).padStart(2, "0"); };
    const minutes = Math.floor(Math.abs(zone) / 60);
    return zone === 0 ? text : text.replace("Z", (zone < 0 ? "-" : "+") +
      two(Math.floor(minutes / 60)) + ":" + two(minutes % 60));
  }

  // Whether nobody watched at that time, by the shaded gaps.
  function unwatched(svg, at) {
    return Array.from(svg.querySelectorAll("rect.unwatched")).some(function (gap) {
      const x = Number(gap.getAttribute("x"));
      return at >= x && at <= x + Number(gap.getAttribute("width"));
    });
  }

  // Of the heat map: the cell under the pointer and the requests of its column.
  function cell(svg, point, head, row) {
    for (const plot of svg.querySelectorAll("svg[data-rows]")) {
      const box = plot.getBoundingClientRect();
      if (!box.width || point.clientY < box.top || point.clientY > box.bottom) continue;
      const range = plot.getAttribute("data-rows").split(" ").map(Number);
      const up = (box.bottom - point.clientY) / box.height;
      const at = range[0] + Math.floor(up * (range[1] - range[0] + 1));
      const from = at ? 1e-5 * Math.pow(2, (at - 1) / 4) : 0;
      let count = 0, all = 0;
      for (let i = 1; i < row.length; i++) {
        all += Number(row[i]);
        const begin = Number(head[i].slice(5, -2));
        if (Math.abs(begin - from) <= from * 0.01) count = Number(row[i]);
      }
      return count.toLocaleString("en") + " requests from " + (from * 1000).toPrecision(3) +
        " ms up to a fifth more, of " + all.toLocaleString("en") + " in this column";
    }
    return "";
  }

  function readout(svg) {
    const section = svg.closest("section");
    const line = section.querySelector(".readout");
    const px = svg.getAttribute("data-px").split(" ").map(Number);
    const x = svg.getAttribute("data-x").split(" ").map(Number);
    const cursor = document.createElementNS(svg.namespaceURI, "line");
    let data = null;
    cursor.setAttribute("class", "cursor");
    svg.addEventListener("pointermove", function (point) {
      const box = svg.getBoundingClientRect();
      const at = (point.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      if (at < px[0] || at > px[1]) return;
      const t = x[0] + (at - px[0]) / (px[1] - px[0]) * (x[1] - x[0]);
      data = data || rows(section);
      let row = null;
      for (let i = 1; i < data.length && Number(data[i][0]) <= t; i++) row = data[i];
      if (!row) return;
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, at);
      cursor.setAttribute("y1", 30);
      cursor.setAttribute("y2", svg.viewBox.baseVal.height - 44);
      svg.appendChild(cursor);
      const step = data.length > 2 ? Number(data[2][0]) - Number(data[1][0]) : x[1] - x[0];
      line.textContent = clock(svg, Number(row[0])) + "  " +
        (unwatched(svg, at) ? "not watched" :
          svg.classList.contains("heat") ? cell(svg, point, data[0], row) :
            words(svg, data[0], row, step));
    });
    svg.addEventListener("pointerleave", function () {
      line.textContent = "";
      cursor.remove();
    });
  }

  themes();
  copying();
  for (const svg of document.querySelectorAll("svg[data-x]"))
    if (svg.closest("section").querySelector("a.csv")) readout(svg);
})();
