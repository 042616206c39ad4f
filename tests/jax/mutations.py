#!/usr/bin/env python3
"""Programs with one mistake: what JAX's own verifier refuses, shdc refuses, in one message.

    mutations.py SHDC [--seed S] [--first I] [--count N] [--show]

Mutation I of a seed is always the same: of a dump in samples/jax/ or tests/import/Inputs one
number, an item of a list, a dtype, the name of an operand or an attribute becomes another.  It ends with
status 0, 1 or 5, and where that is not 0 with one message that says where.  With jaxlib it is
also parsed and verified by that: where it is refused, shdc refuses it, or says that the op has
no counterpart.  Without a seed it is a fresh one, which is printed.  The status is 1 if
anything differs.
"""
import argparse
import glob
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LARGEST = 40000     # bytes of a dump
NUMBERS = ["0", "1", "-1", "2", "3", "4", "7", "8", "9", "16", "4294967296", "9223372036854775807"]
DTYPES = ["f32", "bf16", "i32", "i1", "ui32", "i64", "complex<f32>", "f33"]
LIST = re.compile(r"(\[|array<i64: )-?\d+(?:, -?\d+)*([\]>])")
# Of these shdc asks less: nothing that it computes or plans comes of them.
TOLERATED = re.compile(
    r"layout|backend_config|api_version|Custom call API|num_partitions|num_replicas|out of range for (type|attribute)"
    r"|escape in string|stablehlo\.rng'|dot.algorithm|not a valid|expected '|parsed \d+ elements|result_accuracy")


def places(pattern, text):
    return [m for m in re.finditer(pattern, text) if not text[text.rfind("\n", 0, m.start()) + 1:].startswith("#")]


def other_number(rng, text):
    m = rng.choice(places(r"(?<![\w%#@.\"\\])-?\d+(?![\w.])|(?<=[<x])\d+(?=x)", text))
    return m, rng.choice(NUMBERS + [str(int(m[0]) + 1), str(int(m[0]) - 1)])


def other_list(rng, text):
    m = rng.choice(places(LIST, text))
    items = re.findall(r"-?\d+", m[0][len(m[1]):])
    changed = rng.choice([items + items[-1:], items[:-1], items[::-1], items[:1] * len(items)])
    begin = m[1] if changed or m[1] == "[" else "array<i64"
    return m, begin + ", ".join(changed) + m[2]


def other_dtype(rng, text):
    return rng.choice(places(r"(?<=[x<])(?:f32|bf16|i32|i1|ui32|i64)(?=>)", text)), rng.choice(DTYPES)


def other_value(rng, text):
    values = places(r"%\w+(?:#\d+)?", text)
    return rng.choice(values), rng.choice(values)[0]


def other_kind(rng, text):
    """An attribute that is something else, if anything comes of it."""
    values = places(r"(?<== )(?:\[[^\[\]]*\]|array<[^<>]*>|#stablehlo\.(?!channel|dot_algo)\w+<[^<>]*>|-?\d+ : i\d+)", text)
    return rng.choice(values), rng.choice(["[1, 2]", "[[0, 1]]", "{}", "true", '"word"', "array<i64: 0>", "@main"])


def mutate(rng, text):
    for _ in range(100):
        change = rng.choice([other_number, other_number, other_number, other_list, other_dtype, other_value,
                             other_kind])
        try:
            m, new = change(rng, text)
        except IndexError:      # there is nothing of that kind
            continue
        if m[0] != new:
            line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.end())]
            return text[:m.start()] + new + text[m.end():], "%s -> %s in %s" % (m[0], new, line.strip()[:150])
    return text, "the same"


def verifier():
    """Of a text: why it is refused, or None; nothing where there is no jaxlib."""
    try:
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir
    except ImportError:
        return None

    def refuses(text):
        with mlir.make_ir_context() as context:
            context.emit_error_diagnostics = False
            try:
                ir.Module.parse(text).operation.verify()
            except Exception as e:      # jaxlib has several
                return str(e)
        return None
    return refuses


def complaint(got, text, refuses):
    """What is wrong with what shdc says of the text; None: nothing."""
    errors = re.findall(r"^\S.*: error\[|^shdc: error", got.stderr, re.M)
    if got.returncode not in (0, 1, 5):
        return "status %d" % got.returncode
    if got.returncode and (len(errors) != 1 or not re.search(r"^\S+:\d+(:\d+)?: error\[", got.stderr, re.M)):
        return "%d messages" % len(errors)
    why = refuses and got.returncode == 0 and refuses(text)
    if why and not TOLERATED.search(why) and "no counterpart" not in got.stderr:
        return "accepted: " + " ".join(why.split())[:300]
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("shdc")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    refuses = verifier()
    dumps = sorted(glob.glob(ROOT + "/samples/jax/*.mlir") + glob.glob(ROOT + "/tests/import/Inputs/*.mlir"))
    texts = [(path, open(path, encoding="utf-8").read()) for path in dumps if os.path.getsize(path) < LARGEST]
    texts = [(path, text) for path, text in texts      # of what nobody calls nothing is asked
             if not path.endswith("/uncalled.mlir") and not (refuses and refuses(text))]
    wrong = refused = 0
    for i in range(args.first, args.first + args.count):
        rng = random.Random("%d.%d" % (args.seed, i))
        path, text = rng.choice(texts)
        text, what = mutate(rng, text)
        got = subprocess.run([*args.shdc.split(), "--emit=ir", "-"], input=text.encode(), capture_output=True, timeout=100)
        got.stderr = got.stderr.decode(errors="replace")
        refused += got.returncode != 0
        why = complaint(got, text, refuses)
        if args.show:
            print(text)
        if why:
            wrong += 1
            print("%d %s: %s: %s" % (i, os.path.basename(path), what, why))
    print("seed %d: %d mutations, %d refused, %d wrong%s" % (
        args.seed, args.count, refused, wrong, "" if refuses else " (no jaxlib to compare with)"))
    return wrong > 0


sys.exit(main())
