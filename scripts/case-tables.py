#!/usr/bin/env python3
"""case-tables.py OUT APPLICATION...: the tables of make case-studies, from the profiles in OUT."""

import glob
import json
import os
import statistics
import sys

QUANTITIES = [  # title, how to get it from a profile, number format
    ("requests/s", lambda p: p["intensity"]["open"]["rate_per_s"], "{:.0f}"),
    ("clients", lambda p: p["intensity"]["closed"]["clients_mean"], "{:.2f}"),
    ("in flight", lambda p: p["intensity"]["closed"]["in_flight_mean"], "{:.2f}"),
    ("think time, ms", lambda p: scaled(p["intensity"]["closed"]["think_time_mean_s"], 1e3), "{:.3f}"),
    ("dispersion, 100 ms", lambda p: dict(map(tuple, p["intensity"]["open"]["idc"])).get(0.1), "{:.1f}"),
    ("read share", lambda p: p["request_mix"]["read"], "{:.4f}"),
    ("read size, KiB", lambda p: scaled(p["request_size"]["read"]["mean_bytes"], 1 / 1024), "{:.1f}"),
    ("write size, KiB", lambda p: scaled(p["request_size"]["write"]["mean_bytes"], 1 / 1024), "{:.1f}"),
    ("sequential reads", lambda p: p["access_pattern"]["read"]["sequential_ratio"], "{:.4f}"),
    ("sequential writes", lambda p: p["access_pattern"]["write"]["sequential_ratio"], "{:.4f}"),
    ("range, MiB", lambda p: reach(p), "{:.0f}"),
    ("busiest fifth", lambda p: p["locality"]["distribution"].get("top_20_ratio"), "{:.3f}"),
]
SHARES = {"read share", "sequential reads", "sequential writes", "busiest fifth"}


def scaled(value, by):
    return None if value is None else value * by


def reach(profile):
    d = profile["locality"]["distribution"]
    return scaled(d.get("regions"), d.get("region_bytes", 0) / 2**20)


def load(out, name):
    path = os.path.join(out, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def response_ms(profile, side):
    total = profile["response_time"][side]["total"]
    return scaled(total["mean_s"], 1e3) if total["count"] else None


def show(value, form="{:.2f}"):
    return "-" if value is None else form.format(value)


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def table(*titles):
    row(*titles)
    row(*["---"] * len(titles))


def spread(out, apps):
    print("Characterizations: mean and standard deviation over the repetitions.\n")
    table("quantity", *apps)
    quantities = QUANTITIES + [
        (f"{side} response time, ms", lambda p, s=side: response_ms(p, s), "{:.2f}") for side in ("read", "write")
    ]
    runs = {
        a: [json.load(open(f, encoding="utf-8")) for f in sorted(glob.glob(os.path.join(out, f"repeat*.{a}.json")))]
        for a in apps
    }
    row("repetitions", *[str(len(runs[a])) for a in apps])
    for title, get, form in quantities:
        cells = []
        for a in apps:
            values = [v for v in map(get, runs[a]) if v is not None]
            sd = statistics.stdev(values) if len(values) > 1 else None
            cells.append(f"{show(statistics.fmean(values), form)} ± {show(sd, form)}" if values else "-")
        row(title, *cells)


def differences(out, apps, title, run):
    print(f"\n{title}\n")
    table("quantity", *apps)
    for title, get, form in QUANTITIES:
        cells = []
        for a in apps:
            base, mimic = load(out, f"base.{a}"), load(out, f"{run}.{a}")
            want, got = (get(p) if p else None for p in (base, mimic))
            if want is None or got is None:
                cells.append("-")
                continue
            by = 100 * (got - want) if title in SHARES else 100 * (got / want - 1) if want else 0
            cells.append(f"{show(want, form)}: {show(got, form)} ({by:+.1f} %)")
        row(title, *cells)


def error(want, profiles, side):
    """Mean response time and its relative difference from what was wanted; of several profiles the means."""
    got = [response_ms(p, side) for p in profiles if p]
    got = [g for g in got if g is not None]
    if want is None or not got:
        return None, None
    return statistics.fmean(got), statistics.fmean(100 * abs(g - want) / want for g in got)


def delta(out, title, cases):
    """cases: name, the application's run, its other runs, the replay, the mimic."""
    print(f"\n{title}\n")
    table("what", "requests", "ms", "again", "Δ", "replay", "Δ", "mimic", "Δ")
    for side in ("read", "write"):
        errors = [[], [], []]
        for name, app, *runs in cases:
            profile = load(out, app)
            want = response_ms(profile, side) if profile else None
            if want is None:
                continue
            cells = [f"{name}, {side}s", str(profile["response_time"][side]["total"]["count"]), show(want)]
            for k, names in enumerate(runs):
                got, by = error(want, [load(out, n) for n in names], side)
                cells += [show(got), show(by, "{:.1f} %")]
                errors[k] += [by] if by is not None else []
            row(*cells)
        means = [show(statistics.fmean(e) if e else None, "{:.1f} %") for e in errors]
        row(f"mean, {side}s", "", "", "", means[0], "", means[1], "", means[2])


def main():
    out, apps = sys.argv[1], sys.argv[2:]
    last = max(i for i in range(10) if glob.glob(os.path.join(out, f"mimic{i}.*.json")))
    repeats = len(glob.glob(os.path.join(out, f"repeat*.{apps[0]}.json")))
    spread(out, apps)
    differences(out, apps, "The profile, that of the replay, and the difference. Shares differ by points of 100 %.", "replay")
    differences(out, apps, "The same of the last mimic, made from the profile alone.", f"mimic{last}")
    delta(
        out,
        f"Mean response times on the base volume; again: the other {repeats - 1} runs of the application",
        [(a, f"base.{a}", [f"repeat{i}.{a}" for i in range(1, repeats)], [f"replay.{a}"], [f"mimic{last}.{a}"]) for a in apps],
    )
    delta(
        out,
        "Migrated: on the target volume; again: another run there",
        [(a, f"moved.{a}", [f"moved-again.{a}"], [f"moved-replay.{a}"], [f"moved-mimic.{a}"]) for a in apps],
    )
    pairs = [(a, b) for a in sorted(apps) for b in sorted(apps) if a < b]
    delta(
        out,
        "Consolidated: two on one base volume; again: another run of both",
        [
            (f"{x} with {a if x == b else b}",)
            + (f"pair-{a}-{b}.{x}", [f"pair-again-{a}-{b}.{x}"], [f"pair-replay-{a}-{b}.{x}"], [f"pair-mimic-{a}-{b}.{x}"])
            for a, b in pairs
            for x in (a, b)
        ],
    )


if __name__ == "__main__":
    main()
