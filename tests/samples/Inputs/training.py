#!/usr/bin/env python3
"""The tables of samples/training/README.md: what a step sends and holds, beside formulas.

    training.py SHDC README             silent if the tables there are right
    training.py SHDC README --write     makes it so

A row is what --emit=stats or --emit=cost says of a program; bytes by the formula of "How to Scale Your
Model", and what is held of weights, gradients and the optimizer's state by that of the
ZeRO paper, in bytes a weight.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from cost import SAMPLES, main, stats, words

L, B, D, F = 16, 8192, 1024, 4096
SIZES = " -D L=%d -D B=%d -D D=%d -D F=%d" % (L, B, D, F)
WEIGHTS = 2 * L * D * F
# W: bytes of all weights, A: of what a layer begins with, in bf16; N devices, X times Y of them
NAMES = {"W": 2 * WEIGHTS, "A": 2 * B * D, "L": L, "N": 4, "X": 4, "Y": 2}

# how, program and options, formulas of what is received and held
ROWS = [
    ("data parallel", "data", "2 W (N-1)/N", "2 + 2 + 12"),
    ("ZeRO-1", "zero1", "2 W (N-1)/N", "2 + 2 + 12/N"),
    ("ZeRO-2", "zero2", "2 W (N-1)/N", "2 + (2 + 12)/N"),
    ("ZeRO-3", "zero3", "3 W (N-1)/N", "(2 + 2 + 12)/N"),
    ("tensor parallel", "tensor", "4 L A (N-1)/N", "(2 + 2 + 12)/N"),
    ("ZeRO-3 along X=4, tensor parallel along Y=2", "mixed",
     "3 W/Y (X-1)/X + 4 L A/X (Y-1)/Y", "(2 + 2 + 12)/(X Y)"),
    ("pipeline", "pipeline", "2 A", "(2 + 2 + 12)/N"),
    ("data parallel, a checkpoint a layer", "checkpoint", "2 W (N-1)/N", "2 + 2 + 12"),
    ("data parallel, 4 microbatches", "data -D MICRO=4", "2 W (N-1)/N", "2 + 2 + 12"),
    ("... a checkpoint a layer", "checkpoint -D MICRO=4", "2 W (N-1)/N", "2 + 2 + 12"),
    ("... ZeRO-1", "zero1 -D MICRO=4", "2 W (N-1)/N", "2 + 2 + 12/N"),
    ("... ZeRO-2", "zero2 -D MICRO=4", "2 W (N-1)/N", "2 + 2 + 12/N"),
    ("... ZeRO-3", "zero3 -D MICRO=4", "(2 4 + 1) W (N-1)/N", "2/N + 2 + 12/N"),
]


def worth(formula):
    """What it comes to: a space between two factors is a product."""
    return round(eval(re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula), dict(NAMES)))


def both(shdc):
    """A table of what is sent, and one of what is held and computed."""
    sends = ["| how | program | collectives | bytes | by the formula | |", "|---|---|---|---|---|---|"]
    holds = ["| program | memory | weights, gradients and state by the formula | | FLOPs |", "|---|---|---|---|---|"]
    for how, program, sent, held in ROWS:
        name, *options = program.split()
        s = stats(shdc, "training/%s:main %s%s" % (name, " ".join(options), SIZES))
        named = "`%s`" % " ".join([name + ".shd", *options])
        sends.append("| %s | %s | %s | %s | %s | %s |" % (
            how, named, words(s["collectives"]), *(format(n, ",") for n in (s["wire_bytes"], worth(sent))), sent))
        holds.append("| %s | %s | %s | (%s) P | %s |" % (
            named, *(format(n, ",") for n in (s["memory_peak"], worth("%d (%s)" % (WEIGHTS, held)))), held,
            format(s["flops"], ",")))
    return sends, holds


# What is written instead is in the README, a block a row: how the layers are gone through,
LOSS = r"fn loss.*\n"
# and where gradients are while microbatches are added up.
SUMS = r" *var gi.*\n *var go.*\n"
# how, program and options, which lines a block of the README stands for
WAYS = [
    ("a loop of layers: each gathered again", "zero3", None),
    ("layers unrolled: kept, if that fits", "zero3", LOSS),
    ("a placed `let` before the loop: all kept", "zero3", LOSS),
    ("a `save` of what a trip gathered, and of the activations", "zero3", LOSS),
    ("sums written to be split", "zero2 -D MICRO=4", SUMS),
    ("sums of which nothing is written", "zero2 -D MICRO=4", None),
]


def priced(shdc, program, overlap):
    """What --emit=cost says of it."""
    command = shdc + ["--emit=cost.json", "--overlap=" + overlap, *SIZES.split(), *program]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def sample(name):
    with open(os.path.join(SAMPLES, "training", name + ".shd"), encoding="utf-8") as f:
        return f.read()


def ways(shdc):
    """A table of what is gathered again, and summed once or not."""
    with open(os.path.join(SAMPLES, "training", "README.md"), encoding="utf-8") as f:
        blocks = iter(re.findall(r"```shd-part\n(.*?)```", f.read(), flags=re.S))
    rows = ["| how | program | bytes | memory | step | `--overlap=async` |", "|---|---|---|---|---|---|"]
    for how, program, lines in WAYS:
        name, *options = program.split()
        text = sample(name).replace('import "models/feed_forward.shd";', sample("models/feed_forward"))
        if lines:
            text = re.sub(lines, next(blocks), text)
        with tempfile.NamedTemporaryFile("w", suffix=".shd") as f:
            f.write(text)
            f.flush()
            run = [*options, f.name]
            plain, beside = (priced(shdc, run, overlap) for overlap in ("none", "async"))
        rows.append("| %s | `%s` | %s | %s | %.1f ms | %.1f ms |" % (
            how, " ".join([name + ".shd", *options]), format(plain["wire_bytes"], ","),
            format(plain["memory_peak"], ","), plain["seconds"] * 1e3, beside["seconds"] * 1e3))
    return rows


def tables(shdc):
    """All of them."""
    return [*both(shdc), ways(shdc)]


if __name__ == "__main__":
    sys.exit(main(tables))
