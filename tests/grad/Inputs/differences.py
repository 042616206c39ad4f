#!/usr/bin/env python3
"""Gradients against central differences along a direction, in f64.

    differences.py SHDC CASES OPS.DEF
    differences.py SHDC CASES [WORD]      WORD: only cases that contain it

A case is a line of CASES, on the mesh of the line `mesh` before it; what the gradient
says of the direction and what the function does along it are computed by one program.
Every op of OPS.DEF that has a gradient is in one, but for those of manual functions.  TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """%(mesh)s
type T = f64[%(shape)s];
%(functions)s
fn f(x: T, y: T, w: T) -> f64 { %(body)s }
fn main(x: T, y: T, w: T, u: T, v: T) -> (off: f64) {
  let (gx, gy) = grad(f, wrt=(x, y))(x, y, w);
  let e = 1e-5;
  let says = sum(gx * u) + sum(gy * v);
  let does = (f(x + u * e, y + v * e, w) - f(x - u * e, y - v * e, w)) / (2.0 * e);
  return abs(says - does) / maximum(abs(does), 1e-3);
}
"""
PLAIN = "mesh [X=2];"
CLOSE = 1e-6
# Ops whose gradients have tests of their own: C functions, manual ones, copies at the end.
ELSEWHERE = ["extern", "manual", "uniform", "output", "return"]
GONE = {"save": "save", "checkpoint": "checkpoint fn", "ruled": "gradient"}


def cases(path, word):
    """(mesh, case)"""
    mesh = PLAIN
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith("mesh"):
                mesh = line
            elif line and not line.startswith("#") and word in line:
                yield mesh, line


def program(mesh, case):
    functions, _, body = case.rpartition("|||")
    if "return" not in body:
        body = "return sum((%s) * w);" % body.strip()
    shape = "4, 6" if mesh == PLAIN else "8, 12"
    return PROGRAM % {"mesh": mesh, "shape": shape, "functions": functions, "body": body}


def wanted_ops(path):
    """{op: how HLO spells it, or the language, where it is gone before}"""
    with open(path, encoding="utf-8") as f:
        rows = re.findall(r'^OP\((\w+), +"([^"]*)",(.*)', f.read(), flags=re.M)
    wanted = {}
    for op, hlo, rest in rows:
        columns = [c.strip() for c in rest.split(",")]
        where, gradient = columns[5], columns[7]
        if gradient not in ("zero", "none") and where != "device" and op not in ELSEWHERE:
            wanted[op] = GONE.get(op, hlo.replace("custom-call:", ""))
    return wanted


def main():
    shdc, path = sys.argv[1].split(), sys.argv[2]
    failed = 0
    everything = len(sys.argv) > 3 and sys.argv[3].endswith(".def")
    found = list(cases(path, sys.argv[3] if len(sys.argv) > 3 and not everything else ""))
    texts = "\n".join(case for _, case in found)
    with tempfile.TemporaryDirectory() as work:
        for number, (mesh, case) in enumerate(found, 1):
            source = os.path.join(work, "case.shd")
            with open(source, "w", encoding="utf-8") as f:
                f.write(program(mesh, case))
            if everything:
                texts += subprocess.run(shdc + ["--emit=ir", source], capture_output=True,
                                        text=True).stdout
            run = subprocess.run(shdc + ["--interpret", source], capture_output=True, text=True)
            off = re.search(r"^off\s+f64\[\]\s+(\S+)", run.stdout, flags=re.M)
            good = off and float(off.group(1)) < CLOSE
            failed += not good
            print("%sok %d - %s" % ("" if good else "not ", number, case))
            if not good:
                print("# %s %s" % (run.stdout[:200], run.stderr[:600]))
    missing = [op for op, word in wanted_ops(sys.argv[3]).items()
               if not re.search(r"[ \"]%s\b" % re.escape(word), texts)] if everything else []
    print("%sok %d - every op that has a gradient is in a case" % (
        "not " if missing else "", len(found) + 1))
    for op in missing:
        print("# %s is in no case" % op)
    print("1..%d" % (len(found) + 1))
    return 1 if failed or missing or not found else 0


sys.exit(main())
