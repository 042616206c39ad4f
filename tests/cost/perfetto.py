#!/usr/bin/env python3
"""The traces of the samples in Perfetto's own reader.

    perfetto.py SHDC SAMPLES      TAP; skipped where there is no trace_processor_shell

It takes every trace without an error, and finds as many spans of each category as there
are, as long in all (it counts nanoseconds), and as many values of counters.  The binary is
$TRACE_PROCESSOR, or on the PATH; what the `perfetto` package of PyPI has downloaded will do.
"""
import collections
import csv
import decimal
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

QUERY = """
SELECT category AS what, COUNT(*) AS events, SUM(dur) AS nanoseconds FROM slice GROUP BY category
UNION ALL SELECT 'counter', COUNT(*), 0 FROM counter
UNION ALL SELECT 'error', IFNULL(SUM(value), 0), 0 FROM stats WHERE severity = 'error';
"""


def written(path):
    """{category: [events, nanoseconds]} of the file."""
    with open(path) as f:
        events = json.load(f, parse_float=decimal.Decimal)["traceEvents"]
    sums = collections.defaultdict(lambda: [0, 0], counter=[0, 0])
    for event in events:
        if event["ph"] in "XC":
            entry = sums[event["cat"] if event["ph"] == "X" else "counter"]
            entry[0] += 1
            entry[1] += event.get("dur", 0) * 1000
    return sums


def read(reader, path, query):
    out = subprocess.run([reader, "-q", query, path], capture_output=True, text=True,
                         timeout=120, check=True).stdout
    return {row["what"]: [int(row["events"]), int(row["nanoseconds"])]
            for row in csv.DictReader(out[out.index('"what"'):].splitlines())}


def wrong(ours, theirs):
    if theirs.pop("error")[0]:
        return "it is read with errors"
    if set(ours) != set(theirs):
        return "categories %s, not %s" % (sorted(theirs), sorted(ours))
    for category, (events, nanoseconds) in ours.items():
        count, length = theirs[category]
        if count != events or abs(length - nanoseconds) > events:
            return "%s: %d events of %d ns, not %d of %s ns" % (
                category, count, length, events, nanoseconds)
    return None


def main():
    shdc = os.path.abspath(sys.argv[1])
    samples = sorted(glob.glob(sys.argv[2] + "/*.shd"))
    reader = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
    failed = 0
    print("1..%d" % len(samples))
    with tempfile.TemporaryDirectory() as folder:
        trace, query = folder + "/trace.json", folder + "/totals.sql"
        with open(query, "w") as f:
            f.write(QUERY)
        for i, sample in enumerate(samples, 1):
            name = os.path.basename(sample)
            if not reader:
                print("ok %d - %s # SKIP no trace_processor_shell" % (i, name))
                continue
            libraries = os.path.dirname(os.path.dirname(os.path.dirname(shdc)))
            subprocess.run([shdc, "-L", libraries + "/samples", "--emit=trace=" + trace,
                            sample], check=True)
            why = wrong(written(trace), read(reader, trace, query))
            failed += why is not None
            print("%sok %d - %s%s" % ("not " if why else "", i, name, why and ": " + why or ""))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
