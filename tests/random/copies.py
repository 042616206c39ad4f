#!/usr/bin/env python3
"""How many bytes a fused program copies: what steps write that only move what there is.

    copies.py SHDC FILE.shd [OPTIONS...]

Copies, fills that are written, and fusions that slice, transpose, spread or put behind each
other, as often as their loops turn.  What takes no time is no step.
"""
import collections
import math
import re
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


def changed_part(body, root):
    """Of what changes a part: what it writes there."""
    return next(i for i in body if i.name == root.operands[1])


def moved(found, fusion):
    """Bytes that it writes, if all it does is move elements."""
    body = found[fusion.attribute("calls").strip("%")]
    for i in body:
        if i.op not in MOVES or (i.op in NUMBERS and size(i)):
            return 0
    root = body[-1]
    return size(changed_part(body, root) if root.op == "dynamic-update-slice" else root)


def is_summed(found, around, fusion):
    """Is it a sum over devices, or what they have, and no more, that goes to its place in a stack?"""
    body = found[fusion.attribute("calls").strip("%")]
    if body[-1].op != "dynamic-update-slice":
        return False
    part = changed_part(body, body[-1])
    while part.op == "reshape":
        part = next(i for i in body if i.name == part.operands[0])
    if part.op != "parameter":
        return False
    made = around.get(fusion.operands[[i for i in body if i.op == "parameter"].index(part)])
    while made and made.op == "reshape":
        made = around.get(made.operands[0])
    return bool(made and re.match("(all-reduce|reduce-scatter|all-gather)(-done)?$", made.op))


def is_to_be_summed(found, around, fusion):
    """Is it a slice that sums over devices alone read?"""
    inside = found[fusion.attribute("calls").strip("%")]
    if any(i.op not in ("parameter", "slice", "reshape") for i in inside):
        return False
    body = around.values()
    names = {fusion.name}
    for i in body:
        if i.op == "reshape" and i.operands[0] in names:
            names.add(i.name)
    users = [i for i in body if i.op != "reshape" and names & set(i.operands)]
    return bool(users) and all(re.match("(all-reduce|reduce-scatter)(-start)?$", i.op)
                               for i in users)


def copied(text, sums=True):
    """{name of the step: bytes}; `sums`: with slices that are summed over devices by themselves,
    and what comes of a collective and goes to its place in a stack"""
    found, entry = stats.computations(text)
    steps = {}

    def visit(name, trips):
        around = {i.name: i for i in found[name]}
        for i in found[name]:
            n = size(i) if i.op == "copy" else 0
            if i.op == "fusion" and not i.attribute("unset"):
                n = moved(found, i)
                if not sums and (is_summed(found, around, i) or is_to_be_summed(found, around, i)):
                    n = 0
            elif i.op != "fusion":
                turns = int(i.attribute("trips") or 1) if i.op == "while" else 1
                for _, body in stats.bodies(i):
                    visit(body, trips * turns)
            if n:
                steps[i.name] = steps.get(i.name, 0) + n * trips
    visit(entry, 1)
    return steps


def turns(text):
    """How often its loops turn that say so, of all together."""
    found, _ = stats.computations(text)
    return sum(int(i.attribute("trips") or 1) for body in found.values() for i in body
               if i.op == "while")


def carried(text):
    """What its loops carry: {types: loops}."""
    found, _ = stats.computations(text)
    return collections.Counter(i.type for body in found.values() for i in body
                               if i.op == "while")


def more(before, after):
    """Does the program copy more than it did?  What may be copied more is no product's piece:
    a slice that each trip of a loop sums instead of the stack behind the loop goes to its
    place, and one that is summed instead of what it is put together in is read by itself.
    Where trips of a loop are written out each has a device's part of all rows, not of its own,
    and a loop that is cut elsewhere carries something else: that is not compared."""
    if turns(after) < turns(before) or carried(before) - carried(after):
        return False
    return all(sum(copied(after, sums).values()) > sum(copied(before, sums).values())
               for sums in (True, False))


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
