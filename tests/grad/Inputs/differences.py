#!/usr/bin/env python3
"""Gradients against central differences along a direction, in f64.

    differences.py SHDC CASES... OPS.DEF
    differences.py SHDC CASES... [WORD]   WORD: only cases that contain it

A case is a line of CASES, on the mesh of the line `mesh` before it; what the gradient
says of the direction and what the function does along it are computed by one program.
Every op of OPS.DEF that has a gradient is in the function of one.  TAP.
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
FUNCTION = """%(mesh)s
type T = f64[%(shape)s];
%(functions)s
fn main(x: T, y: T, w: T) -> f64 { %(body)s }
"""
PLAIN = "mesh [X=2];"
CLOSE = 1e-6
# C functions are differentiated by rules of the user's, which are `ruled`; copies at the
# end of a program are made behind all gradients.
ELSEWHERE = ["extern", "output"]
GONE = {"save": "save", "checkpoint": "checkpoint fn", "ruled": "gradient"}


def cases(paths, word):
    """(mesh, case)"""
    for path in paths:
        mesh = PLAIN
        with open(path, encoding="utf-8") as f:
            for line in f.read().splitlines():
                if line.startswith("mesh"):
                    mesh = line
                elif line and not line.startswith("#") and word in line:
                    yield mesh, line


def program(mesh, case, form=PROGRAM):
    functions, _, body = case.rpartition("|||")
    if "return" not in body:
        body = "return sum((%s) * w);" % body.strip()
    shape = "4, 6" if mesh == PLAIN else "8, 12"
    return form % {"mesh": mesh, "shape": shape, "functions": functions, "body": body}


def wanted_ops(path):
    """{op: how HLO spells it, or the language, where it is gone before}"""
    with open(path, encoding="utf-8") as f:
        rows = re.findall(r'^OP\((\w+), +"([^"]*)",(.*)', f.read(), flags=re.M)
    wanted = {}
    for op, hlo, rest in rows:
        columns = [c.strip() for c in rest.split(",")]
        if columns[7] not in ("zero", "none") and op not in ELSEWHERE:
            wanted[op] = GONE.get(op, hlo.replace("custom-call:", ""))
    return wanted


class Compiler:
    def __init__(self, command, folder):
        self.command, self.source = command, os.path.join(folder, "case.shd")

    def run(self, text, option):
        with open(self.source, "w", encoding="utf-8") as f:
            f.write(text)
        return subprocess.run([*self.command, option, self.source], capture_output=True, text=True)


def main():
    shdc, *paths, last = sys.argv[1:]
    table = last if last.endswith(".def") else None
    if table or last.endswith(".txt"):
        word, paths = "", paths + [last][:not table]
    else:
        word = last
    failed, texts, number = 0, "", 0
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(shdc.split(), folder)
        for number, (mesh, case) in enumerate(cases(paths, word), 1):
            if table:
                texts += case + "\n" + compiler.run(program(mesh, case, FUNCTION),
                                                    "--emit=ir").stdout
            run = compiler.run(program(mesh, case), "--interpret")
            off = re.search(r"^off\s+f64\[\]\s+(\S+)", run.stdout, flags=re.M)
            good = off and float(off.group(1)) < CLOSE
            failed += not good
            print("%sok %d - %s" % ("" if good else "not ", number, case))
            if not good:
                print("# %s %s" % (run.stdout[:200], run.stderr[:600]))
    missing = [op for op, spelled in (wanted_ops(table) if table else {}).items()
               if not re.search(r"[ \"]%s\b" % re.escape(spelled), texts)]
    print("%sok %d - every op that has a gradient is in the function of a case" % (
        "not " if missing else "", number + 1))
    for op in missing:
        print("# %s is in none" % op)
    print("1..%d" % (number + 1))
    return 1 if failed or missing or not number else 0


sys.exit(main())
