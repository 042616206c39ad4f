#!/usr/bin/env python3
"""Figures of "How to Scale Your Model" against what shdc predicts.

    book_checks.py SHDC            TAP, a line a figure

The constants are the book's (book-*.target here: nothing takes time to start, the
units reach their peaks, latency hides behind data), so that what is compared is the
model and not what is assumed of the hardware.  A figure is that of the book's formula,
worked out in full; what is predicted may differ by 2%.  The book has V/W for a gather
over a ring, the limit for many devices; exact is V (N-1) / (N W), and so what is
predicted for N is compared times N / (N-1) where a name says "for many".  Figures that no program states
are in book_skipped.tsv, each with the reason.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHDC = sys.argv[1]
DIRECTORY = tempfile.mkdtemp()


def predict(target, program, *options, emit="cost.json"):
    path = os.path.join(DIRECTORY, "program.shd")
    with open(path, "w", encoding="ascii") as out:
        out.write(program)
    name, _, topology = target.partition(":")
    on = "--on=%s%s" % (os.path.join(HERE, name + ".target"), ":" + topology if topology else "")
    done = subprocess.run([SHDC, "--emit=" + emit, on, *options, path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip())
    return json.loads(done.stdout)


# ---- programs ----------------------------------------------------------------

def matmul(mesh, x, w, out=None, dtype="bf16"):
    return "mesh [%s];\nfn main(x: %s[%s], w: %s[%s])%s {\n  return einsum(\"bd,df->bf\", x, w);\n}\n" % (
        mesh, dtype, x, dtype, w, " -> %s[%s]" % (dtype, out) if out else "")


def gather(mesh, before, after, dtype="bf16"):
    return "mesh [%s];\nfn main(x: %s[%s]) -> %s[%s] {\n  return x;\n}\n" % (mesh, dtype, before, dtype, after)


def moved(target, mesh, before, after, dtype="bf16"):
    return predict(target, gather(mesh, before, after, dtype))["communication_seconds"]


def for_many(n, time):
    """Of a gather over n devices, or of an all-reduce: what the book's limit has for it."""
    return time * n / (n - 1)


def reads(mesh, elements, dtype="bf16"):
    return "mesh [%s];\nfn main(x: %s[%d]) -> f32 {\n  return sum(f32(x));\n}\n" % (mesh, dtype, elements)


def computing(cost):
    return cost["compute_seconds"]


def crossing(low, high, difference):
    """Where difference(), which grows, is 0."""
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if difference(middle) > 0 else (middle, high)
    return (low + high) / 2


def bound_by_memory_below(target, dtype, d):
    """The batch at which a product of d x d weights turns from memory to the matrix unit."""
    def difference(batch):
        cost = predict(target, matmul("X=1", "%d, %d" % (batch, d), "%d, %d" % (d, d), dtype=dtype))
        return 1 if cost["ops"][0]["bound"] == "mxu" else -1
    return crossing(2, 4096, difference)


def balanced(target, mesh, low, high, program):
    """The size at which computing takes as long as the links are busy."""
    def difference(size):
        cost = predict(target, program(int(size)))
        return cost["compute_seconds"] - cost["communication_seconds"]
    return crossing(low, high, difference)


# ---- figures -------------------------------------------------------------------

CHECKS = []


def figure(name, value, unit):
    def add(function):
        CHECKS.append((name, value, unit, function))
        return function
    return add


@figure("R1: 1e12 FLOP on a v6e of 9.1e14", 1e12 / 9.1e14 * 1e3, "ms")
def _():
    return computing(predict("book-v6e", matmul("X=1", "5000, 10000", "10000, 10000"))) * 1e3


@figure("R2: critical intensity of v5e, FLOP a byte", 1.97e14 / 8.2e11, "FLOP/B")
def _():
    d = 65536       # a product of b rows has the intensity 1 / (1/b + 2/d)
    b = bound_by_memory_below("book-v5e-82", "bf16", d)
    return 1 / (1 / b + 2 / d)


@figure("R4: contraction over 2 chips, D from which it is bound by FLOPs", 2 * 1.97e14 / 4.5e10, "D")
def _():
    return balanced("book-v5e", "X=2", 1000, 40000, lambda d: matmul("X=2", "4096, %d@X" % (d // 2 * 2), "%d@X, 4096" % (d // 2 * 2), out="4096, 4096"))


@figure("R5: int8, batch from which it is bound by OPs", 3.94e14 / 8.1e11 / 2, "B")
def _():
    d = 65536
    b = crossing(2, 4096, lambda n: 1 if predict("book-v5e", "mesh [X=1];\nfn main(x: i8[%d, %d], w: i8[%d, %d]) { return einsum(\"bd,df->bf\", x, w); }\n" % (n, d, d, d))["ops"][0]["bound"] == "mxu" else -1)
    return 1 / (1 / b + 2 / d)


@figure("T1: 200B parameters in bf16 read by 32 v4", 400e9 / 32 / 1.23e12 * 1e3, "ms")
def _():
    return computing(predict("book-v4-123", reads("X=1", 200_000_000_000 // 32))) * 1e3


@figure("T7: from corner to corner of a v5e 4x4, two ways", 8 * 128 * 8192 * 2 / 9e10 * 1e6, "us")
def _():
    program = """mesh [x=4, y=4];
manual fn send(v: bf16[8@x, 2048@y, 8192]) -> bf16[8@x, 2048@y, 8192] {
  return ppermute(v, (x, y), perm=((0, 15),));
}
fn main(v: bf16[8@x, 2048@y, 8192]) { return send(v); }
"""
    return predict("book-v5e:4x4", program)["communication_seconds"] * 1e6


@figure("S1: fp32[1024, 4096] over 16, bytes a device", 1024 * 4096 * 4 / 16, "B")
def _():
    return predict("book-v5e", "mesh [X=8, Y=2];\nfn main(a: f32[1024@(X,Y), 4096]) { return a; }\n")["memory_peak"]


@figure("S2: int8[128, 2048] over 16 of 32, bytes a device", 128 * 2048 / 16, "B")
def _():
    return predict("book-v5e", "mesh [X=2, Y=8, Z=2];\nfn main(a: i8[128@(X,Y), 2048]) { return a; }\n")["memory_peak"]


@figure("S5: a split contraction of one operand is gathered: transfers", 1, "")
def _():
    cost = predict("book-v5e", matmul("X=4", "1024, 1024@X", "1024, 65536", out="1024, 65536"))
    return sum(op["kind"] in ("all-gather", "all-reduce") for op in cost["ops"])


@figure("S7: one axis on both other dims: one operand is gathered", 1, "")
def _():
    cost = predict("book-v5e", matmul("X=4", "1024@X, 1024", "1024, 1024@X", out="1024@X, 1024"))
    return sum(op["kind"] == "all-gather" for op in cost["ops"])


@figure("S9: all-gather of bf16[2048, 8192] over a ring of v5e, for many", 2048 * 8192 * 2 / 9e10 * 1e6, "us")
def _():
    return for_many(4, moved("book-v5e", "X=8, Y=4", "2048@Y, 8192", "2048, 8192")) * 1e6


@figure("S9: ... over a line of 4 (8x4)", 3 * 2048 * 8192 * 2 / 4 / 4.5e10 * 1e6, "us")
def _():
    return moved("book-v5e:8x4", "X=8, Y=4", "2048@Y, 8192", "2048, 8192") * 1e6


@figure("S12: bytes of all chips over those of one copy, A[I@X, J, K] on 4x8x2", 16, "")
def _():
    cost = predict("book-v5e", "mesh [X=4, Y=8, Z=2];\nfn main(a: bf16[64@X, 64, 64]) { return a; }\n")
    return cost["memory_peak"] * 64 / (64 ** 3 * 2)


@figure("S13: all-gather over X of bf16[1024@X, 4096@Y], v4 4x4x4, for many", 2 * 1024 * 4096 / 4 / 9e10 * 1e6, "us")
def _():
    return for_many(4, moved("book-v4:4x4x4", "X=4, Y=4, Z=4", "1024@X, 4096@Y", "1024, 4096@Y")) * 1e6


@figure("S14: ... over X and Y", 2 * 1024 * 4096 / (2 * 9e10) * 1e6, "us")
def _():
    return for_many(16, moved("book-v4:4x4x4", "X=4, Y=4, Z=4", "1024@(X,Y), 4096", "1024, 4096")) * 1e6


@figure("S15: all-reduce over Z of bf16[1024@X, 4096@Y] unreduced, for many", 4 * 1024 * 4096 / 16 / 9e10 * 1e6, "us")
def _():
    program = """mesh [X=4, Y=4, Z=4];
fn main(x: bf16[1024@X, 4096@Y] unreduced(Z)) -> bf16[1024@X, 4096@Y] { return x; }
"""
    return for_many(4, predict("book-v4:4x4x4", program)["communication_seconds"]) * 1e6


@figure("S16: all-gather over X of bf16[128@X]: two hops", 2, "us")
def _():
    return moved("book-v4:4x4x4", "X=4, Y=4, Z=4", "128@X", "128") * 1e6


@figure("S24: all-to-all over all-gather, a ring of 16", 1 / 4 / (15 / 16), "")
def _():
    on = "book-v5e:16x16"
    return moved(on, "X=16, Y=16", "4096@X, 4096", "4096, 4096@X") / moved(on, "X=16, Y=16", "4096@X, 4096", "4096, 4096")


@figure("S25: all-to-all over all of a v4 8x4x4", 16384 * 16384 * 2 * 8 / (4 * 128 * 9e10) * 1e6, "us")
def _():
    return moved("book-v4:8x4x4", "X=128", "16384@X, 16384", "16384, 16384@X") * 1e6


@figure("X3: FLOPs of all chips over those needed, A[B@X, D@Y] W[D@Y, F] on 4x8x4", 4, "")
def _():
    cost = predict("book-v5p", matmul("X=4, Y=8, Z=4", "512@X, 1024@Y", "1024@Y, 1024"))
    dots = sum(op["flops"] for op in cost["ops"] if op["flops"] and op["bound"] == "mxu" or op["kind"] == "dot")
    return dots * 128 / (2 * 512 * 1024 * 1024)


@figure("X11: a KV cache of 8,192 tokens, 64 layers, 8,192 wide, int8", 8 * 2 ** 30, "B")
def _():
    return predict("book-v5p", "mesh [X=1];\nfn main(kv: i8[2, 64, 8192, 8192]) { return kv; }\n")["memory_peak"]


def fsdp(axes, batch, target="book-v5p"):
    """A layer whose weight is gathered: tokens a chip at which it computes as long as it gathers."""
    names = ",".join(name for name, _ in axes)
    n = math.prod(size for _, size in axes)
    mesh = ", ".join("%s=%d" % axis for axis in axes)
    return predict(target, matmul(mesh, "%d@(%s), 8192" % (batch * n, names), "8192, 32768@(%s)" % names, out="%d@(%s), 32768" % (batch * n, names)))


@figure("P2: tokens a chip from which fully sharded data parallelism computes longer, v5p, one axis of 16",
        4.59e14 / 1.8e11, "tokens")
def _():
    def difference(b):
        cost = fsdp([("X", 16)], int(b))
        return cost["compute_seconds"] - cost["communication_seconds"]
    return for_many(16, crossing(100, 10000, difference))


@figure("P2: ... three axes of 8", 4.59e14 / 1.8e11 / 3, "tokens")
def _():
    def difference(b):
        cost = predict("book-v5p:8x8x8", matmul("X=8, Y=8, Z=8", "%d@(X,Y,Z), 8192" % (int(b) * 512), "8192, 32768@(X,Y,Z)", out="%d@(X,Y,Z), 32768" % (int(b) * 512)))
        return cost["compute_seconds"] - cost["communication_seconds"]
    return crossing(100, 10000, difference)


@figure("P5: ways of tensor parallelism at which F=30,000 is bound by links, v5p: F/Y at the balance", 4.59e14 / 1.8e11, "F/Y")
def _():
    # gather of x over Y, then the product with a slice of W: 2BDF/(Y C) against 2BD (Y-1)/(Y W)
    def difference(f):
        f = int(f) // 8 * 8
        cost = predict("book-v5p", "mesh [Y=8];\nfn main(x: bf16[16384, 8192@Y], w: bf16[8192, %d@Y]) -> bf16[16384, %d@Y] { return einsum(\"bd,df->bf\", x, w); }\n" % (f, f))
        return cost["compute_seconds"] - cost["communication_seconds"]
    return for_many(8, crossing(800, 80000, difference) / 8)


@figure("I2: KV cache of LLaMA-2 13B, 8,192 tokens, bf16", 8192 * 40 * 128 * 40 * 2 * 2, "B")
def _():
    return predict("book-v5p", "mesh [X=1];\nfn main(kv: bf16[2, 40, 8192, 40, 128]) { return kv; }\n")["memory_peak"]


def step_of(bytes_a_device, target):
    return computing(predict(target, reads("X=1", int(bytes_a_device), "i8")))


for batch, value in ((8, 12.134146341463415), (16, 20.304878048780488), (64, 69.32926829268294), (240, 249.08536585365854)):
    figure("I3: LLaMA-2 13B on 8 v5e reads its weights and %d caches" % batch, value, "ms")(
        lambda batch=batch: step_of((6.7e9 * batch + 26e9) / 8, "book-v5e-82") * 1e3)
for batch, value in ((8, 5.597560975609756), (16, 7.231707317073171), (64, 17.03658536585366), (240, 52.98780487804878)):
    figure("I3: ... with a fifth of the heads, %d caches" % batch, value, "ms")(
        lambda batch=batch: step_of((1.34e9 * batch + 26e9) / 8, "book-v5e-82") * 1e3)


@figure("I8: 18.4 GB of int8 parameters read by 16 v5e", 18.4e9 / (8.1e11 * 16) * 1e3, "ms")
def _():
    return step_of(18.4e9 / 16, "book-v5e") * 1e3


@figure("A1: KV cache of LLaMA-3 70B, int8, 32k tokens", 2 * 8 * 128 * 80 * 32768, "B")
def _():
    return predict("book-v5e", "mesh [X=1];\nfn main(kv: i8[2, 80, 32768, 8, 128]) { return kv; }\n")["memory_peak"]


@figure("A3: a step of LLaMA-3 70B on 8 v5e, 112 GB", 112e9 / (8 * 8.1e11) * 1e3, "ms")
def _():
    return step_of(112e9 / 8, "book-v5e") * 1e3


@figure("A3: ... on 16", 112e9 / (16 * 8.1e11) * 1e3, "ms")
def _():
    return step_of(112e9 / 16, "book-v5e") * 1e3


def a10():
    program = """mesh [X=4, Y=8];
fn main(x: bf16[64, 8192@(X,Y)], w: bf16[8192, 28672@(X,Y)]) -> bf16[64, 28672@(X,Y)] {
  return einsum("bd,df->bf", x, w);
}
"""
    return predict("book-v5e", program)


@figure("A10: 70B on 32 v5e, a batch of 64: reading a weight in bf16", 2 * 8192 * 28672 / (32 * 8.1e11) * 1e6, "us")
def _():
    dot = next(op for op in a10()["ops"] if op["kind"] == "dot")
    return (2 * 8192 * 28672 / 32) / dot["hbm_bytes"] * dot["seconds"] * 1e6


@figure("A10: ... its FLOPs", 2 * 64 * 8192 * 28672 / (32 * 1.97e14) * 1e6, "us")
def _():
    dot = next(op for op in a10()["ops"] if op["kind"] == "dot")
    return dot["flops"] / 1.97e14 * 1e6


@figure("J1: x[8@X, 2048@Y] W[2048@Y, 8192] on 4x2: bytes an all-reduce of [2, 8192] brings", 2 * 8192 * 2 * 2 / 2, "B")
def _():
    cost = predict("book-v5e", matmul("X=4, Y=2", "8@X, 2048@Y", "2048@Y, 8192", out="8@X, 8192"))
    return sum(op["wire_bytes"] for op in cost["ops"] if op["kind"] == "all-reduce")


def main():
    failed = 0
    print("TAP version 13")
    for i, (name, value, unit, function) in enumerate(CHECKS, 1):
        try:
            seen = function()
            good = abs(seen - value) <= 0.02 * value
            text = "%s: %.4g %s, predicted %.4g (%+.2f %%)" % (name, value, unit, seen, 100 * (seen - value) / value)
        except (RuntimeError, StopIteration, KeyError) as error:
            good, text = False, "%s: %s" % (name, error)
        failed += not good
        print("%sok %d - %s" % ("" if good else "not ", i, text.replace("#", "").replace("\n", " ")))
    print("1..%d" % len(CHECKS))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
