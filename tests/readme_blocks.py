#!/usr/bin/env python3
"""Runs the code blocks of every README.  TAP.

    readme_blocks.py SHDC

A ```shd block is a whole program that must compile (shdc --check); a
```shd-error block must be refused with status 1; a ```sh block of a README is
run by bash, line by line as a user would, in a scratch directory that has
samples/ in it and shdc in its PATH.  Other blocks are for reading.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"^```([\w-]*)[^\n]*\n(.*?)^```\s*$", re.M | re.S)


def readmes():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def compile_block(shdc, text, wanted):
    r = subprocess.run([shdc, "--check", "-"], input=text, capture_output=True, text=True, timeout=60)
    if r.returncode == wanted:
        return None
    return "status %d, wanted %d\n%s" % (r.returncode, wanted, r.stderr)


def run_block(shdc, text):
    with tempfile.TemporaryDirectory() as scratch:
        os.symlink(os.path.join(ROOT, "samples"), os.path.join(scratch, "samples"))
        env = dict(os.environ, PATH=os.path.dirname(shdc) + os.pathsep + os.environ["PATH"])
        r = subprocess.run(["bash", "-e", "-c", text], cwd=scratch, env=env, capture_output=True, text=True,
                           timeout=300)
    if r.returncode == 0:
        return None
    return "status %d\n%s%s" % (r.returncode, r.stdout, r.stderr)


def main():
    shdc = os.path.abspath(sys.argv[1])
    runners = {
        "shd": lambda text: compile_block(shdc, text, 0),
        "shd-error": lambda text: compile_block(shdc, text, 1),
        "sh": lambda text: run_block(shdc, text),
    }
    number = failed = 0
    for path in readmes():
        with open(path, encoding="utf-8") as f:
            source = f.read()
        for m in BLOCK.finditer(source):
            if m.group(1) not in runners:
                continue
            why = runners[m.group(1)](m.group(2))
            number += 1
            failed += why is not None
            print("%s %d - %s:%d %s" % ("not ok" if why else "ok", number, os.path.relpath(path, ROOT),
                                        source.count("\n", 0, m.start()) + 1, m.group(1)))
            for line in (why or "").splitlines():
                print("# " + line)
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
