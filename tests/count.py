#!/usr/bin/env python3
"""Counts single tests in meson's logs: count.py BUILD/meson-logs/testlog.json...

A lit run counts as its tests, a TAP program as its points, any other test as
one.  Prints 'PASSED FAILED SKIPPED'.
"""
import json
import re
import sys

LIT = {"Passed": 0, "Expectedly Failed": 0, "Failed": 1, "Unresolved": 1, "Timed Out": 1,
       "Unexpectedly Passed": 1, "Unsupported": 2, "Skipped": 2}


def count(test):
    out = test.get("stdout") or ""
    totals = [0, 0, 0]
    for name, n in re.findall(r"^\s+([A-Z][A-Za-z ]+?)\s*: (\d+)", out, re.M):
        if name in LIT:
            totals[LIT[name]] += int(n)
    for failed, skipped in re.findall(r"^(not )?ok\b[^\n]*?(# SKIP)?$", out, re.M):
        totals[2 if skipped else 1 if failed else 0] += 1
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if not any(totals):
        totals[2 if test["result"] == "SKIP" else 0 if good else 1] += 1
    elif not good and test["result"] != "SKIP" and not totals[1]:
        totals[1] += 1      # a crash after its last point
    return totals


def main():
    totals = [0, 0, 0]
    for path in sys.argv[1:]:
        with open(path) as f:
            for line in f:
                totals = [a + b for a, b in zip(totals, count(json.loads(line)))]
    print("%d %d %d" % tuple(totals))


if __name__ == "__main__":
    main()
