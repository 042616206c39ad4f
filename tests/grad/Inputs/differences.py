#!/usr/bin/env python3
"""Gradients against central differences along a direction, in f64.

    differences.py SHDC CASES [WORD]      WORD: only cases that contain it

A case is a line of CASES; what the gradient says of the direction and what the
function does along it are computed by one program.  TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """mesh [X=2];
%(functions)s
fn f(x: f64[4, 6], y: f64[4, 6], w: f64[4, 6]) -> f64 { %(body)s }
fn main(x: f64[4, 6], y: f64[4, 6], w: f64[4, 6], u: f64[4, 6], v: f64[4, 6]) -> (off: f64) {
  let (gx, gy) = grad(f, wrt=(x, y))(x, y, w);
  let e = 1e-5;
  let says = sum(gx * u) + sum(gy * v);
  let does = (f(x + u * e, y + v * e, w) - f(x - u * e, y - v * e, w)) / (2.0 * e);
  return abs(says - does) / maximum(abs(does), 1e-3);
}
"""
CLOSE = 1e-6


def cases(path, word):
    with open(path, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line and not line.startswith("#") and word in line:
                yield line


def program(case):
    functions, _, body = case.rpartition("|||")
    if "return" not in body:
        body = "return sum((%s) * w);" % body.strip()
    return PROGRAM % {"functions": functions, "body": body}


def main():
    shdc, path = sys.argv[1:3]
    failed = 0
    found = list(cases(path, sys.argv[3] if len(sys.argv) > 3 else ""))
    with tempfile.TemporaryDirectory() as work:
        for number, case in enumerate(found, 1):
            source = os.path.join(work, "case.shd")
            with open(source, "w", encoding="utf-8") as f:
                f.write(program(case))
            run = subprocess.run([shdc, "--interpret", source], capture_output=True, text=True)
            off = re.search(r"^off\s+f64\[\]\s+(\S+)", run.stdout, flags=re.M)
            good = off and float(off.group(1)) < CLOSE
            failed += not good
            print("%sok %d - %s" % ("" if good else "not ", number, case))
            if not good:
                print("# %s %s" % (run.stdout[:200], run.stderr[:600]))
    print("1..%d" % len(found))
    return 1 if failed or not found else 0


sys.exit(main())
