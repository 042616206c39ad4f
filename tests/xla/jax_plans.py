#!/usr/bin/env python3
"""JAX programs are placed as Shardy places them, and send no more than XLA's partition of them.

    jax_plans.py SHDC [NAME...]

Needs jax 0.10.2; exits 77 without it.  The programs of jax_values.py and of samples/jax/ are
lowered.  Shardy's own passes propagate through the text that shdc reads, and each argument
and result is where shdc has it.  XLA partitions the same for eight CPU devices; its dump is
read by shdc --xla, and counted once more here (traffic.py): bytes that a device receives,
reduce-scatters formed on both sides.  Ours are never more.
"""
import glob
import json
import os
import runpy
import subprocess
import sys
import tempfile

from traffic import FOLDER, ROOT, SHDC, Program         # before anything asks for devices
import jax
from jax import lax
import jax.numpy as jnp
from jax.sharding import NamedSharding
import jax_values
import programs
import rules
from jax_places import misplaced

SAMPLES = ROOT + "/samples/jax"
sys.path.insert(0, SAMPLES)
import lowering  # noqa: E402
COUNTED = "a dim whose elements an index counts is that of a batch, which stays split"
MOVED_ALONG = "dims that windows move along are whole here"
GATHERED = "of sizes on the way that no axis divides, which moves less than padding them"
# What differs, and why.
OTHER_PLACES = {
    ("picks", "result_2"): "Shardy knows nothing of chlo.top_k",
    ("picks", "result_3"): "Shardy knows nothing of chlo.top_k",
    ("composed", "result"): "Shardy knows nothing of what a composite is made of",
    ("nothing", "result_0"): "of sizes on the way that no axis divides",
    **{("convolutions_of_rows", "result_%d" % i): MOVED_ALONG for i in (1, 3, 4, 10)},
    **{("rows_between", "result_%d" % i): GATHERED for i in (0, 4)},
    **{("counted", "result_%d" % i): COUNTED for i in (1, 2, 5, 6)},
}


def sample(name):
    """(function, *arguments) that its main() is given."""
    given = []
    lowering.main = lambda function, *args, donate=(): given.append((function, *args))
    runpy.run_path("%s/%s.py" % (SAMPLES, name), run_name="__main__")
    return given[0]


def solved(m, b):
    """Linear algebra, of which Shardy passes placements on, and matrices are gathered."""
    def solve(b, **how):
        return lax.linalg.triangular_solve(m, b, **how)
    return lax.linalg.cholesky(m, symmetrize_input=False), *jnp.linalg.qr(m), *jnp.linalg.eigh(m), jnp.linalg.solve(m, b), \
        solve(b, left_side=True), solve(b, left_side=True, transpose_a=True), solve(b.mT), solve(b.mT, transpose_a=True)


def cases():
    """Of floats of a byte two formats: plans do not look at the others' digits."""
    left_out = tuple("_" + name for name in jax_values.BYTE_FLOATS[2:])
    yield from ((n, c) for n, c in {**programs.PROGRAMS, **jax_values.MORE}.items()
                if n not in (*programs.UNKNOWN, *jax_values.UNPARTITIONED) and not (n.startswith("byte_") and n.endswith(left_out)))
    yield "solved", (solved, jax_values.AT((16, 16), "data", "model"), jax_values.AT((16, 8), "data", "model"))
    yield "solved_batch", (solved, jax_values.AT((8, 16, 16), "data", "model"), jax_values.AT((8, 16, 8), "data", "model"))
    yield "rules", (rules.rules, *rules.ARGS)
    for path in sorted(glob.glob(SAMPLES + "/*.py")):
        name = os.path.basename(path)[:-3]
        if name != "lowering":
            yield "samples/jax/" + name, sample(name)


def stats_of(text, *options):
    run = subprocess.run([SHDC, *options, "-"], input=text, capture_output=True, text=True, check=False)
    if run.returncode:
        raise ValueError(run.stderr)
    return json.loads(run.stdout)


# ---- bytes -----------------------------------------------------------------------

def partitioned(function, args):
    """The path of XLA's program after partitioning."""
    mesh = lowering.devices_of(jax.tree.leaves(args)[0].sharding.mesh)
    args = jax.tree.map(lambda x: jax.ShapeDtypeStruct(
        x.shape, x.dtype, sharding=NamedSharding(mesh, x.sharding.spec)), args)
    before = set(glob.glob(FOLDER.name + "/*"))
    jax.jit(lambda *a: function(*a)).lower(*args).compile()
    (dump,) = [p for p in set(glob.glob(FOLDER.name + "/*after_spmd-partitioning*.txt")) - before]
    return dump


def counted(path):
    with open(path, encoding="utf-8") as f:
        return sum(n for _, n in Program(f.read()).sends())


def check(name, function, args):
    """What is wrong, and the bytes that both send."""
    text = jax.jit(function).trace(*args).lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
    differ = {}
    if name != "meshes":    # of which Shardy keeps the names
        differ, _ = misplaced(text, stats_of(text, "--emit=stats"))
    wrong = ["%s: %s" % (value, differ.get(value, "as Shardy has it, which was denied"))
             for value in dict.fromkeys([*differ, *(v for p, v in OTHER_PLACES if p == name)])
             if (value in differ) != ((name, value) in OTHER_PLACES)]
    if name == "rules":     # XLA asks for what nobody has written
        return wrong, 0, 0
    dump = partitioned(function, args)
    beside = stats_of(text, "--xla=" + dump, "--emit=xla.json")["all"]
    here, xla = beside["shdc"]["wire_bytes"], beside["xla"]["wire_bytes"]
    try:
        again = counted(dump)
        if abs(again - xla) > 1 + again / 1000:
            wrong.append("XLA's dump sends %d bytes, as shdc reads it %d" % (again, xla))
    except ValueError:
        pass        # a permute or a choice: only shdc counts these
    return wrong, here, xla


def main():
    passed = failed = 0
    for name, (function, *args) in cases():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        wrong, here, xla = check(name, function, tuple(args))
        if here > xla * 1.001:
            wrong.append("more than XLA's")
        passed += not wrong
        failed += bool(wrong)
        print("%sok - %s: %d bytes, XLA's %d" % ("not " if wrong else "", name, here, xla), flush=True)
        print("".join("# %s\n" % line for line in wrong), end="")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
