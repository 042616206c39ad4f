"""What --emit=cost says of each program: does it add up?  sums.py SHDC FOLDER|FILE..."""
import csv
import decimal
import glob
import io
import json
import os
import subprocess
import sys


def emit(kind, path):
    return subprocess.run(sys.argv[1].split() + ["--emit=" + kind, path], check=True,
                          capture_output=True, text=True).stdout


def wrong(path):
    cost = json.loads(emit("cost.json", path), parse_float=decimal.Decimal)
    stats = json.loads(emit("stats", path))
    rows = list(csv.DictReader(io.StringIO(emit("cost.csv", path))))
    ops = cost["ops"]
    moves = {c["kind"] for c in stats["collectives"]}
    communication = sum(o["seconds"] for o in ops if o["kind"] in moves)
    serial = sum(o["seconds"] for o in ops)
    starts = [o["start"] for o in ops]
    yield "order", cost["lower_seconds"] <= cost["seconds"] <= cost["serial_seconds"]
    yield "serial", serial == cost["serial_seconds"]
    yield "communication", communication == cost["communication_seconds"]
    yield "compute", serial - communication == cost["compute_seconds"]
    yield "exposed", sum(o["exposed_seconds"] for o in ops) == cost["exposed_seconds"]
    yield "nothing runs beside", cost["seconds"] == cost["serial_seconds"]
    yield "starts", starts == sorted(starts)
    yield "bytes as in stats", cost["wire_bytes"] == stats["wire_bytes"]
    yield "flops as in stats", cost["flops"] == stats["flops"]
    yield "peak as in stats", cost["memory_peak"] == stats["memory_peak"]
    yield "CSV is JSON", len(rows) == len(ops) and all(
        r["what"] == o["what"] and decimal.Decimal(r["seconds"]) == o["seconds"]
        and r["axes"] == ",".join(o["axes"]) and int(r["line"]) == o["line"]
        for r, o in zip(rows, ops))
    yield "memory traffic", sum(o["hbm_bytes"] for o in ops) == cost["hbm_bytes"]
    yield "flops", cost["flops"] == sum(o["flops"] for o in ops)
    yield "bytes", sum(o["wire_bytes"] for o in ops) == cost["wire_bytes"]
    yield "the same again", emit("cost", path) == emit("cost", path)


bad = 0
programs = [path for name in sys.argv[2:]
            for path in (sorted(glob.glob(os.path.join(name, "*.shd"))) if os.path.isdir(name) else [name])]
for sample in programs:
    for what, right in wrong(sample):
        if not right:
            print("%s: %s" % (os.path.basename(sample), what))
            bad += 1
sys.exit(bad != 0 or not programs)
