#!/usr/bin/env python3
"""Two gathers that do not wait for each other: what they cost, worked out here.

    contention.py SHDC          TAP, a line a statement

A gather over rings takes collective_seconds, hop_seconds for each hop and its bytes
over both directions of its links (../../compiler/cost/README.md).  From these facts of
the target alone follows, of two of them:

  each takes as long as it does by itself, and they run one after the other;
  no run is shorter than what the busiest link has to carry: the bytes of both where they
  share links, those of one where their links are apart; nor shorter than either of them;
  in the trace, what is on the track of a link is one after the other.
"""
import json
import os
import subprocess
import sys
import tempfile

SHDC = sys.argv[1]
DIRECTORY = tempfile.mkdtemp()
RINGS = {"X": 16, "Y": 16}      # a dim of 16 wraps
COLUMNS = (4096, 2048)          # of the two
ROWS = 4096
PICOSECOND = 1e-12


def run(*arguments):
    return subprocess.run([SHDC, *arguments], capture_output=True, text=True, check=True).stdout


def facts():
    lines = (line.split("#")[0].split("=") for line in run("--print-target=v5e").splitlines())
    return {line[0].strip(): line[1].strip() for line in lines if len(line) == 2}


FACTS = {name: float(v) for name, v in facts().items()
         if name in ("collective_seconds", "hop_seconds", "link_bandwidth", "link_efficiency")}


def moving(axes, columns):
    """Seconds in which each link of a gather over these axes is busy."""
    members = 1
    for axis in axes:
        members *= RINGS[axis]
    received = ROWS * columns * 2 * (members - 1) / members
    return received / (2 * len(axes) * FACTS["link_bandwidth"] * FACTS["link_efficiency"])


def takes(axes, columns):
    hops = sum(RINGS[axis] // 2 for axis in axes)
    return FACTS["collective_seconds"] + hops * FACTS["hop_seconds"] + moving(axes, columns)


def predict(target, gathers):
    params = ", ".join("x%d: bf16[%d@(%s), %d]" % (i, ROWS, ",".join(axes), columns)
                       for i, (axes, columns) in enumerate(gathers))
    results = ", ".join("y%d: bf16[%d, %d]" % (i, ROWS, columns) for i, (_, columns) in enumerate(gathers))
    path, trace = (os.path.join(DIRECTORY, name) for name in ("gathers.shd", "trace.json"))
    with open(path, "w", encoding="ascii") as out:
        out.write("mesh [X=16, Y=16];\nfn main(%s) -> (%s) {\n  return %s;\n}\n" % (
            params, results, ", ".join("x%d" % i for i in range(len(gathers)))))
    layout = ["--layout=X=x,Y=y"] if ":" in target else []
    run("--on=" + target, *layout, "--emit=cost.json=%s.cost,trace=%s" % (trace, trace), path)
    with open(trace + ".cost", encoding="utf-8") as cost, open(trace, encoding="utf-8") as events:
        return json.load(cost), json.load(events)["traceEvents"]


def near(one, other):
    """But for what is rounded to picoseconds, of each of a few terms."""
    return abs(one - other) < 8 * PICOSECOND


def on_links(events):
    """By track: when something moves, in microseconds."""
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    spans = {}
    for e in events:
        if e["ph"] == "X":
            spans.setdefault(names[e["tid"]], []).append((e["ts"], e["ts"] + e["dur"]))
    return spans


def statements(target, pair):
    gathers = list(zip(pair, COLUMNS))
    cost, events = predict(target, gathers)
    each = [takes(axes, columns) for axes, columns in gathers]
    links = {axis: sum(moving(axes, columns) for axes, columns in gathers if axis in axes) for axis in RINGS}
    told = {op["value"]: op["seconds"] for op in cost["ops"]}
    yield "each as long as by itself", all(near(told["x%d" % i], each[i]) for i in range(len(each)))
    yield "one after the other", near(cost["seconds"], sum(each)) and near(cost["serial_seconds"], sum(each))
    yield "the busiest link, or the longer one", near(cost["lower_seconds"], max(*links.values(), *each))
    spans = on_links(events)
    for axis in RINGS:
        name = "links along " + axis.lower() if ":" in target else "links of " + axis
        mine = sorted(spans.get(name, []))
        users = sum(axis in axes for axes in pair)
        apart = all(a[1] <= b[0] + 1e-6 for a, b in zip(mine, mine[1:]))
        yield "links of %s: %d, never two at a time" % (axis, users), len(mine) == users and apart


def main():
    number = bad = 0
    for target in ("v5e:16x16", "v5e"):
        for pair in (("X", "Y"), ("X", "X"), ("Y", "Y"), ("XY", "Y"), ("XY", "XY")):
            for what, right in statements(target, pair):
                number += 1
                bad += not right
                print("%s %d - %s, gathers over %s and %s: %s" % ("ok" if right else "not ok", number, target, *pair, what))
    # the pairs differ in what they are to show
    apart, shared = (predict("v5e:16x16", list(zip(pair, COLUMNS)))[0]["lower_seconds"] for pair in (("X", "Y"), ("X", "X")))
    number += 1
    bad += not shared > 1.4 * apart
    print("%s %d - on links that they share, two take longer than on links that are apart" % (
        "ok" if shared > 1.4 * apart else "not ok", number))
    print("1..%d" % number)
    return bad != 0


sys.exit(main())
