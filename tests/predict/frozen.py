#!/usr/bin/env python3
"""Predictions of published runs, as they are printed, against those that are kept.

    frozen.py SHDC             TAP, a line a row of runs.txt
    frozen.py SHDC --update    keeps what is printed now

A row is a name and what the command line has.  What is kept in NAME.txt was printed
before it was compared with what has been published; who changes the model changes
these files, with a line in runs.txt's history that says why.
"""
import difflib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def rows():
    with open(os.path.join(HERE, "runs.txt"), encoding="ascii") as runs:
        for line in runs:
            if line.strip() and not line.startswith("#"):
                name, *words = line.split()
                yield name, words


def main():
    shdc, update, failed, n = os.path.abspath(sys.argv[1]), "--update" in sys.argv, 0, 0
    print("TAP version 13")
    for n, (name, words) in enumerate(rows(), 1):
        done = subprocess.run([shdc, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        printed = done.stdout + done.stderr
        path = os.path.join(HERE, name + ".txt")
        if update:
            with open(path, "w", encoding="utf-8") as out:
                out.write(printed)
        kept = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        good = printed == kept and done.returncode == 0
        failed += not good
        print("%sok %d - %s" % ("" if good else "not ", n, name))
        for line in difflib.unified_diff(kept.splitlines(), printed.splitlines(), "kept", "printed", lineterm="", n=1):
            print("# " + line)
    print("1..%d" % n)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
