#!/usr/bin/env python3
"""Runs the code blocks of every README.

    readme_blocks.py SHDC             TAP
    readme_blocks.py SHDC --update    keeps the pictures as they are made now

A ```shd block is a whole program that must compile (shdc --check), a ```shd-part
block part of one; a ```shd-error block must be refused with status 1; a ```sh block of a
README is run by bash, line by line as a user would, in a scratch directory that has
samples/ in it and shdc in its PATH.  The lines after an indented `$ command`
are what it prints, but for the digits of fractions that are the machine's: of what is
computed or timed here, not of what is predicted.
What the blocks write under a name of samples/pictures/ is that picture, to the byte, and
each of those is made by a block.  Other blocks are for reading.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLOCK = re.compile(r"^```([\w-]*)[^\n]*\n(.*?)^```\s*$", re.M | re.S)
SESSION = re.compile(r"(?:^    \$ [^\n]*\n(?:^    [^\n]*\n|^\n(?=    ))*)", re.M)
PICTURES = os.path.join(ROOT, "samples", "pictures")
FRACTION = re.compile(r"\d+(\.\d+(e-?\d+)?|e-\d+)")
MACHINE = re.compile(r"time here|largest error|  sum | s$|loss|seconds")   # computed, or timed, here


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


def contents(path):
    with open(path, "rb") as f:
        return f.read()


MADE = {}       # name of a picture: what a block has written


def bash(shdc, text):
    with tempfile.TemporaryDirectory() as scratch:
        os.symlink(os.path.join(ROOT, "samples"), os.path.join(scratch, "samples"))
        env = dict(os.environ, PATH=os.path.dirname(shdc) + os.pathsep + os.environ["PATH"])
        done = subprocess.run(["bash", "-e", "-c", text], cwd=scratch, env=env, capture_output=True, text=True,
                              timeout=300)
        MADE.update((name, contents(os.path.join(scratch, name))) for name in os.listdir(scratch)
                    if name.endswith(".svg"))
        return done


def run_block(shdc, text):
    r = bash(shdc, text)
    if r.returncode == 0:
        return None
    return "status %d\n%s%s" % (r.returncode, r.stdout, r.stderr)


def told(line):
    """Of a line of output, what any machine prints."""
    return FRACTION.sub("#", line) if MACHINE.search(line) else line


def run_session(shdc, text):
    """What is printed after `$ command` is what the commands print."""
    lines = [line[4:] for line in text.splitlines()]
    r = bash(shdc, "\n".join(line[2:] for line in lines if line.startswith("$ ")))
    wanted = [line for line in lines if not line.startswith("$ ")]
    if r.returncode == 0 and list(map(told, wanted)) == list(map(told, r.stdout.rstrip("\n").splitlines())):
        return None
    return "status %d\n%s%s" % (r.returncode, r.stdout, r.stderr)


def blocks(shdc, source):
    """(where, kind, why it is wrong or None) of each block of a README."""
    runners = {
        "shd": lambda text: compile_block(shdc, text, 0),
        "shd-error": lambda text: compile_block(shdc, text, 1),
        "sh": lambda text: run_block(shdc, text),
    }
    for m in BLOCK.finditer(source):
        if m.group(1) in runners:
            yield m.start(), m.group(1), runners[m.group(1)](m.group(2))
    for m in SESSION.finditer(BLOCK.sub(lambda m: "\n" * m.group(0).count("\n"), source)):
        yield source.index(m.group(0)), "session", run_session(shdc, m.group(0).rstrip("\n"))


def pictures(update):
    """(name, why it is wrong or None) of each in samples/pictures/."""
    if update:
        for name, made in MADE.items():
            with open(os.path.join(PICTURES, name), "wb") as out:
                out.write(made)
    kept = set(os.listdir(PICTURES))
    for name in sorted(kept | set(MADE)):
        if name not in MADE:
            yield name, "no README makes it"
        elif name not in kept or contents(os.path.join(PICTURES, name)) != MADE[name]:
            yield name, "it is not what is made now: readme_blocks.py SHDC --update"
        else:
            yield name, None if len(MADE[name]) < 30000 else "it is larger than 30 kB"


def main():
    shdc = os.path.abspath(sys.argv[1])
    number = failed = 0

    def tell(what, why):
        nonlocal number, failed
        number += 1
        failed += why is not None
        print("%s %d - %s" % ("not ok" if why else "ok", number, what))
        for line in (why or "").splitlines():
            print("# " + line)

    for path in readmes():
        with open(path, encoding="utf-8") as f:
            source = f.read()
        for start, kind, why in blocks(shdc, source):
            tell("%s:%d %s" % (os.path.relpath(path, ROOT), source.count("\n", 0, start) + 1, kind), why)
    for name, why in pictures("--update" in sys.argv):
        tell("samples/pictures/" + name, why)
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
