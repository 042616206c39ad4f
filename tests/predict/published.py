#!/usr/bin/env python3
"""The tables of samples/published/README.md against what is predicted now.

    published.py SHDC             TAP, a line a row
    published.py SHDC --update    writes what is predicted now into the tables

A row is: run, published, predicted, off, command.  `run, part` is of the run's command,
which stands in its first row; a part is a field of --emit=cost.json (PARTS).  `a / b` is
how many times as long as b a takes.  `$name` in a command is what a line name="..." of
the README has.  A run that was published as "no memory" is met if its target has less
than what is predicted that it needs; what does not fit is said behind the time of others.
`order of NAME` is Spearman's correlation of the tokens a second of the runs whose names
begin so; in the place of a run counts `again RUN`, if there is one above.  That is the run
with layers computed again, as few as let it fit: with REMAT one less it does not.
"""
import json
import os
import re
import shlex
import statistics
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


def ranks(values):
    """Of each how many are less; what is equal shares a rank."""
    return [sum(other < value for other in values) + values.count(value) / 2 for value in values]


class Runs:
    def __init__(self, shdc, readme):
        self.shdc, self.costs, self.measured = shdc, {}, {}
        self.names = dict(re.findall(r'^(\w+)="(.*)"$', readme, re.M))

    def run(self, name, command):
        words = shlex.split(re.sub(r"\$(\w+)", lambda name: self.names[name[1]], command))
        if words[:2] != ["shdc", "--emit=cost"]:
            raise ValueError("no command that prints the cost: " + command)
        done = subprocess.run([self.shdc, "--emit=cost.json", *words[2:]], cwd=ROOT, capture_output=True, text=True,
                              check=True)
        self.costs[name] = json.loads(done.stdout)

    def fits_with_less(self, command):
        """Does it fit with one layer less computed again?"""
        less = re.sub(r"REMAT=(\d+)", lambda n: "REMAT=%d" % (int(n[1]) - 1), command)
        if less != command:
            self.run("", less)
        return less != command and not self.needs("")

    def needs(self, name):
        """What a run does not find: " needs 33 GiB", or nothing."""
        cost = self.costs.get(name)
        if not cost or cost["memory_peak"] <= cost["memory_limit"]:
            return ""
        return " needs %.3g GiB" % (cost["memory_peak"] / 2 ** 30)

    def seconds(self, name):
        run, _, part = name.partition(", ")
        return self.costs[run][PARTS[part]]

    def order(self, prefix):
        names = [name for name in self.measured if name.startswith(prefix)]
        costs = [self.costs.get("again " + name, self.costs[name]) for name in names]
        published = ranks([cost["tokens"] / self.measured[name] for name, cost in zip(names, costs)])
        return statistics.correlation(published, ranks([cost["tokens_per_second"] for cost in costs]))

    def predicted(self, name):
        if name.startswith("order of "):
            return self.order(name[9:])
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
    needs = runs.needs(name)
    if published == "no memory":
        return [name, published, needs.strip() or "fits", "" if needs else "wrong", command]
    measured, unit = quantity(published)
    runs.measured[name] = measured
    predicted = runs.predicted(name)
    text = "%.3g %s" % (predicted / UNITS[unit], unit)
    if runs.fits_with_less(command.strip("`")):
        text += ", fits with less"
    return [name, published, text.strip() + needs.replace(" ", ", ", 1), "%+.0f %%" % (100 * (predicted / measured - 1)), command]


def main():
    with open(PATH, encoding="utf-8") as source:
        text = source.read()
    lines, runs = text.split("\n"), Runs(os.path.abspath(sys.argv[1]), text)
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
