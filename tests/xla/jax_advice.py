#!/usr/bin/env python3
"""Advice about JAX programs can be pasted, and does what it says.

    jax_advice.py SHDC

Needs jax 0.10.2; exits 77 without it.  What `avoid it` says of advice.py, called.py and
rows.py in tests/import/Inputs/ and of samples/jax/ is written into the source: an expression inside with_sharding_constraint,
or another sharding of an argument.  JAX lowers that again, and a device receives what was
told, to its three digits.  What --xla says to write into moved.py and called_twice.py is written,
and XLA's partition sends less.
"""
import os
import re
import runpy
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLES, INPUTS = ROOT + "/samples/jax", ROOT + "/tests/import/Inputs"
sys.dont_write_bytecode = True
sys.path[:0] = [SAMPLES, INPUTS]
from jax_plans import partitioned, stats_of  # skips without jax  # noqa: E402
import lowering  # noqa: E402
import jax  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

ADVICE = re.compile(r"(?:avoid it|moves less, but is slower): (.*?)  \(a device then receives (\S+ \S+) in all")
ENTRIES = {"advice.py": "both", "called.py": "step", "rows.py": "step", "moved.py": "step", "called_twice.py": "step"}
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
GIVEN = []
lowering.main = lambda function, *args, donate=(): GIVEN.append((function, args, donate))


def taken(path):
    """What a program would have lowered."""
    GIVEN.clear()
    if os.path.basename(path) in ENTRIES:
        names = runpy.run_path(path)
        return names[ENTRIES[os.path.basename(path)]], names["ARGS"], ()
    runpy.run_path(path, run_name="__main__")
    return GIVEN[0]


def lowered(path, placements):
    """The text, with other shardings of arguments by their names."""
    function, args, donate = taken(path)
    names = list(function.__code__.co_varnames[:function.__code__.co_argcount])

    def placed(name, tree):
        def one(key, x):
            spec = placements.get(name + jax.tree_util.keystr(key))
            sharding = NamedSharding(x.sharding.mesh, eval(spec)) if spec else x.sharding
            return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding)
        return jax.tree_util.tree_map_with_path(one, tree)
    return lowering.lower(function, [placed(n, a) for n, a in zip(names, args)], donate)


def run(shdc, text, folder, *options):
    with open(folder + "/p.mlir", "w", encoding="utf-8") as out:
        out.write(text)
    done = subprocess.run([shdc, *options, folder + "/p.mlir"], capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout + done.stderr


def pasted(path, advice, folder, everywhere=False):
    """(path, placements) of the program as the advice would have it, once on a line or everywhere; None: not all of
    it can be."""
    placements, edits = {}, []
    for part in re.split(r", (?=in_shardings of|[\w./]+\.py:\d+(?::\d+)?: )", advice):
        argument = re.match(r"in_shardings of (.*?): (P\(.*\))$", part)
        expression = re.match(r"\S+\.py:(\d+)(?::(\d+))?: with_sharding_constraint\((.*), (P\(.*\))\)$", part)
        if argument:
            placements[argument[1]] = argument[2]
        elif expression:
            column = int(expression[2] or 1)
            edits.append((int(expression[1]), column - 1, expression[3], expression[4]))
        else:
            return None
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    for number, column, text, spec in sorted(edits, reverse=True):      # the last of a line first
        before, line = lines[number - 1][:column], lines[number - 1][column:]
        if text not in line or (column and not line.startswith(text)):
            return None
        written = ("jax.lax.with_sharding_constraint(%s, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec"
                   "%s))" % (text, spec[1:]))
        lines[number - 1] = before + (re.sub(r"(?<!\w)%s(?!\w)" % re.escape(text), lambda _, w=written: w, line)
                                      if everywhere else line.replace(text, written, 1))
    changed = folder + "/" + os.path.basename(path)
    with open(changed, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return changed, placements


def told_right(shdc, path, advice, bytes_told, folder):
    """None, or what is wrong."""
    changed = pasted(path, advice, folder)
    if not changed:
        return "it cannot be pasted"
    stats = run(shdc, lowered(*changed), folder, "--emit=stats")
    number, unit = bytes_told.split()
    got = int(re.search(r'^  "wire_bytes": (\d+)', stats, re.M)[1])
    wanted = float(number) * UNITS[unit]
    return None if abs(got - wanted) <= max(1, wanted / 190) else "%d bytes instead of %s" % (got, bytes_told)


def received(path):
    """XLA's program after partitioning, and the bytes that a device then receives."""
    function, args, _ = taken(path)
    dump = partitioned(function, args)
    beside = stats_of(lowered(path, {}), "--xla=" + dump, "--emit=xla.json")
    return dump, beside["all"]["xla"]["wire_bytes"]


def sends_less(shdc, path, folder):
    """[(line that --xla says to write, None or what is wrong)]"""
    (dump, now), found = received(path), []
    told = run(shdc, lowered(path, {}), folder, "--emit=xla", "--xla=" + dump)
    for line in re.findall(r"^  (\S+: with_sharding_constraint\(.*\))$", told, re.M):
        changed = pasted(path, line, folder, everywhere=True)
        then = received(changed[0])[1] if changed else None
        found.append((line, "it cannot be pasted" if not changed else
                      None if then < now else "XLA sends %d bytes, and sent %d" % (then, now)))
    return found or [("of " + os.path.basename(path), "nothing is told to write")]


def report(name, wrong):
    """Is it right?"""
    print("%sok - %s" % ("not " if wrong else "", name))
    if wrong:
        print("# " + wrong[:600].replace("\n", "\n# "))
    return not wrong


def main():
    shdc, passed, failed = os.path.abspath(sys.argv[1]), 0, 0
    programs = ["%s/%s" % (INPUTS, n) for n in ENTRIES] + sorted(
        "%s/%s" % (SAMPLES, n) for n in os.listdir(SAMPLES) if n.endswith(".py") and n != "lowering.py")
    for path in programs:
        with tempfile.TemporaryDirectory() as folder:
            remarks = run(shdc, lowered(path, {}), folder, "--check", "-Rreshard")
            results = [("%s (%s)" % found, told_right(shdc, path, *found, folder))
                       for found in dict.fromkeys(ADVICE.findall(remarks))]
            if path.endswith(("/moved.py", "/called_twice.py")):
                results += sends_less(shdc, path, folder)
        for name, wrong in results:
            right = report("%s: %s" % (os.path.basename(path), name), wrong)
            passed += right
            failed += not right
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
