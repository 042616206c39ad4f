#!/usr/bin/env python3
"""The tables of samples/published/README.md against what is predicted now.

    published.py SHDC             TAP, a line a row
    published.py SHDC --some      ... but those of a target with another fact
    published.py SHDC --update    writes what is predicted now into the tables

A row is: run, published, predicted, off, command.  `run, part` is of the run's command,
which stands in its first row; a part is a field of --emit=cost.json (PARTS).  `a / b` is
how many times as long as b a takes.  `$name` in a command is what a line name="..." of
the README has.  A run that was published as "no memory" is met if its target has less
than what is predicted that it needs; what does not fit is said behind the time of others.
`order of NAME` is Spearman's correlation of the tokens a second of the runs whose names
begin so; in the place of a run counts `again RUN`, if there is one above.  That is the run
with layers computed again, as few as let it fit: with REMAT one less it does not.

A row of another table is of the same runs otherwise: with the value that its first cell
says of the head's first cell, an option or a fact of a v4; the head's others name rows above.
"""
import contextlib
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

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


def in_its_unit(seconds):
    unit = next(unit for unit in ("s", "ms", "us") if seconds >= UNITS[unit])
    return "%.3g %s" % (seconds / UNITS[unit], unit)


def ranks(values):
    """Of each how many are less; what is equal shares a rank."""
    return [sum(other < value for other in values) + values.count(value) / 2 for value in values]


class Runs:
    def __init__(self, shdc, readme, *options):
        self.shdc, self.options = shdc, options
        self.commands, self.costs, self.measured = {}, {}, {}
        self.names = dict(re.findall(r'^(\w+)="(.*)"$', readme, re.M))

    def run(self, name, command):
        words = shlex.split(re.sub(r"\$(\w+)", lambda name: self.names[name[1]], command))
        if words[:2] != ["shdc", "--emit=cost"]:
            raise ValueError("no command that prints the cost: " + command)
        self.commands[name] = command
        self.costs[name] = json.loads(self.printed("--emit=cost.json", *words[2:], *self.options))

    def printed(self, *words):
        return subprocess.run([self.shdc, *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout

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
    """(number of the line, cells of the table's head, cells) of each row."""
    head = None
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells
        elif set(cells[0]) != {"-"}:
            yield number, head, cells


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


@contextlib.contextmanager
def option_of(runs, name, value):
    """--name=value; of a fact --on=FILE, which has a v4's with the one changed.  None: a v4 has it."""
    if name.startswith("--"):
        yield "%s=%s" % (name, value)
        return
    known = runs.printed("--print-target=v4")
    facts = re.sub(r"^(%s *= *)\w+" % name, r"\g<1>" + value, known, flags=re.M)
    if facts == known:
        yield None
        return
    with tempfile.NamedTemporaryFile("w", suffix=".target") as target:
        target.write(facts)
        target.flush()
        yield "--on=%s:4x8x8" % target.name


def otherwise(runs, readme, head, cells):
    """The row of the runs that its head names, with an option."""
    prefixes = tuple(name.removeprefix("order of ") for name in head[1:])
    with option_of(runs, head[0].strip("`"), cells[0]) as option:
        others = Runs(runs.shdc, readme, option) if option else runs
        for name, command in runs.commands.items() if option else ():
            if name.removeprefix("again ").startswith(prefixes):
                others.run(name, command)
    others.measured = {name: runs.measured[name] for name in others.costs if name in runs.measured}
    return cells[:1] + ["%.3g" % others.predicted(name) if name.startswith("order of ")
                        else in_its_unit(others.predicted(name)) for name in head[1:]]


def main():
    with open(PATH, encoding="utf-8") as source:
        text = source.read()
    lines, runs = text.split("\n"), Runs(os.path.abspath(sys.argv[1]), text)
    n = failed = 0
    print("TAP version 13")
    for number, head, cells in rows(lines):
        if "--some" in sys.argv and head[0].startswith("`") and not head[0].startswith("`--"):
            continue    # as many runs again as all before
        n += 1
        wanted = now(runs, cells) if head[0] == "run" else otherwise(runs, text, head, cells)
        if "--update" in sys.argv:
            lines[number] = "| " + " | ".join(wanted) + " |"
            cells = wanted
        failed += cells != wanted
        print("%sok %d - %s" % ("" if cells == wanted else "not ", n, cells[0]))
        if cells != wanted:
            print("# predicted %s; the table has %s" % (" | ".join(wanted[1:4]), " | ".join(cells[1:4])))
    print("1..%d" % n)
    if "--update" in sys.argv:
        with open(PATH, "w", encoding="utf-8") as out:
            out.write("\n".join(lines))
    return failed > 0 or n == 0


if __name__ == "__main__":
    sys.exit(main())
