#!/usr/bin/env python3
"""Advice about JAX programs can be pasted, and does what it says.

    jax_advice.py SHDC

Needs jax 0.10.2; exits 77 without it.  What `avoid it` says of advice.py, called.py and
rows.py in tests/import/Inputs/ and of samples/jax/ is written into the source: an expression inside with_sharding_constraint,
or another sharding of an argument.  JAX lowers that again, and a device receives what was
told, to its three digits.
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
try:
    import lowering
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)
import jax  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

ADVICE = re.compile(r"(?:avoid it|moves less, but is slower): (.*?)  \(a device then receives (\S+ \S+) in all")
ENTRIES = {"advice.py": "both", "called.py": "step", "rows.py": "step"}
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


def pasted(path, advice, folder):
    """(path, placements) of the program as the advice would have it; None: not all of it can be."""
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
        lines[number - 1] = before + line.replace(
            text, "jax.lax.with_sharding_constraint(%s, jax.sharding.NamedSharding(mesh, jax.sharding.Partition"
            "Spec%s))" % (text, spec[1:]), 1)
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


def main():
    shdc, passed, failed = os.path.abspath(sys.argv[1]), 0, 0
    programs = ["%s/%s" % (INPUTS, n) for n in ENTRIES] + sorted(
        "%s/%s" % (SAMPLES, n) for n in os.listdir(SAMPLES) if n.endswith(".py") and n != "lowering.py")
    for path in programs:
        with tempfile.TemporaryDirectory() as folder:
            remarks = run(shdc, lowered(path, {}), folder, "--check", "-Rreshard")
            for advice, bytes_told in dict.fromkeys(ADVICE.findall(remarks)):
                wrong = told_right(shdc, path, advice, bytes_told, folder)
                passed += wrong is None
                failed += wrong is not None
                print("%sok - %s: %s (%s)" % ("not " if wrong else "", os.path.basename(path), advice, bytes_told))
                if wrong:
                    print("# " + wrong[:600].replace("\n", "\n# "))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
