#!/usr/bin/env python3
"""A training sample learns, and the same with other options.

    learns.py PROGRAM.shd STEPS FACTOR "OPTIONS" ["OPTIONS"...] -- SHDC...

Beginning with what its `init` makes with the first options, or with random numbers where
another entry is asked for, the loss goes down by FACTOR at least in STEPS steps with them;
with the others the first loss and the last are the same within NEAR: what bf16 loses is
another thing in another order. With all of them a step is checked (--check). Where time
is short (SHDC_ONE_MESH), the last of them stands for all.
"""
import os
import re
import subprocess
import sys
import tempfile

NEAR = 0.02


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def losses(begin, steps):
    """After one step, and after all."""
    for n in "1", steps:
        printed = run(*begin, "--steps", n)
        yield float(re.search(r"^loss +f32\[\] +(\S+)", printed, re.M)[1])


def main(program, steps, factor, variants, shdc):
    wrong, before = [], None
    if os.environ.get("SHDC_ONE_MESH"):
        variants = variants[-1:]
    with tempfile.TemporaryDirectory() as folder:
        state, built = folder + "/state.safetensors", folder + "/built"
        begin = [built]
        if "--entry" not in shdc:
            run(*shdc, "--run", *variants[0].split(), "--entry", "init", program, "--", "--out", state)
            begin += ["--in", state]
        for options in variants:
            run(*shdc, *options.split(), program, "-o", built)
            run(*begin, "--check")
            first, last = losses(begin, steps)
            told = "%s: the loss goes from %g to %g" % (options, first, last)
            print(told)
            if not before and not last * float(factor) <= first:
                wrong.append(told)
            if before and not all(abs(a - b) <= NEAR * b for a, b in zip((first, last), before)):
                wrong.append(told + ", at first from %g to %g" % before)
            before = before or (first, last)
    print("\n".join("wrong: " + w for w in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    split = sys.argv.index("--")
    sys.exit(main(*sys.argv[1:4], sys.argv[4:split], sys.argv[split + 1:]))
