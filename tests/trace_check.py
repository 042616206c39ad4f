#!/usr/bin/env python3
"""Checks a file of Chrome trace events: trace_check.py TRACE.json [COST.json|PICOSECONDS]
                                          trace_check.py TRACE.json memory COST.json

The Trace Event Format, as far as we use it: an object with traceEvents; every event a
phase (M, X, C, s, f), a pid and a tid; spans that are on one track inside each other or
beside each other; a start for the finish of each flow, and one for the start,
both in spans of their tracks; counters
whose times do not go back.  Times are whole nanoseconds and ids of flows whole numbers, as
Perfetto reads them.  With the JSON of --emit=cost: each of its ops that takes
time is there, where it starts and as long, and the sums are the same.  With a number:
process 1, emulated time, ends then.  `memory`: of a run, the counters' peaks are that of the JSON.

A program that checks its own imports it: check(trace) is a list of what is wrong.
"""
import collections
import decimal
import json
import sys

NUMBER = (int, decimal.Decimal)
FIELDS = {          # of a phase: what must be there beside ph, pid, tid and name
    "M": {"args": dict},
    "X": {"ts": NUMBER, "dur": NUMBER, "cat": str},
    "C": {"ts": NUMBER, "args": dict},
    "s": {"ts": NUMBER, "id": int, "cat": str},
    "f": {"ts": NUMBER, "id": int, "cat": str, "bp": str},
}
NANOSECOND = decimal.Decimal("0.001")
METADATA = ("process_name", "process_labels", "process_sort_index", "thread_name",
            "thread_sort_index")


def whole(us):
    """Rounded to nanoseconds, as traces have it."""
    return us.quantize(decimal.Decimal("0.001"), decimal.ROUND_HALF_UP)


def fields(event):
    phase = event.get("ph")
    if phase not in FIELDS:
        yield "no phase of ours: %r" % phase
        return
    wanted = dict(FIELDS[phase], pid=int, tid=int, name=str)
    for field, types in wanted.items():
        if not isinstance(event.get(field), types) or isinstance(event.get(field), bool):
            yield "%s without %s: %r" % (phase, field, event.get("name"))
    for field in ("ts", "dur"):
        if isinstance(event.get(field), NUMBER) and event[field] < 0:
            yield "%s below 0: %r" % (field, event.get("name"))
        if isinstance(event.get(field), decimal.Decimal) and event[field] != whole(event[field]):
            yield "%s in parts of a nanosecond: %r" % (field, event.get("name"))
    if phase == "M" and event.get("name") not in METADATA:
        yield "no metadata of ours: %r" % event.get("name")
    if phase == "C" and not all(isinstance(v, NUMBER) for v in event["args"].values()):
        yield "a counter of something else than numbers: %r" % event["name"]


def nesting(track, spans):
    """Spans in the order of the file: what begins first, then what lasts longer."""
    open_until = []
    last = decimal.Decimal(0)
    for span in spans:
        start, end = span["ts"], span["ts"] + span["dur"]
        if start < last:
            yield "track %s: %r starts before the one before it" % (track, span["name"])
        last = start
        while open_until and open_until[-1] <= start:
            open_until.pop()
        if open_until and end > open_until[-1]:
            yield "track %s: %r ends after what it is in" % (track, span["name"])
        open_until.append(end)


def flows(events, tracks):
    ends = collections.defaultdict(lambda: {"s": [], "f": []})
    for event in events:
        if event["ph"] in "sf":
            ends[event["cat"], event["name"], event["id"]][event["ph"]].append(event)
    for key, flow in ends.items():
        if len(flow["s"]) != 1 or len(flow["f"]) != 1:
            yield "flow %s has %d starts, %d finishes" % (key, len(flow["s"]), len(flow["f"]))
        elif flow["s"][0]["ts"] > flow["f"][0]["ts"]:
            yield "flow %s ends before it starts" % (key,)
        for event in flow["s"] + flow["f"]:
            spans = tracks[event["pid"], event["tid"]]
            if not any(span["ts"] <= event["ts"] < span["ts"] + span["dur"] for span in spans):
                yield "flow %s has an end at %s us on track %s, where nothing is" % (key, event["ts"], event["tid"])


def counters(events):
    last = {}
    for event in events:
        if event["ph"] == "C":
            key = event["pid"], event["name"]
            if event["ts"] < last.get(key, 0):
                yield "counter %s goes back in time" % (key,)
            last[key] = event["ts"]


def check(trace):
    """What is wrong with a trace that was read with read()."""
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["no object with traceEvents"]
    events = trace["traceEvents"]
    wrong = [w for event in events for w in fields(event)]
    if wrong:
        return wrong
    tracks = collections.defaultdict(list)
    named = set()
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
        if event["ph"] == "M" and event["name"] == "thread_name":
            named.add((event["pid"], event["tid"]))
    wrong += ["track %s has no name" % (track,) for track in tracks if track not in named]
    for track, spans in tracks.items():
        wrong += nesting(track, spans)
    return wrong + list(flows(events, tracks)) + list(counters(events))


def computed(spans, start, end):
    """Microseconds of a stretch of time in which a device computes."""
    time, at = 0, start
    for span in spans:
        until = min(span["ts"] + span["dur"], end)
        if span["cat"] == "compute" and until > at:
            time += until - max(span["ts"], at) if span["ts"] < end else 0
            at = until
    return time


def check_hidden(trace):
    """Without loops: of each transfer what is hidden is what is computed meanwhile."""
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    hidden = collections.defaultdict(list)
    for span in spans:
        if span["cat"] == "hidden":
            hidden[span["tid"]].append(span)
    for span in spans:
        start, end = span["ts"], span["ts"] + span["dur"]
        if span["cat"] != "communication" or any(e["cat"] == "control" for e in spans):
            continue
        told = sum(e["dur"] for e in hidden[span["tid"]] if start <= e["ts"] < end)
        if told != computed(spans, start, end):
            yield "of op %d %s us are hidden, not %s" % (
                span["args"]["step"], told, computed(spans, start, end))


def check_cost(trace, cost):
    """What the trace of a prediction says otherwise than --emit=cost.json."""
    steps = {e["args"]["step"]: e for e in trace["traceEvents"]
             if e["ph"] == "X" and "step" in e.get("args", {})}
    begun = cost["seconds"] != cost["serial_seconds"]
    peak = max((e["args"]["bytes"] for e in trace["traceEvents"]
                if e["ph"] == "C" and e["name"] == "live memory"), default=0)
    for i, op in enumerate(cost["ops"]):
        if op["seconds"] == 0 and i not in steps:
            continue
        span = steps.get(i)
        if span is None:
            yield "op %d, %s, is not there" % (i, op["what"])
            continue
        for field in ("line", "what", "value", "kind", "axes", "trips", "seconds", "exposed_seconds",
                      "bound", "flops", "hbm_bytes", "wire_bytes"):
            if span["args"][field] != op[field]:
                yield "op %d: %s is %s, not %s" % (i, field, span["args"][field], op[field])
        if span["ts"] != whole(op["start"] * 1000000):
            yield "op %d starts at %s us, not at %s s" % (i, span["ts"], op["start"])
        beside = begun and span["cat"] == "communication"       # it may share links
        if op["trips"]:
            more = span["dur"] - op["seconds"] * 1000000 / op["trips"]
            if more < -NANOSECOND or (more > NANOSECOND and not beside):
                yield "op %d takes %s us, not %s s" % (i, span["dur"], op["seconds"])
        if span["ts"] + span["dur"] > whole(cost["seconds"] * 1000000):
            yield "op %d ends after the run" % i
    yield from check_hidden(trace)
    if trace["otherData"]["seconds"] != cost["seconds"]:
        yield "%s seconds, not %s" % (trace["otherData"]["seconds"], cost["seconds"])
    if peak != cost["memory_peak"]:
        yield "%d bytes at most, not the peak of %d" % (peak, cost["memory_peak"])


def check_memory(trace, peak):
    """Every device's counter has its planned peak, as the prediction's."""
    most = collections.defaultdict(int)
    for e in trace["traceEvents"]:
        if e["ph"] == "C":
            most[e["name"]] = max(most[e["name"]], e["args"]["bytes"])
    if len(most) != trace["otherData"]["devices_shown"]:
        yield "%d counters of memory" % len(most)
    for name, bytes in most.items():
        if bytes != peak:
            yield "%s: %d bytes at most, not the peak of %d" % (name, bytes, peak)


def check_end(trace, picoseconds):
    end = max((e["ts"] + e["dur"] for e in trace["traceEvents"]
               if e["ph"] == "X" and e["pid"] == 1), default=0)
    if end != whole(decimal.Decimal(picoseconds) / 1000000):
        yield "emulated time ends after %s us, not %s ps" % (end, picoseconds)


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, parse_float=decimal.Decimal)


def main():
    trace = read(sys.argv[1])
    wrong = check(trace)
    if not wrong and len(sys.argv) > 2 and sys.argv[2].isdigit():
        wrong = list(check_end(trace, int(sys.argv[2])))
    elif not wrong and len(sys.argv) > 3:
        wrong = list(check_memory(trace, read(sys.argv[3])["memory_peak"]))
    elif not wrong and len(sys.argv) > 2:
        wrong = list(check_cost(trace, read(sys.argv[2])))
    for line in wrong[:20]:
        print("%s: %s" % (sys.argv[1], line))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
