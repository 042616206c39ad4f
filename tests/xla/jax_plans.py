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
import math
import os
import re
import runpy
import subprocess
import sys
import tempfile

from traffic import FOLDER, ROOT, SHDC, Program         # before anything asks for devices
import jax
from jax.sharding import NamedSharding
import jax_values
import programs
import shardy
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager

SAMPLES = ROOT + "/samples/jax"
sys.path.insert(0, SAMPLES)
import lowering  # noqa: E402
FLAT = "what several indices choose is rows of their dims as one, which is whole"
MOVED_ALONG = "dims that windows move along are whole here"
# What differs, and why.
OTHER_PLACES = {
    ("picks", "result_2"): "Shardy knows nothing of chlo.top_k",
    ("picks", "result_3"): "Shardy knows nothing of chlo.top_k",
    ("bounds", "result_1"): "padding between elements is reshapes here",
    **{("functions", "result_%d" % i): "Shardy knows nothing of chlo.tan and its kin" for i in (0, 1, 7, 8, 9, 10)},
    ("convolutions", "result_14"): "groups of batches are features, and split with them, here",
    **{("convolutions_of_rows", "result_%d" % i): MOVED_ALONG for i in (0, 1, 3, 4, 6, 9, 10, 11)},
    **{("slices", "result_%d" % i): FLAT for i in (3, 5, 6, 7, 8, 9, 12)},
}
MORE_BYTES = {
    "choices": "of one element of a split tensor XLA sums what devices have, with zeros for the others",
    "bounds": "padding between elements is reshapes here",
    "slices": FLAT,
    "running": "a body of its own runs by doubling, and sends rows in each round",
}


def sample(name):
    """(function, *arguments) that its main() is given."""
    given = []
    lowering.main = lambda function, *args, donate=(): given.append((function, *args))
    runpy.run_path("%s/%s.py" % (SAMPLES, name), run_name="__main__")
    return given[0]


def cases():
    yield from ((n, c) for n, c in {**programs.PROGRAMS, **jax_values.MORE}.items() if n != "unread")
    for path in sorted(glob.glob(SAMPLES + "/*.py")):
        name = os.path.basename(path)[:-3]
        if name != "lowering":
            yield "samples/jax/" + name, sample(name)


def stats_of(text, *options):
    run = subprocess.run([SHDC, *options, "-"], input=text, capture_output=True, text=True, check=False)
    if run.returncode:
        raise ValueError(run.stderr)
    return json.loads(run.stdout)


# ---- placements ----------------------------------------------------------------

def renamed(op, values):
    for i, x in enumerate(op.operands):
        op.operands[i] = values.get(x, x)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                renamed(inner.operation, values)


def inline(block, functions):
    """Calls become what they call: Shardy's passes see no further than a function."""
    for op in list(block.operations):
        op = op.operation
        for region in op.regions:
            for inner in region.blocks:
                inline(inner, functions)
        if op.name != "func.call":
            continue
        body = functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value].regions[0].blocks[0]
        inline(body, functions)
        values = dict(zip(body.arguments, op.operands))
        for each in body.operations:
            each = each.operation
            if each.name in ("func.return", "return"):
                for result, x in zip(op.results, each.operands):
                    result.replace_all_uses_with(values.get(x, x))
                break
            copy = each.clone(ip=ir.InsertionPoint(op))
            renamed(copy, values)
            values.update(zip(each.results, copy.results))
        op.erase()


def shardy_says(text):
    """The mesh, and a placement or None of each argument and result."""
    context = mlir.make_ir_context()
    sdy.register_dialect(context)
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        axes = dict(re.findall(r'"([\w-]+)"=(\d+)', re.search(r"sdy\.mesh @mesh = <\[(.*?)\]", text)[1]))
        functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in module.body.operations
                     if f.operation.name == "func.func"}
        inline(shardy.entry(module).regions[0].blocks[0], functions)
        PassManager.parse(shardy.PASSES).run(module.operation)
        main = shardy.entry(module)
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        found = []
        for key, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
            for i, each in enumerate(types):
                facts = ir.DictAttr(main.attributes[key][i]) if key in main.attributes else {}
                said = str(facts["sdy.sharding"]) if "sdy.sharding" in facts else None
                found.append((ir.RankedTensorType(each).shape, said))
    return {a: int(n) for a, n in axes.items()}, found


def ours(text, mesh):
    """[(axis, size before, size)] of each dim of "f32[8@data, 4@(model,data:(1)2)]"."""
    dims = re.match(r"\w+\[(.*?)\]", text)[1]
    found = []
    for dim in re.split(r", ", dims) if dims else []:
        axes = re.findall(r"(\w+)(?::\((\d+)\)(\d+))?", dim.partition("@")[2])
        found.append([(a, int(before or 1), int(size or mesh[a])) for a, before, size in axes])
    return found


def misplaced(program, text, stats):
    mesh, theirs = shardy_says(text)
    listed = [*stats["values"].items()][:len(theirs) - len(stats["results"])] + [*stats["results"].items()]
    if len(listed) != len(theirs):
        return ["%d values, %d of Shardy's" % (len(listed), len(theirs))]
    differ = []
    for (name, placed), (shape, said) in zip(listed, theirs):
        theirs_here = shardy.axes_of(said, shape, mesh)
        uneven = any(size % math.prod(part[2] for part in axes) for size, axes in zip(shape, theirs_here))
        same = ours(placed, mesh) == theirs_here
        if same == ((program, name) in OTHER_PLACES) and not uneven:
            differ.append("%s: ours %s, Shardy's %s" % (name, placed, said))
    return differ


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
    wrong = misplaced(name, text, stats_of(text, "--emit=stats"))
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
        if (here > xla * 1.001) != (name in MORE_BYTES):
            wrong.append("more than XLA's" if here > xla else "no more than XLA's, which was said")
        passed += not wrong
        failed += bool(wrong)
        print("%sok - %s: %d bytes, XLA's %d" % ("not " if wrong else "", name, here, xla), flush=True)
        print("".join("# %s\n" % line for line in wrong), end="")
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
