#!/usr/bin/env python3
"""A program's results against numpy's, by reference.py.

    oracle.py SHDC [-L DIR] [--kind KIND] [--seeds N] [--how=--run] PROGRAM...

Inputs are drawn for each program, of one kind:

    plain    floats in [-1, 1), integers in [-8, 8)
    whole    small integers, in floats too: sums are exact
    equal    one value in each tensor: zero, or another
    hostile  infinities, NaN, -0.0, denormals, the ends of integers, zeros
"""
import argparse
import os
import subprocess
import sys
import tempfile
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from precision import (FLOATS, INTEGERS, LARGEST, Tensor, bounds, least, limits, load,
                       nearest, save, wrong)
from reference import evaluate, parameters, with_imports

KINDS = ["plain", "whole", "equal", "hostile"]
FIRST, MORE = 6, 40     # samples; more before a result is called wrong


def ends(dtype):
    if dtype == "pred":
        return [False, True]
    if dtype in FLOATS:
        return list(nearest(np.array(
            [np.inf, -np.inf, np.nan, 0.0, -0.0, 2 * least(dtype), -2 * least(dtype),
             LARGEST[dtype], -LARGEST[dtype], 1.0]), dtype))
    low, high = limits(dtype)
    return [low, high, low + 1, high - 1, 0, 1]


def whole_values(draw, dtype, dims):
    if dtype == "pred":
        return draw.integers(0, 2, dims).astype(bool)
    low = 0 if dtype[0] == "u" else -8
    return draw.integers(low, 8, dims)


def tensor(draw, dtype, dims, kind):
    a = whole_values(draw, dtype, dims)
    if dtype in FLOATS and kind in ("plain", "hostile"):
        a = nearest(draw.uniform(-1, 1, dims), dtype)
    if kind == "equal":
        a = np.full(dims, draw.choice(np.asarray(a).reshape(-1)) *
                    draw.integers(0, 2))
    if kind == "hostile":
        # A few kinds of end in each tensor, not all: NaN would hide the rest.
        some = np.array(draw.permutation(np.array(ends(dtype), object))[
            :draw.integers(1, 4)])
        at = draw.random(dims) < draw.choice([0.05, 0.3, 1.0])
        a = np.where(at, some[draw.integers(0, len(some), dims)], a)
    return Tensor(dtype, np.asarray(a).astype(
        np.float64 if dtype in FLOATS else INTEGERS[dtype]))


def make_inputs(program, kind, seed):
    return {name: tensor(np.random.default_rng([seed, zlib.crc32(
        name.encode())]), dtype, dims, kind)
            for name, dtype, dims in parameters(program)}


def save_inputs(inputs, folder):
    """Files, and the options that name them."""
    options = []
    for name, t in inputs.items():
        path = "%s/%s.in.npy" % (folder, name)
        save(path, t)
        options += ["--in", "%s=%s" % (name, path)]
    return options


def result_names(program):
    named = [name for name, _ in program.functions["main"].results]
    if named and all(named):
        return named

    def names(n):
        return ["out"] if n == 1 else ["out%d" % i for i in range(n)]
    return names


class Verdict:
    """counts of elements; why is None, or what is wrong."""

    def __init__(self):
        self.elements = self.open = 0
        self.why = None


def compare(program, inputs, folder):
    """Of the results that lie in the folder."""
    verdict = Verdict()
    first = evaluate(program, inputs)
    samples = [evaluate(program, inputs, s) for s in range(FIRST)]
    names = result_names(program)
    names = names(len(first)) if callable(names) else names
    for i, (name, t) in enumerate(zip(names, first)):
        ours = load("%s/%s.npy" % (folder, name), t.dtype)
        if ours.shape != t.shape:
            verdict.why = "%s is %s, not %s" % (name, ours.shape, t.shape)
            return verdict
        apart = bounds(t.dtype, t.a, [s[i].a for s in samples])
        bad = wrong(t.dtype, t.a, apart, ours)
        if bad.any():
            while len(samples) < MORE:
                samples.append(evaluate(program, inputs, len(samples)))
            apart = bounds(t.dtype, t.a, [s[i].a for s in samples])
            bad = wrong(t.dtype, t.a, apart, ours)
        verdict.elements += t.a.size
        verdict.open += int(np.isinf(apart).sum())
        if bad.any():
            at = tuple(int(k) for k in np.argwhere(bad)[0])
            verdict.why = "WRONG %s: %d of %d; at %s %s, not %s (bound %.3g)" \
                % (name, bad.sum(), bad.size, list(at), ours[at], t.a[at],
                   apart[at])
            return verdict
    return verdict


def ask(path, kind, seed, folder, call, option="--interpret"):
    """(status, what was said, verdict): call() runs shdc."""
    program = with_imports(path)
    inputs = make_inputs(program, kind, seed)
    status, out, err = call(option, path, "--", "--check", "--out", folder,
                            *save_inputs(inputs, folder))
    verdict = compare(program, inputs, folder) if status == 0 else Verdict()
    return status, err + out, verdict


def caller(*shdc):
    def call(*args):
        r = subprocess.run([*shdc, *args], capture_output=True, text=True)
        return r.returncode, r.stdout, r.stderr
    return call


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shdc")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("-L", default=".")
    parser.add_argument("--kind", default="plain", choices=KINDS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--how", default="--interpret", help="or --run")
    args = parser.parse_args()
    call, failed, elements, opened = caller(args.shdc, "-L", args.L), 0, 0, 0
    for path in args.programs:
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                status, said, verdict = ask(path, args.kind, seed, folder,
                                            call, args.how)
            elements += verdict.elements
            opened += verdict.open
            if status or verdict.why:
                failed += 1
                print("not ok - %s (%s %d): %s" % (
                    path, args.kind, seed, verdict.why or said))
    print("# %d wrong; %d elements, %d of them open" % (failed, elements,
                                                        opened))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
