"""The traces of all samples, checked; and one of them, broken, if there is another word.
traces.py SHDC SAMPLES SCRATCH [broken]"""
import copy
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import trace_check  # noqa: E402

SHDC, SAMPLES, SCRATCH = sys.argv[1].split(), sys.argv[2], sys.argv[3]


def emit(path):
    subprocess.run(SHDC + ["--emit=trace=%s,cost.json=%s.cost" % (SCRATCH, SCRATCH), path], check=True)
    return trace_check.read(SCRATCH), trace_check.read(SCRATCH + ".cost")


def told(trace, cost):
    return trace_check.check(trace) or list(trace_check.check_cost(trace, cost))


def spans(trace):
    return [e for e in trace["traceEvents"] if e["ph"] == "X"]


def counters(trace):
    return [e for e in trace["traceEvents"] if e["ph"] == "C"]


def loop(trace):
    return next(e for e in spans(trace) if e["cat"] == "control")


def cut(trace):
    """The loop ends in the middle of a step of its first trip."""
    outer = loop(trace)
    step = next(e for e in spans(trace) if e["ts"] > outer["ts"] and e["tid"] == outer["tid"])
    outer["dur"] = trace_check.whole(step["ts"] + step["dur"] / 2 - outer["ts"])


BROKEN = [      # what is changed, what is told
    (lambda t: t.pop("traceEvents"), "no object with traceEvents"),
    (lambda t: spans(t)[0].update(ph="Q"), "no phase of ours: 'Q'"),
    (lambda t: spans(t)[0].pop("dur"), "X without dur"),
    (lambda t: spans(t)[0].update(ts=-1), "ts below 0"),
    (lambda t: counters(t)[0]["args"].update(bytes="3"), "a counter of something else"),
    (lambda t: [e.update(tid=9) for e in spans(t)], "track (0, 9) has no name"),
    (cut, "ends after what it is in"),
    (lambda t: t["traceEvents"].reverse(), "starts before the one before it"),
    (lambda t: counters(t)[-1].update(ts=0), "goes back in time"),
    (lambda t: counters(t)[0].update(ph="s", id=1, cat="c"), "has 1 starts, 0 finishes"),
    (lambda t: spans(t)[0]["args"].update(step=99), "op 0, reshard, is not there"),
    (lambda t: spans(t)[0]["args"].update(wire_bytes=1), "op 0: wire_bytes is 1"),
    (lambda t: spans(t)[0].update(dur=1), "op 0 takes 1 us"),
    (lambda t: spans(t)[-1].update(ts=spans(t)[-1]["ts"] + 1), "starts at"),
    (lambda t: counters(t)[0]["args"].update(bytes=10 ** 9), "bytes at most, not the peak"),
    (lambda t: counters(t).sort(key=lambda e: e["args"]["bytes"]) or [
        t["traceEvents"].remove(e) for e in counters(t) if e["args"]["bytes"] == max(c["args"]["bytes"] for c in counters(t))],
     "bytes at most, not the peak"),
    (lambda t: t["traceEvents"].extend(
        {"ph": phase, "pid": 0, "tid": 0, "ts": 10 ** 9, "id": 1000, "cat": "c", "name": "n", "bp": "e"} for phase in "sf"),
     "where nothing is"),
    (lambda t: t["otherData"].update(seconds=1), "1 seconds, not"),
]

bad = 0
for sample in sorted(glob.glob(os.path.join(SAMPLES, "*.shd"))):
    for line in told(*emit(sample)):
        print("%s: %s" % (os.path.basename(sample), line))
        bad += 1
right, cost = emit(os.path.join(SAMPLES, "pipeline.shd"))
for change, what in BROKEN if sys.argv[4:] else []:
    wrong = copy.deepcopy(right)
    change(wrong)
    lines = told(wrong, cost)
    if not any(what in line for line in lines):
        print("not told: %s; but %s" % (what, lines[:3]))
        bad += 1
sys.exit(bad != 0)
