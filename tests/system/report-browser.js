// Looks at a report from inside a browser: what a test can tell of a picture. Appended to a copy of
// the page, which is shown in a frame; the findings go to the frame's parent, a line each.
"use strict";
(function () {
  const found = [];
  const say = function (key, value) { found.push(key + " " + value); };

  function luminance(rgb) {
    const linear = rgb.slice(0, 3).map(function (v) {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }
  function colour(text) {
    const numbers = text.match(/[\d.]+/g);
    return numbers ? numbers.map(Number) : [0, 0, 0, 0];
  }
  function background(element) {
    for (let e = element; e; e = e.parentElement) {
      const c = colour(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  }
  function visible(element) {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
  }

  // The lowest contrast of any text against what is behind it (WCAG 2.1, 1.4.3).
  function contrast() {
    let worst = 21, where = "";
    for (const e of document.querySelectorAll("h1,h2,p,dt,dd,small,th,td,a,summary,button,label,pre,code,span,svg text")) {
      if (!visible(e) || !e.textContent.trim()) continue;
      const style = getComputedStyle(e);
      const ink = luminance(colour(e.namespaceURI.endsWith("svg") ? style.fill : style.color));
      const paper = luminance(background(e));
      const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      if (ratio < worst) {
        worst = ratio;
        where = e.tagName + " " + e.textContent.trim().slice(0, 40);
      }
    }
    say("contrast", worst.toFixed(2) + " " + where);
  }

  function figures() {
    let empty = "";
    const all = document.querySelectorAll("svg.figure");
    for (const svg of all) {
      const marks = Array.from(svg.querySelectorAll("path,rect,circle,line")).filter(function (e) {
        return !e.closest(".axes") && !e.closest(".legend") && !e.classList.contains("rule") &&
          (e.tagName !== "path" || e.getAttribute("d").length > 8);
      });
      if (!marks.length) empty += " " + svg.id;
      if (!svg.querySelector("title").textContent || !svg.querySelector("desc").textContent)
        say("untitled", svg.id);
    }
    say("figures", all.length);
    say("empty", empty || "none");
  }

  // Labels that lie on one another, by more than the rounding of their boxes.
  function overlaps() {
    let hits = "";
    for (const svg of document.querySelectorAll("svg.figure")) {
      const boxes = Array.from(svg.querySelectorAll("text")).filter(visible).map(function (e) {
        return { text: e.textContent, box: e.getBoundingClientRect() };
      });
      for (let i = 0; i < boxes.length; i++)
        for (let j = 0; j < i; j++) {
          const a = boxes[i].box, b = boxes[j].box;
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (wide > 2 && high > 4)
            hits += " " + svg.id + " (" + boxes[i].text + " on " + boxes[j].text + ")";
        }
    }
    say("overlaps", hits || "none");
  }

  // Text that its picture cuts off.
  function cut() {
    let hits = "";
    for (const svg of document.querySelectorAll("svg.figure")) {
      const frame = svg.getBoundingClientRect();
      for (const e of svg.querySelectorAll("text")) {
        const box = e.getBoundingClientRect();
        if (visible(e) && (box.left < frame.left - 1 || box.right > frame.right + 1 ||
            box.bottom > frame.bottom + 1))
          hits += " " + svg.id + " (" + e.textContent + ")";
      }
    }
    say("cut", hits || "none");
  }

  function crops() {
    const shown = function (n) {
      return getComputedStyle(document.querySelector(".crop-" + n)).display !== "none";
    };
    const state = function () { return [0, 1, 2].filter(shown).join(","); };
    if (!document.querySelector(".crop")) return;
    let states = state();
    for (const n of [2, 0, 1]) {
      document.querySelector("label[for=pick-" + n + "]").click();
      states += " " + state();
    }
    say("crops", states);
  }

  function hover() {
    const svg = document.querySelector("svg[data-x]");
    const box = svg.getBoundingClientRect();
    svg.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + box.width * 0.6, clientY: box.top + box.height * 0.6 }));
    say("hover", svg.closest("section").querySelector(".readout").textContent);
    svg.dispatchEvent(new PointerEvent("pointerleave"));
  }

  // How much wider than the window, and what sticks out of it without a frame that scrolls.
  function overflow() {
    const more = document.documentElement.scrollWidth - window.innerWidth;
    let what = "";
    for (const e of document.querySelectorAll("body *"))
      if (e.getBoundingClientRect().right > window.innerWidth + 1 && !e.parentElement.closest(".scroll, .table, pre"))
        what = what || e.tagName + " " + e.textContent.trim().slice(0, 40);
    say("overflow", more + " " + what);
  }

  function theme() {
    const paper = function () { return getComputedStyle(document.body).backgroundColor; };
    const button = document.getElementById("theme");
    say("paper", paper());
    button.click();
    let seen = paper();
    button.click();
    say("themes", seen + " " + paper());
    button.click();
  }

  function details() {
    for (const d of document.querySelectorAll("details")) d.open = true;
    const links = document.querySelectorAll("a.csv");
    say("links", links.length + " of " + document.querySelectorAll("pre.command").length);
  }

  window.addEventListener("load", function () {
    details();
    figures();
    contrast();
    overlaps();
    cut();
    crops();
    hover();
    theme();
    overflow();
    say("requests", performance.getEntriesByType("resource").length);
    say("errors", window.pageErrors.length ? window.pageErrors.join("; ") : "none");
    window.parent.postMessage(found.join("\n"), "*");
  });
})();
