#!/usr/bin/env python3
"""--emit=stats against the program that --emit=fused prints.

    stats.py SHDC FILE.shd [OPTIONS...]

The schema is held field by field; bytes, trips, axes and flops are worked out
again from the HLO's shapes, groups of devices and loops, in whole numbers.
"""
import json
import math
import os
import re
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def rows(table, macro):
    """The cells of each row of a .def file, as far as no text has a comma."""
    with open(os.path.join(TESTS, "../compiler/ir", table), encoding="utf-8") as f:
        found = re.findall(r"^%s\((.*)" % macro, f.read(), flags=re.M)
    return [[cell.strip(' "') for cell in row.split(",")] for row in found]


def flops_of_ops():
    """Of each element of the result, as the test of the op table has them."""
    with open(os.path.join(TESTS, "unit/op_table.txt"), encoding="utf-8") as f:
        found = re.findall(r"^%r = (?:\(.*?\)|\S+) ([\w-]+)\(.* \| (\d+)$", f.read(), flags=re.M)
    return {opcode: int(n) for opcode, n in found}


DTYPES = rows("dtypes.def", "DTYPE")
BITS = {row[0]: int(row[2]) for row in DTYPES}
HLO_NAMES = {row[1]: row[0] for row in DTYPES}
# what one of n devices receives on a ring, by the bytes of its operand; rounded up
COLLECTIVES = {"all-gather": lambda n, operand: operand * (n - 1),
               "reduce-scatter": lambda n, operand: -(-operand * (n - 1) // n),
               "all-reduce": lambda n, operand: -(-2 * operand * (n - 1) // n),
               "all-to-all": lambda n, operand: -(-operand * (n - 1) // n),
               "collective-permute": lambda n, operand: operand,
               "ragged-all-to-all": lambda n, operand: operand}
FLOPS = flops_of_ops()
STEPS = ["dot", "reduce", *COLLECTIVES]     # of a number, too
TOP = ["version", "mesh", "devices", "target", "collectives", "wire_bytes",
       "flops", "memory_peak", "values", "results"]
FIELDS = ["kind", "axes", "dtype", "operand", "result", "wire_bytes", "trips",
          "async", "reason", "line"]


class Wrong(Exception):
    pass


def want(good, *what):
    if not good:
        raise Wrong(" ".join(map(str, what)))


def shape(text):
    """'f32[8,64]' -> ('f32', [8, 64])"""
    dtype, dims = re.match(r"(\w+)\[([\d,]*)\]", text).groups()
    return (HLO_NAMES.get(dtype, dtype),
            [int(d) for d in dims.split(",") if d])


class Instruction:
    def __init__(self, line):
        m = re.match(r"  (?:ROOT )?%(\S+) = (\(.*?\)|\S+) ([\w-]+)\((.*)", line)
        self.name, self.type, self.op, self.rest = m.groups()
        self.line = line
        self.operands = re.findall(r"%([\w.]+)", self.rest.split(")")[0])

    def attribute(self, name):
        m = re.search(r"[ {,]%s=(\"[^\"]*\"|\{\{.*?\}\}|\{.*?\}|[^ ,{}]+)"
                      % name, self.line)
        return m and m.group(1).strip('"')


def computations(text):
    found, entry = {}, None
    for line in text.splitlines():
        m = re.match(r"(ENTRY )?%([\w.]+) \(.*\{$", line)
        if m:
            current = found[m.group(2)] = []
            entry = m.group(2) if m.group(1) else entry
        elif re.match(r"  (ROOT )?%", line):
            current.append(Instruction(line))
    return found, entry


def walk(found, name, trips, visit):
    """Instructions in the order of the program; trips: how often, and whether
    that is known (a `while` counts as one round)."""
    for i in found[name]:
        visit(i, trips, found[name])
        n = i.attribute("trips") if i.op == "while" else "1"
        for role, body in bodies(i):
            # the condition is looked at once more
            more = i.op == "while" and n and role == "condition"
            walk(found, body, (trips[0] * (int(n or 1) + bool(more)),
                               trips[1] and bool(n)), visit)


def bodies(i):
    if i.op in ("while", "fusion"):
        return re.findall(r"(condition|body|calls)=%([\w.]+)", i.line)
    return re.findall(r"(true|false)_computation=%([\w.]+)", i.line)


def groups(text):
    """Lists, or the iota form [G,N]<=[...]T(...)."""
    m = re.match(r"\[(\d+),(\d+)\]<=", text)
    if not m:
        return [[int(d) for d in g.split(",")]
                for g in re.findall(r"\{([\d,]+)\}", text)]
    return None


def coordinates(mesh, device):
    at = {}
    for name, size in reversed(list(mesh.items())):
        at[name] = device % size
        device //= size
    return at


def axis_size(mesh, axis):
    m = re.match(r"(\w+)(?::\((\d+)\)(\d+))?$", axis)
    want(m and m.group(1) in mesh, "axis", axis)
    if m.group(2):
        want(mesh[m.group(1)] % (int(m.group(2)) * int(m.group(3))) == 0,
             "sub-axis", axis)
    return int(m.group(3)) if m.group(3) else mesh[m.group(1)]


def check_shapes(c, n):
    """One dim grows or shrinks; which, the bytes do not depend on."""
    a, b = math.prod(c["operand"]), math.prod(c["result"])
    what = "%s %s -> %s" % (c["kind"], c["operand"], c["result"])
    want(b == {"all-gather": a * n, "reduce-scatter": a / n, "all-reduce": a,
               "all-to-all": a, "collective-permute": a}.get(c["kind"], b), what)
    if c["kind"] in ("all-reduce", "collective-permute"):
        want(c["operand"] == c["result"], what)


def check_groups(mesh, c, i):
    """The devices of a group differ in the axes alone, and are all there."""
    text = i.line.split("replica_groups=")[-1]
    found = None if text.startswith("[") else groups(
        i.attribute("replica_groups"))
    if found is None:
        return
    whole = {a for a in c["axes"] if ":" not in a}
    named = {a.split(":")[0] for a in c["axes"]}
    n = math.prod(axis_size(mesh, a) for a in c["axes"])
    for g in found:
        at = [coordinates(mesh, d) for d in g]
        want(len(g) == n, "a group of", len(g), "over", c["axes"])
        for axis in mesh:
            seen = {a[axis] for a in at}
            want(len(seen) == 1 or axis in named, i.name, "group", g, axis)
            want(axis not in whole or len(seen) == mesh[axis], i.name, g)


def check_pairs(mesh, c, i):
    """Of a permute: the axes whose coordinate changes."""
    text = i.attribute("source_target_pairs")
    moved = set()
    for a, b in groups(text):
        x, y = coordinates(mesh, a), coordinates(mesh, b)
        moved |= {axis for axis in mesh if x[axis] != y[axis]}
    want({a.split(":")[0] for a in c["axes"]} == moved, i.name, "axes",
         c["axes"], "moves", moved)


def check_collective(stats, c, i, trips, body, lines):
    mesh = stats["mesh"]
    types = {k.name: k.type for k in body}
    dtype, operand = shape(types[i.operands[0]])
    want(list(c) == FIELDS, "fields", list(c))
    want(c["kind"] == i.op and c["kind"] in COLLECTIVES, "kind", c["kind"])
    want((c["dtype"], c["operand"]) == (dtype, operand), i.name, c)
    want(c["result"] == shape(i.type)[1], i.name, "result", c["result"])
    want(c["trips"] == trips, i.name, "trips", c["trips"], "not", trips)
    want(c["async"] is False and c["reason"], i.name, c)
    want(1 <= c["line"] <= lines, i.name, "line", c["line"])
    size = (BITS[dtype] * math.prod(operand) + 7) // 8
    n = math.prod(axis_size(mesh, a) for a in c["axes"])
    want(c["wire_bytes"] == COLLECTIVES[c["kind"]](n, size), i.name, c)
    if c["kind"] == "collective-permute":
        check_pairs(mesh, c, i)
    else:
        check_groups(mesh, c, i)
    check_shapes(c, n)


def flops(i, body):
    types = {k.name: k.type for k in body}
    if i.op == "dot":
        dims = shape(types[i.operands[0]])[1]
        contracted = i.attribute("lhs_contracting_dims") or "{}"
        return 2 * math.prod(shape(i.type)[1]) * math.prod(
            dims[int(d)] for d in contracted.strip("{}").split(",") if d)
    if i.op == "reduce":
        return math.prod(shape(types[i.operands[0]])[1])
    each = FLOPS.get(i.op, 0)
    return each and each * math.prod(shape(i.type)[1])


def check_values(stats):
    for name, text in [*stats["values"].items(), *stats["results"].items()]:
        m = re.match(r"(\w+)\[([^?]*)\](?: .*)?$", text)
        want(m and m.group(1) in BITS, name, text)
        for dim in re.findall(r"(?:^|, )(\d+)(?:@(\([^)]*(?:\)\d+[^)]*)*\)|[^,]+))?",
                              m.group(2)):
            axes = re.findall(r"[A-Za-z_]\w*(?::\(\d+\)\d+)?",
                              dim[1].replace(" pad", ""))
            split = math.prod(axis_size(stats["mesh"], a) for a in axes)
            want(int(dim[0]) % split == 0 or "pad" in text, name, text)
    for name in stats["results"]:
        want(name in stats["values"], "result", name, "is no value")


def check(stats, hlo, lines):
    """None, or what is wrong."""
    found, entry = computations(hlo)
    collectives, counted = [], [0]
    branches = "conditional(" in hlo
    fused = [id(found[name]) for name in re.findall(r"calls=%([\w.]+)", hlo)]

    def visit(i, trips, body):
        if i.op in COLLECTIVES:
            collectives.append((i, trips, body))
        # numbers that a device computes before it starts are no steps
        if id(body) in fused or i.op in STEPS or not re.match(r"\w+\[\]", i.type):
            counted[0] += flops(i, body) * trips[0]

    walk(found, entry, (1, True), visit)
    try:
        want(list(stats) == TOP, "keys", list(stats))
        want(stats["version"] == 1, "version", stats["version"])
        want(stats["devices"] == math.prod(stats["mesh"].values()), "devices")
        want(len(collectives) == len(stats["collectives"]), len(collectives),
             "collectives in the HLO, in stats", len(stats["collectives"]))
        total = 0
        for c, (i, trips, body) in zip(stats["collectives"], collectives):
            check_collective(stats, c, i, trips[0] if trips[1] else None, body,
                             lines)
            total += c["wire_bytes"] * trips[0]
        want(stats["wire_bytes"] == total
             or (branches and stats["wire_bytes"] < total), "wire_bytes",
             stats["wire_bytes"], "not", total)
        want(stats["flops"] == counted[0]
             or (branches and stats["flops"] < counted[0]), "flops",
             stats["flops"], "not", counted[0])
        check_values(stats)
    except Wrong as e:
        return str(e)
    return None


def unscheduled(text):
    """What is the same with each --overlap, in order, a line each."""
    told = json.loads(text)
    for c in told["collectives"]:
        for field in "async", "pieces", "combined":
            c.pop(field, None)
    return json.dumps({**told, "memory_peak": 0}, indent=1)


def main():
    shdc, path, *options = sys.argv[1:]
    r = subprocess.run([shdc, "--emit=stats,fused", path, *options],
                       capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr)
    _, stats, hlo = re.split(r"^// ----- \w+\n", r.stdout, flags=re.M)
    why = check(json.loads(stats), hlo, open(path).read().count("\n") + 1)
    if why:
        sys.exit("%s: %s" % (path, why))


if __name__ == "__main__":
    main()
