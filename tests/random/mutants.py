#!/usr/bin/env python3
"""Does --check notice mistakes?

    mutants.py SHDC MUTANTS [--seed S] [--count N] [PROGRAM.shd...]

MUTANTS (unit/mutants.c) makes one small mistake after the other in the device
programs of random programs, or of those named, and says what --check would
have said.  Prints how many were noticed, by kind.  TAP: no integer and no
float that is off by much may pass.
"""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from generate import generate

VERDICTS = ["caught", "undecided", "rounding", "endless", "missed"]


def mutate(shdc, mutants, source, seed):
    """[(mistake, op, verdict)]; None: the program is not of use."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/p.shd"
        with open(path, "w") as f:
            f.write(source)
        dumps = ["%s/%s.hlo" % (folder, kind) for kind in ("ir", "hlo")]
        emit = "--emit=ir=%s,hlo=%s" % tuple(dumps)
        if "extern fn" in source or subprocess.run(
                [shdc, emit, path], capture_output=True).returncode:
            return None
        r = subprocess.run([mutants, *dumps, str(seed)],
                           capture_output=True, text=True)
    if r.returncode:
        return [("run", r.stderr.strip()[:60], "status %d" % r.returncode)]
    return [tuple(line.split(" ")) for line in r.stdout.splitlines()]


def programs(args):
    for path in args.programs:
        with open(path) as f:
            yield path, f.read()
    for i in range(0 if args.programs else args.count):
        yield "program %d" % i, generate(args.seed, i).text()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shdc")
    parser.add_argument("mutants")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    counts, missed = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        named = list(programs(args))
        found = pool.map(lambda p: mutate(args.shdc, args.mutants, p[1], 0),
                         named)
        for (name, _), mistakes in zip(named, found):
            for kind, op, verdict in mistakes or []:
                counts[kind, verdict] += 1
                if verdict not in VERDICTS[:4]:
                    missed.append("%s: %s of %s %s" % (name, kind, op, verdict))
    caught = sum(n for (_, verdict), n in counts.items() if verdict == "caught")
    good = caught and not missed
    print("1..1\n%s 1 - seed %s: mistakes in %d programs, %d noticed" % (
        "ok" if good else "not ok", args.seed, len(named), caught))
    for kind in sorted({k for k, _ in counts}):
        print("# %-10s %s" % (kind, ", ".join("%d %s" % (
            counts[kind, v], v) for v in VERDICTS)))
    print("\n".join("# " + m for m in missed[:20]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
