#!/usr/bin/env python3
"""The table of samples/published/README.md against what is predicted now.

    published.py SHDC             TAP, a line a row
    published.py SHDC --update    writes what is predicted now into the table

A row is: run, published, predicted, off, command.  `run, part` is of the run's command,
which stands in its first row; a part is a field of --emit=cost.json (PARTS).  `a / b` is
how many times as long as b a takes.
"""
import json
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PATH = os.path.join(ROOT, "samples", "published", "README.md")
PARTS = {"": "seconds", "at least": "lower_seconds", "computing": "compute_seconds",
         "communication": "communication_seconds"}
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}


def quantity(text):
    """"39.8 ms" in seconds, "1.39" as it is; and its unit."""
    number, _, unit = text.partition(" ")
    return float(number) * UNITS[unit], unit


class Runs:
    def __init__(self, shdc):
        self.shdc, self.costs = shdc, {}

    def run(self, name, command):
        words = shlex.split(command)
        if words[:2] != ["shdc", "--emit=cost"]:
            raise ValueError("no command that prints the cost: " + command)
        done = subprocess.run([self.shdc, "--emit=cost.json", *words[2:]], cwd=ROOT, capture_output=True, text=True,
                              check=True)
        self.costs[name] = json.loads(done.stdout)

    def seconds(self, name):
        run, _, part = name.partition(", ")
        return self.costs[run][PARTS[part]]

    def predicted(self, name):
        one, slash, other = name.partition(" / ")
        return self.seconds(one) / self.seconds(other) if slash else self.seconds(name)


def rows(lines):
    """(number of the line, cells) of each row of the table."""
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5 and cells[0] != "run" and set(cells[0]) != {"-"}:
            yield number, cells


def now(runs, cells):
    """The row as it is to be."""
    name, published, _, _, command = cells
    if command:
        runs.run(name, command.strip("`"))
    measured, unit = quantity(published)
    predicted = runs.predicted(name)
    text = "%.3g %s" % (predicted / UNITS[unit], unit)
    return [name, published, text.strip(), "%+.0f %%" % (100 * (predicted / measured - 1)), command]


def main():
    runs = Runs(os.path.abspath(sys.argv[1]))
    with open(PATH, encoding="utf-8") as source:
        lines = source.read().split("\n")
    n = failed = 0
    print("TAP version 13")
    for number, cells in rows(lines):
        n += 1
        wanted = now(runs, cells)
        if "--update" in sys.argv:
            lines[number] = "| " + " | ".join(wanted) + " |"
            cells = wanted
        failed += cells != wanted
        print("%sok %d - %s" % ("" if cells == wanted else "not ", n, cells[0]))
        if cells != wanted:
            print("# predicted %s, %s; the table has %s, %s" % (*wanted[2:4], *cells[2:4]))
    print("1..%d" % n)
    if "--update" in sys.argv:
        with open(PATH, "w", encoding="utf-8") as out:
            out.write("\n".join(lines))
    return failed > 0 or n == 0


if __name__ == "__main__":
    sys.exit(main())
