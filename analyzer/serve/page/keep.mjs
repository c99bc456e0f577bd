// "Keep the requests around this": makes an agent send the requests of a period that it keeps back, or says why not.
import { words } from "./words.mjs";
import { h, change, say, copyButton, time, iso, shell } from "./tools.mjs";

const w = words.keep, FAR_S = 86400;

// where() gives the host and the period that would be asked for.
export function keepSection(where) {
  const about = h("p", { class: "about" }), said = h("p", { role: "status" }), command = h("code", {});
  const button = h("button", { type: "button", onclick: ask }, w.button);
  const line = h("div", { class: "command" }, h("pre", { tabindex: 0 }, command), copyButton(() => command.textContent));
  const element = h("div", { class: "keep" }, h("h3", {}, w.title), about, h("p", {}, button), said, line);
  let key = "";

  async function ask() {
    const now = where();
    button.disabled = true;
    try {
      const kept = await change("POST", "/api/v1/keep", now), from = Math.max(kept.begin_s, kept.kept_back_s || 0);
      said.className = "good";
      said.replaceChildren(w.asked({ from: time(from), to: time(kept.end_s), isLate: from > kept.begin_s, isOver: kept.end_s < Date.now() / 1000 }));
    } catch (e) {
      said.className = "bad";
      said.replaceChildren(e.message);
    }
    button.disabled = false;
  }
  // Says whether the agent of the host can still send something of the period. fleet: what is known of the host.
  function fill(fleet) {
    const now = where(), row = fleet.devices.find((d) => d.host === now.host), back = row ? row.kept_back_s : null;
    const isPast = now.begin_s < Date.now() / 1000 - FAR_S, isLate = back !== null && now.end_s <= back;
    const can = back !== null && !isPast && !isLate;
    if (key !== now.host + now.begin_s) said.replaceChildren();
    key = now.host + now.begin_s;
    say(about, isPast ? w.past : back === null ? w.sendsAll : isLate ? w.late(time(back)) : w.about(time(back)) + (fleet.may_keep ? "" : " " + w.noRight));
    button.hidden = !can || !fleet.may_keep;
    line.hidden = isPast || isLate;
    say(command, ["blkcast", "ask", shell(now.host), "--store", "DIR", "--begin", iso(now.begin_s), "--end", iso(now.end_s)].join(" "));
  }
  return { element, fill };
}
