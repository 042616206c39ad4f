#!/usr/bin/env python3
"""The emulated time of a run is the predicted one, to the picosecond.

    clock.py SHDC [--run] FILE...

Always the steps that were done, as often as they were, take the time of the run. Of a
`while` each is a predicted one, of the predicted time; of an `if` the branch is predicted that
is dearer by itself, so the run takes no longer, but where transfers are under way beside it.
"""
import collections
import decimal
import json
import os
import re
import subprocess
import sys
import tempfile

ROW = re.compile(r"^ *(\S*?)  (\S.*?)  +(\d+) +([\d.]+) +([\d.]+) +[\d.]+ %  \w+$", re.M)
WAITING = re.compile(r"^ +waiting for other devices +0 +([\d.]+) ", re.M)
TOTAL = re.compile(r"([\d.]+) us \(emulated\b")


def picoseconds(number, unit):
    """A decimal text, without loss."""
    value = decimal.Decimal(number) * unit
    assert value == int(value), number
    return int(value)


def microseconds(text):
    return picoseconds(text, 10 ** 6)


def times_wrong(cost, rows):
    """Each step that ran is a predicted one, and takes a multiple of its time; a transfer
    more in some of its trips, where others have its links."""
    predicted = collections.defaultdict(list)
    for op in cost["ops"]:
        predicted[op["line"]].append(picoseconds(op["seconds"], 10 ** 12))
    for line, what, times, each, us in rows:
        number = int(line.rpartition(":")[2] or 0)
        each = microseconds(each)
        if what.startswith("waiting for ") or not microseconds(us):
            continue            # for as long as is left; begun, at no cost
        moves = " over " in what
        most = each * int(times)
        if not any(p == each or p % each == 0 or (moves and p < most) for p in predicted[number]):
            return "line %s: %s takes %d ps, none of %s" % (line, what, each,
                                                            predicted[number])
    return None


def uncounted(program):
    """Has it a loop of which only the run knows the trips?"""
    return any(" while(" in line and "trips=" not in line for line in program.splitlines())


def wrong(cost, stats, program):
    """Of the texts; of its branches the dearer is predicted, that may be of a loop in the other."""
    branches = " conditional(" in program
    cost = json.loads(cost, parse_float=decimal.Decimal)
    rows = ROW.findall(stats)
    clock = microseconds(TOTAL.search(stats).group(1))
    waiting = WAITING.search(stats)
    sums = sum(microseconds(us) for _, _, _, _, us in rows)
    if sums + (microseconds(waiting.group(1)) if waiting else 0) != clock:
        return "the steps take %d ps, the run %d ps" % (sums, clock)
    predicted = picoseconds(cost["seconds"], 10 ** 12)
    if uncounted(program):
        return None if branches else times_wrong(cost, rows)
    beside = "-start(" in program
    if clock != predicted and not (branches and (clock < predicted or beside)):
        return "predicted %d ps, run %d ps" % (predicted, clock)
    return None


def run(shdc, how, path, folder):
    """What is wrong; None: nothing."""
    build = os.path.abspath(shdc[0] + "/../../..")
    shdc = [*shdc, "-L", build + "/tests", "-L", build + "/samples"]
    cost, fused = folder + "/cost", folder + "/fused"
    subprocess.run([*shdc, "--emit=cost.json=%s,fused=%s" % (cost, fused), path], check=True)
    r = subprocess.run([*shdc, how, path, "--", "--stats"], capture_output=True, text=True)
    if r.returncode:
        return r.stderr
    with open(cost) as c, open(fused) as f:
        return wrong(c.read(), r.stdout, f.read())


def main():
    shdc, files = sys.argv[1].split(), sys.argv[2:]
    how = files.pop(0) if files[0].startswith("--") else "--interpret"
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        print("1..%d" % len(files))
        for i, path in enumerate(files, 1):
            why = run(shdc, how, path, folder)
            failed += bool(why)
            print("%sok %d - %s" % ("not " if why else "", i, os.path.basename(path)))
            if why:
                print("# " + why.replace("\n", "\n# "))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
