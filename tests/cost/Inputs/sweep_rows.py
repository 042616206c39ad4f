"""Rows of sweeps, each beside the program of that row alone: sweep_rows.py SHDC SAMPLES

Every number is the same to the last digit; what is refused alone is refused in its row,
in the same words.
"""
import json
import re
import subprocess
import sys
from decimal import Decimal

SWEEPS = [       # a program, its axes, options of both, sweeps
    ("transformer.shd", ("data", "model"), [], ["data*model=8", "B=8,24"]),
    ("transformer.shd", ("data", "model"), ["--strict"], ["data*model=8"]),
    ("moe_top_k.shd", ("X", "Y"), [], ["X*Y=8"]),
    ("training/mixed.shd", ("data", "model"), ["--overlap=auto"], ["data*model=8"]),
    ("training/zero3.shd", ("data",), [], ["data=2,4", "L=2,8"]),
    ("published/llama.shd", ("data", "model"), ["--overlap=async"], ["data*model=256"]),
    ("jax/llama.mlir", ("fsdp", "tp"), [], ["fsdp*tp=8", "on=v5e,v5p"]),
]


def alone(shdc, path, axes, options, row, names):
    sizes = ["%s=%s" % (name, row[name]) for name in names if name in axes]
    command = shdc + ["--emit=cost.json", *options, path]
    command += ["--mesh=" + ",".join(sizes)] if sizes else []
    for name in names:
        if name not in axes:
            command += ["--on", row[name]] if name == "on" else ["-D", "%s=%s" % (name, row[name])]
    return subprocess.run(command, capture_output=True, text=True)


def difference(row, one):
    if row["seconds"] is None:
        words = re.sub(r" \(line.*| \(/.*", "", row["error"])
        return None if one.returncode and words in one.stderr else "refused: " + row["error"]
    if one.returncode and "needs" not in (row["error"] or ""):
        return "alone it is refused: " + one.stderr
    cost = json.loads(one.stdout, parse_float=Decimal) if one.stdout else {}
    shared = [name for name in row if name in cost]
    for name in shared:
        if row[name] != cost[name] and abs(row[name] - cost[name]) > (name == "mfu" and 1e-6):
            return "%s is %s, alone %s" % (name, row[name], cost[name])
    return None if len(shared) > 7 or one.returncode else "nothing to compare"


def main():
    shdc, samples = sys.argv[1].split(), sys.argv[2]
    wrong = 0
    for program, axes, options, sweeps in SWEEPS:
        path = "%s/%s" % (samples, program)
        out = subprocess.run(shdc + ["--emit=cost.json", *options, path]
                             + ["--sweep=" + sweep for sweep in sweeps],
                             capture_output=True, text=True)
        rows = json.loads(out.stdout, parse_float=Decimal)["rows"]
        names = [n for n in rows[0] if n in axes or n == "on" or len(n) == 1]
        for row in rows:
            what = difference(row, alone(shdc, path, axes, options, row, names))
            if what:
                print("%s, %s: %s" % (program, {n: str(row[n]) for n in names}, what))
                wrong += 1
        print("%s: %d rows" % (program, len(rows)))
    sys.exit(wrong > 0)


main()
