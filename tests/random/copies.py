#!/usr/bin/env python3
"""How many bytes a fused program copies: what steps write that only move what there is.

    copies.py SHDC FILE.shd [OPTIONS...]

Copies, fills that are written, and fusions that slice, transpose, spread or put behind each
other, as often as their loops turn.  What takes no time is no step.
"""
import math
import subprocess
import sys

import stats

MOVES = {"parameter", "constant", "reshape", "slice", "transpose", "broadcast", "concatenate",
         "dynamic-slice", "dynamic-update-slice", "reverse", "return", "tuple", "add", "multiply",
         "remainder", "subtract"}
NUMBERS = {"add", "multiply", "remainder", "subtract"}     # of where a part begins


def size(instruction):
    """Bytes of it; 0 of several values, or of a number."""
    if instruction.type.startswith("("):
        return 0
    dtype, dims = stats.shape(instruction.type)
    return math.prod(dims) * stats.BITS[dtype] // 8 if dims else 0


def moved(found, fusion):
    """Bytes that it writes, if all it does is move elements."""
    body = found[fusion.attribute("calls").strip("%")]
    for i in body:
        if i.op not in MOVES or (i.op in NUMBERS and size(i)):
            return 0
    root = body[-1]
    if root.op == "dynamic-update-slice":
        root = next(i for i in body if i.name == root.operands[1])
    return size(root)


def together(found, fusion):
    """Does it put parts of a sum or an exchange together, or a product of one column into its
    place?  Those are copied, which counts when parts are tried."""
    body = {i.name: i for i in found[fusion.attribute("calls").strip("%")]}
    root = list(body.values())[-1]
    while root.op == "reshape":
        root = body[root.operands[0]]
    column = root.op == "dynamic-update-slice" and \
        stats.shape(body[root.operands[1]].type)[1][-1:] == [1]
    return fusion.attribute("of") and (column or root.op == "concatenate")


def copied(text, parts=True):
    """{name of the step: bytes}; of `parts` what puts them together, too"""
    found, entry = stats.computations(text)
    steps = {}

    def visit(name, trips):
        for i in found[name]:
            n = size(i) if i.op == "copy" else 0
            if i.op == "fusion" and not i.attribute("unset"):
                n = moved(found, i) if parts or not together(found, i) else 0
            elif i.op != "fusion":
                turns = int(i.attribute("trips") or 1) if i.op == "while" else 1
                for _, body in stats.bodies(i):
                    visit(body, trips * turns)
            if n:
                steps[i.name] = steps.get(i.name, 0) + n * trips
    visit(entry, 1)
    return steps


def main():
    shdc, path, *options = sys.argv[1:]
    text = subprocess.run([shdc, *options, "--emit=schedule", path], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    steps = copied(text)
    for name, n in steps.items():
        print("%10d  %s" % (n, name))
    print("%10d  in all" % sum(steps.values()))


if __name__ == "__main__":
    main()
