#!/usr/bin/env python3
"""Figures of "How to Scale Your Model" against what shdc predicts.

    book_checks.py SHDC            TAP, a line a row of book.tsv

The constants are the book's (book-*.target here: nothing takes time to start, the
units reach their peaks, latency hides behind data), so that what is compared is the
model and not what is assumed of the hardware.  A figure is that of the book's formula,
worked out in full; what is predicted may differ by 2%.  The book has V/W for a gather
over a ring, the limit for many devices; exact is V (N-1) / (N W), and so what is
predicted for N is compared times N / (N-1) where a row says "for many".  A row of
book.tsv without a check and without a reason fails, and so does one with both.
"""
import functools
import math
import os
import sys

from book import (HERE, V4, V5E, V5E_82, V5P, balanced, bound_by_flops, crossing, for_many, intensity, matmul,
                  memory, moved, ops, predict, product_flops, products, reads, shapes, target)

CHECKS = {}     # (id, which of its rows): what is predicted


def figure(name, number=1):
    def add(function):
        if (name, number) in CHECKS:
            raise KeyError("%s %d is there twice" % (name, number))
        CHECKS[name, number] = function
        return function
    return add


# ---- rooflines ---------------------------------------------------------------------

def flops_1e12(on):
    return predict(on, matmul("X=1", "5000, 10000", "10000, 10000"))["compute_seconds"] * 1e3


figure("R1", 1)(lambda: flops_1e12(target("book-v5e", bf16_flops=9.89e14)))
figure("R1", 2)(lambda: flops_1e12(target("book-v5e", bf16_flops=9.1e14)))


def critical_batch(on, dtype):
    """A product of b rows with d x d has the intensity 2 / (1/b + 2/d) over its bytes a number."""
    d = 65536
    b = bound_by_flops(on, 2, 4096, lambda n: matmul("X=1", "%d, %d" % (n, d), "%d, %d" % (d, d), dtype=dtype))
    return 1 / (1 / b + 2 / d)


figure("R2")(lambda: critical_batch(V5E_82, "bf16"))
figure("R5", 1)(lambda: critical_batch(V5E, "i8") * 2)
figure("R5", 2)(lambda: critical_batch(V5E, "i8"))


@figure("R3", 1)
def _():
    # seconds of a byte over seconds of a FLOP of the vector unit
    on = target("book-v5p", vector_flops=7e12, hbm_bandwidth=2.5e12)
    program = "mesh [X=1];\nfn main(x: bf16[1_000_000]) { return %s; }\n"
    few, many = (predict(on, program % "*".join(["x"] * n))["ops"][0] for n in (2, 100))
    if (few["bound"], many["bound"]) != ("hbm", "vpu"):
        raise RuntimeError("bound by %s and %s" % (few["bound"], many["bound"]))
    return few["seconds"] / few["hbm_bytes"] / (many["seconds"] / many["flops"])


@figure("R3", 2)
def _():
    return intensity(predict(V5P, 'mesh [X=1];\nfn main(x: bf16[1_000_000], y: bf16[1_000_000]) { return einsum("n,n->", x, y); }\n'))


figure("R4")(lambda: balanced(V5E, 1000, 40000, lambda d: matmul(
    "X=2", "4096, %d@X" % (d // 2 * 2), "%d@X, 4096" % (d // 2 * 2), out="4096, 4096")))


@figure("F3")
def _():
    program = 'mesh [X=1];\nfn main(x: bf16[8, 1024, 8192], w: bf16[8192, 8, 256]) { return einsum("btd,dhk->bthk", x, w); }\n'
    return predict(target("book-v5e", bf16_flops=2.3e13), program)["compute_seconds"] * 1e3


def product_on_b200(rows):
    on = target("book-v5e", bf16_flops=2.3e15, hbm_bandwidth=8e12)
    return predict(on, matmul("X=1", "%d, 4096" % rows, "4096, 8192"))["compute_seconds"] * 1e6


figure("G4", 1)(lambda: product_on_b200(64))
figure("G4", 2)(lambda: product_on_b200(512))


def sum_on_h100(size):
    program = "mesh [X=1];\nfn main(x: f32[%d], y: f32[%d]) { return x + y; }\n" % (size, size)
    return predict(target("book-v5e", hbm_bandwidth=3.35e12, vector_flops=6.7e13), program)["compute_seconds"]


figure("G5", 1)(lambda: sum_on_h100(65536) * 1e6)
figure("G5", 2)(lambda: sum_on_h100(2 ** 30) * 1e3)


ON_CHIP = target("book-v5e", hbm_bandwidth=8.2e11, on_chip_bytes=10 ** 13)    # what is between products is never written


@figure("HP1")
def _():
    program = "mesh [X=1];\nfn main(a: bf16[4096, 4096], b: bf16[4096, 4096]) { return relu(matmul(a, b)); }\n"
    return 1 - predict(ON_CHIP, program)["hbm_bytes"] / predict(V5E, program)["hbm_bytes"]


def attention(queries, keys, groups=1):
    """Of two kv heads, each of so many groups of queries."""
    return """mesh [X=1];
fn main(q: bf16[4, %d, 2, %d, 128], k: bf16[4, %d, 2, 128], v: bf16[4, %d, 2, 128]) {
  let scores = softmax(einsum("btkgh,bskh->bkgts", q, k));
  return einsum("bkgts,bskh->btkgh", scores, v);
}
""" % (queries, groups, keys, keys)


def intensity_of_attention(queries, keys, groups):
    cost = predict(ON_CHIP, attention(queries, keys, groups))
    return product_flops(cost) / cost["hbm_bytes"]


figure("X5", 1)(lambda: intensity_of_attention(1024, 1024, 8))
figure("X5", 2)(lambda: intensity_of_attention(1, 8192, 8))
figure("I11")(lambda: bound_by_flops(ON_CHIP, 100, 4000, lambda n: attention(n, n)))


def square(n, dtype):
    return matmul("X=1", "%d, %d" % (n, n), "%d, %d" % (n, n), dtype=dtype)


figure("PM1", 1)(lambda: intensity(predict(V5E, square(1024, "f32"))))
figure("PM1", 2)(lambda: bound_by_flops(V5E_82, 100, 10000, lambda n: square(n, "f32")))
figure("PM1", 3)(lambda: intensity(predict(V5E, square(1024, "bf16"))))


# ---- what is read --------------------------------------------------------------------

def step_of(size, on):
    """Milliseconds of a device that reads so many bytes."""
    return predict(on, reads("X=1", int(size), "i8"))["compute_seconds"] * 1e3


figure("T1")(lambda: step_of(400e9 / 32, target("book-v4", hbm_bandwidth=1.23e12)))
for batch in (8, 16, 64, 240):
    figure("I3.%d" % batch, 1)(lambda batch=batch: step_of((6.7e9 * batch + 26e9) / 8, V5E_82))
    figure("I3.%d" % batch, 2)(lambda batch=batch: step_of((1.34e9 * batch + 26e9) / 8, V5E_82))
figure("I8")(lambda: step_of(18.4e9 / 16, V5E))
figure("A3", 1)(lambda: step_of(112e9 / 8, V5E))
figure("A3", 2)(lambda: predict(V5E, reads("X=8", "112_000_000_000@X", "i8"), "--tokens=32")["tokens_per_second"])
figure("A3", 3)(lambda: CHECKS["A3", 2]() / 8)
figure("A3", 4)(lambda: step_of(112e9 / 16, V5E))


# ---- memory --------------------------------------------------------------------------

figure("S1", 1)(lambda: memory("f32[1024@(X,Y), 4096]", mesh="X=8, Y=2"))
figure("S1", 2)(lambda: predict(target("book-v5e", hbm_bandwidth=3.4e12), reads("X=8, Y=2", "1024@(X,Y), 4096", "f32"))["ops"][0]["seconds"] * 1e9)
figure("S2", 1)(lambda: memory("i8[128@(X,Y), 2048]", mesh="X=2, Y=8, Z=2"))
figure("S2", 2)(lambda: memory("i8[128@(X,Y), 2048]", mesh="X=2, Y=8, Z=2") * 32 / 1024)
figure("S3")(lambda: shapes("X=4, Y=2", "fn main(a: bf16[8@X, 2048@Y], b: bf16[2048, 8192@Y]) { return a, b; }\n"))
figure("S12")(lambda: memory("bf16[64@X, 64, 64]", mesh="X=4, Y=8, Z=2") * 64 / (64 ** 3 * 2))


@figure("X2", 1)
def _():
    attention = memory("i8[64, 4, 4096, 4096]")
    return attention / (attention + memory("i8[64, 3, 4096, 16384]"))


figure("X2", 2)(lambda: memory("i8[2, 64, 4096]"))
figure("X11")(lambda: memory("i8[2, 64, 8192, 8192]") / 2 ** 30)
figure("I2")(lambda: memory("bf16[2, 40, 8192, 40, 128]") / 1e9)
figure("I5", 2)(lambda: memory("i8[16, 8192]") / 1e3)


def mixture(experts):
    return memory("i8[64, 3, %d, 4096, 16384]" % experts, "i8[64, 2, 4096, 256, 40]", "i8[4096, 32128]")


figure("I9", 1)(lambda: mixture(16))
figure("I9", 2)(lambda: mixture(2))


@figure("I9", 3)
def _():
    # two of 16 experts: each meets an eighth of the tokens
    d = 16384
    b = bound_by_flops(V5E_82, 2, 4096, lambda n: """mesh [X=1];
fn main(x: bf16[16, %d, %d], w: bf16[16, %d, %d]) { return einsum("ebd,edf->ebf", x, w); }
""" % (n, d, d, d))
    return 8 / (1 / b + 2 / d)


def adam(parameters):
    """bf16, and two moments in f32."""
    return memory("bf16[%d]" % parameters, "f32[2, %d]" % parameters)


figure("P1")(lambda: crossing(1e9, 1e11, lambda n: adam(int(n)) - 96e9))


def caches(n, tokens=8192, dtype="i8"):
    return memory("%s[%d, 2, 80, %d, 8, 128]" % (dtype, n, tokens))


figure("A1", 1)(lambda: caches(1, 1))
figure("A1", 2)(lambda: caches(1, 32768) / 1e9)
figure("A1", 3)(lambda: (memory("i8[70_000_000_000]") + caches(240, 32768)) / 16e9)
figure("A1", 4)(lambda: caches(240, 32768))
figure("A2", 1)(lambda: (memory("i8[70_000_000_000]") + caches(32)) / 1e9)
figure("A2", 2)(lambda: (memory("i8[70_000_000_000]") + caches(32)) / 16e9)
figure("A5", 1)(lambda: (16 * 16e9 - memory("bf16[70_000_000_000]")) / caches(1, dtype="bf16"))
figure("A5", 2)(lambda: (8 * 16e9 - memory("i8[70_000_000_000]")) / caches(1))
figure("A5", 3)(lambda: (4 * 16e9 - memory("i8[35_000_000_000]")) / caches(1, tokens=4096))   # two int4 a byte


# ---- collectives -----------------------------------------------------------------------

def corner_to_corner(program):
    return predict(V5E + ":4x4", """mesh [x=4, y=4];
manual fn send(v: %s) -> %s { return ppermute(v, (x, y), perm=((0, 15),)); }
fn main(v: %s) { return send(v); }
""" % (program, program, program))["communication_seconds"] * 1e6


figure("T7", 1)(lambda: corner_to_corner("i8[4@x, 4@y]"))
figure("T7", 2)(lambda: corner_to_corner("bf16[8@x, 2048@y, 8192]"))


def collectives(program, *kinds):
    return sum(op["kind"] in kinds for op in predict(V5E, program)["ops"])


figure("S5")(lambda: collectives(matmul("X=4", "1024, 1024@X", "1024, 65536", out="1024, 65536"), "all-gather", "all-reduce"))
figure("S7")(lambda: collectives(matmul("X=4", "1024@X, 1024", "1024, 1024@X", out="1024@X, 1024"), "all-gather"))
figure("S9", 1)(lambda: for_many(4, moved(V5E, "X=8, Y=4", "2048@Y, 8192", "2048, 8192")) * 1e6)
figure("S9", 2)(lambda: moved(V5E + ":8x4", "X=8, Y=4", "2048@Y, 8192", "2048, 8192") * 1e6)
CUBE = V4 + ":4x4x4", "X=4, Y=4, Z=4"
figure("S13")(lambda: for_many(4, moved(*CUBE, "1024@X, 4096@Y", "1024, 4096@Y")) * 1e6)
figure("S14")(lambda: for_many(16, moved(*CUBE, "1024@(X,Y), 4096", "1024, 4096")) * 1e6)
figure("S15")(lambda: for_many(4, predict(CUBE[0], """mesh [X=4, Y=4, Z=4];
fn main(x: bf16[1024@X, 4096@Y] unreduced(Z)) -> bf16[1024@X, 4096@Y] { return x; }
""")["communication_seconds"]) * 1e6)
figure("S16")(lambda: moved(*CUBE, "128@X", "128") * 1e6)


@figure("S21")
def _():
    scattered = predict(V5E, matmul("X=4", "1024, 8192@X", "8192@X, 2048", out="1024, 2048@X"))
    if [op["kind"] for op in scattered["ops"] if op["axes"]] != ["reduce-scatter"]:
        raise RuntimeError("no reduce-scatter")
    return moved(V5E, "X=4", "1024, 8192@X", "1024, 8192") / scattered["communication_seconds"]


RING = V5E + ":16x16", "X=16, Y=16"
BOTH_WAYS = {"all-gather": "2048, 2048", "all-to-all": "2048, 2048@X"}


@functools.lru_cache(None)
def one_way(kind):
    """A ring of 16 that sends to one side only; in an all-to-all a block less each time."""
    every = kind == "all-gather"
    block, others = ("", "") if every else ("[:, 0:128]", "[:, 128:]")
    steps = ["let p%d = ppermute(p%d%s, X, shift=1);" % (i + 1, i, others) for i in range(15)]
    return predict(RING[0], """mesh [%s];
manual fn ring(p0: bf16[2048@X, 2048]) -> bf16[2048@X, %d] {
  %s
  return %s;
}
fn main(x: bf16[2048@X, 2048]) { return ring(x); }
""" % (RING[1], 2048 if every else 128, "\n  ".join(steps), " + ".join("p%d%s" % (i, block) for i in range(16))))


def one_way_over_both(kind):
    return one_way(kind)["communication_seconds"] / moved(*RING, "2048@X, 2048", BOTH_WAYS[kind])


figure("S22")(lambda: one_way("all-gather")["wire_bytes"] / 2)
figure("S23")(lambda: one_way("all-to-all")["wire_bytes"] / 2)
figure("S24", 1)(lambda: one_way_over_both("all-gather"))
figure("S24", 2)(lambda: for_many(16, one_way_over_both("all-to-all")))
figure("S24", 3)(lambda: moved(*RING, "4096@X, 4096", "4096, 4096@X") / for_many(16, moved(*RING, "4096@X, 4096", "4096, 4096")))
figure("S25")(lambda: moved(V4 + ":8x4x4", "X=128", "16384@X, 16384", "16384, 16384@X") * 1e6)


@figure("I5", 1)
def _():
    # where the time of few bytes, all of it hops, is that of many
    hops, many = (moved(V5E, "X=8", "%d@X" % n, str(n), "i8") for n in (64, 1 << 30))
    return hops / (for_many(8, many) / (1 << 30)) / 1e3


@figure("J1")
def _():
    program = matmul("X=4, Y=2", "8@X, 2048@Y", "2048@Y, 8192", out="8@X, 8192")
    first, rest = program.split("\n", 1)
    brought = sum(op["wire_bytes"] for op in ops(predict(V5E, program), "all-reduce"))     # 2 V / 2
    return "%s bf16[2, %d]" % (shapes(first[6:-2], rest), brought / 2 / 2)


@figure("J4")
def _():
    with open(os.path.join(HERE, "..", "..", "samples", "published", "collective_matmul.shd"), encoding="utf-8") as source:
        cost = predict(V5E + ":2x4", source.read(), "--entry=by_hand")
    return "%d %d" % (len(products(cost)), len(ops(cost, "collective-permute")))


# ---- FLOPs -----------------------------------------------------------------------------

def x3():
    return product_flops(predict(V5P, matmul("X=4, Y=8, Z=4", "512@X, 1024@Y", "1024@Y, 1024")))


figure("X3", 1)(lambda: 2 * 512 * 1024 * 1024 / x3())
figure("X3", 2)(lambda: x3() * 128 / (2 * 512 * 1024 * 1024))


ATTENTION = """
fn attention(q: bf16[T, D], k: bf16[T, D], v: bf16[T, D]) -> f32 {
  return sum(f32(matmul(softmax(einsum("td,sd->ts", q, k)), v)));
}
"""
PROJECTIONS = """
fn products(x: bf16[T, D], W: bf16[4, D, D]) -> f32 {
  return sum(f32(matmul(x, W[0]) + matmul(x, W[1]) + matmul(x, W[2]))) + sum(f32(matmul(x, W[3])));
}
"""
LAYER = """
fn products(x: bf16[T, D], W: bf16[4, D, D], up: bf16[2, D, 4 * D], down: bf16[4 * D, D]) -> f32 {
  let a = matmul(x, W[0]) * matmul(x, W[1]) + matmul(x, W[2]);
  let h = matmul(a, W[3]);
  return sum(f32(matmul(matmul(h, up[0]) * matmul(h, up[1]), down)));
}
"""
QKV = "q: bf16[T, D], k: bf16[T, D], v: bf16[T, D]"


def as_many_flops(d, attention, products):
    """Tokens from which attention has the FLOPs of the products."""
    def difference(t):
        head = "mesh [X=1];\ndim T = %d, D = %d;\n" % (t, d)
        return product_flops(predict(V5P, head + attention)) - product_flops(predict(V5P, head + products))
    return crossing(d, 16 * d, difference)


figure("X6")(lambda: as_many_flops(
    4096, ATTENTION + "fn main(%s) { return attention(q, k, v); }\n" % QKV,
    PROJECTIONS + "fn main(x: bf16[T, D], W: bf16[4, D, D]) { return products(x, W); }\n"))


def trained(d):
    return as_many_flops(
        d, ATTENTION + "fn main(%s) { return value_and_grad(attention)(q, k, v); }\n" % QKV,
        LAYER + """fn main(x: bf16[T, D], W: bf16[4, D, D], up: bf16[2, D, 4 * D], down: bf16[4 * D, D]) {
  return value_and_grad(products)(x, W, up, down);
}
""")


figure("X10", 1)(lambda: trained(8192))
figure("X10", 2)(lambda: trained(4608))


# ---- training --------------------------------------------------------------------------

def layers(tokens, weights, body):
    """A gradient by the weights of 80 layers."""
    return """mesh [X=1];
dim D = 8192, T = %d;
fn f(x: bf16[T, D], W: %s) -> f32 {
  var y = x;
  for w in W { %s }
  return sum(f32(y));
}
fn main(x: bf16[T, D], W: %s) { return grad(f, wrt=(W))(x, W); }
""" % (tokens, weights, body, weights)


@functools.lru_cache(None)
def of_70b(efficiency=1.0):
    """FLOPs and seconds of one of 65,536 tokens that train 70e9 parameters, on a v5p."""
    tokens, f = 65536, round(70e9 / 80 / 2 / 8192)
    cost = predict(target("book-v5p", matrix_efficiency=efficiency),
                   layers(tokens, "bf16[80, 2, %d, D]" % f, 'y = matmul(einsum("td,fd->tf", y, w[0]), w[1]);'))
    if any(op["bound"] != "mxu" for op in products(cost)):
        raise RuntimeError("bound by memory")
    return product_flops(cost) / tokens, sum(op["seconds"] for op in products(cost)) / tokens


YEAR = 365 * 86400
figure("L2", 1)(lambda: of_70b()[0])
figure("L2", 2)(lambda: of_70b()[1] * 1e3)
figure("L3", 1)(lambda: of_70b()[0] * 15e12)
figure("L3", 2)(lambda: of_70b()[1] * 15e12 / YEAR)
figure("L4", 1)(lambda: of_70b(0.4)[1] * 15e12 / 8960)
figure("L4", 2)(lambda: of_70b(0.4)[1] * 15e12 / 8960 / 86400)


@functools.lru_cache(None)
def checkpoints():
    program = layers(4_000_000, "bf16[80, 4, D, D]", "for unroll i in 0..4 { y = matmul(y, w[i]); }")
    return predict(V5P, program, emit="memory.json")["kinds"]["backward"]


def chips_that_hold():
    return (checkpoints() + adam(70_000_000_000)) / 96e9


figure("L5", 1)(lambda: checkpoints() / 1e12)
figure("L5", 2)(chips_that_hold)
figure("L5", 3)(lambda: of_70b(0.4)[1] * 15e12 / chips_that_hold() / 86400)


# ---- computing against links -----------------------------------------------------------

def sharded_data(b, axes, f, d=8192):
    """b tokens a chip against weights that are gathered over (name, size)s."""
    names, n = ",".join(name for name, _ in axes), math.prod(size for _, size in axes)
    return matmul(", ".join("%s=%d" % axis for axis in axes), "%d@(%s), %d" % (b * n, names, d),
                  "%d, %d@(%s)" % (d, f, names), out="%d@(%s), %d" % (b * n, names, f))


@functools.lru_cache(None)
def tokens_a_chip(topology, *sizes):
    axes = list(zip("XYZ", sizes))
    n = math.prod(sizes)
    return for_many(n, balanced(V5P + topology, 100, 10000, lambda b: sharded_data(b, axes, 4 * n if n > 4096 else 32768)))


figure("P2", 1)(lambda: tokens_a_chip("", 16))
figure("P2", 2)(lambda: tokens_a_chip(":8x8x8", 8, 8, 8))
figure("P2", 3)(lambda: tokens_a_chip(":16x20x28", 16, 20, 28) * 8960)
figure("P3")(lambda: 40e6 / tokens_a_chip(":8x8x8", 8, 8, 8))


def tensor_parallel(f, n, b=16384):
    return """mesh [Y=%d];
fn main(x: bf16[%d, 8192@Y], w: bf16[8192, %d@Y]) -> bf16[%d, %d@Y] { return einsum("bd,df->bf", x, w); }
""" % (n, b, f, b, f)


def ways(on, f, n):
    """x is gathered as long as n ways compute; with others, computing is as 1/n."""
    cost = predict(on, tensor_parallel(f, n))
    return n * cost["compute_seconds"] / for_many(n, cost["communication_seconds"])


figure("P5", 1)(lambda: ways(V5P, 30000, 8))
figure("P5", 2)(lambda: ways(V5P, 50000, 8))
figure("P5", 3)(lambda: for_many(8, balanced(V5P, 800, 80000, lambda f: tensor_parallel(f // 8 * 8, 8))))
figure("A9", 1)(lambda: ways(target("book-v5e", hbm_bandwidth=1e16) + ":16x16", 28672, 256))


def gpus(flops, bandwidth):
    """Behind a switch: a ring whose two links together have what a GPU has."""
    return target("book-v5e", bf16_flops=flops, hbm_bandwidth=8e12, link_bandwidth=bandwidth / 2)


def gather_bandwidth(n, bandwidth):
    return 2 ** 30 / moved(gpus(9.9e14, bandwidth), "X=%d" % n, "%d@X" % 2 ** 30, "%d" % 2 ** 30, "i8") / 1e9


def tokens_a_gpu(n, on):
    return balanced(on, 100, 20000, lambda b: sharded_data(b, [("X", n)], 32768, 512))


figure("G8", 1)(lambda: gather_bandwidth(8, 4.5e11))
figure("G8", 2)(lambda: gather_bandwidth(32, 4e11))
figure("G8", 3)(lambda: gather_bandwidth(4, 1.28e13))
figure("G10", 1)(lambda: 65536 / ways(gpus(2.25e15, 9e11), 65536, 8))
figure("G10", 2)(lambda: for_many(16, tokens_a_gpu(16, gpus(2.25e15, 4e11))))
figure("G12")(lambda: tokens_a_gpu(2, gpus(9.9e14, 8e11)))      # two have one link


def ways_decoding(f, batch):
    """As ways(), of reading the weights."""
    on = target("book-v5e", hbm_bandwidth=7.2e11)       # 8 times the links
    cost = predict(on, tensor_parallel(f, 8, batch))
    dot = ops(cost, "dot")[0]
    reading = dot["seconds"] / dot["hbm_bytes"] * 2 * 8192 * f
    return reading / for_many(8, cost["communication_seconds"])


figure("I4")(lambda: ways_decoding(16384, 32))
figure("A9", 2)(lambda: ways_decoding(28672, 64))


@functools.lru_cache(None)
def mixed():
    """16 ways of data on two axes, 4 of tensors on one: seconds of x, of w, of the product, for many."""
    program = """mesh [X=16, Y=4];
fn main(x: bf16[48000@X, 8192@Y], w: bf16[8192@X, 32768@Y]) -> bf16[48000@X, 32768@Y] { return einsum("bd,df->bf", x, w); }
"""
    cost = predict(V5P + ":4x4x4", program, "--layout=X=(x,y),Y=z")
    seconds = {tuple(op["axes"]): op["seconds"] for op in ops(cost, "all-gather")}
    return for_many(4, seconds["Y",]), for_many(16, seconds["X",]), ops(cost, "dot")[0]["seconds"]


@figure("P6")
def _():
    # x takes as 1/X, w as X: least where they are equal
    x, w, _ = mixed()
    return 16 * math.sqrt(x / w)


@figure("P7")
def _():
    # what is computed may take as long as either; of 48,000 tokens on 64 chips
    x, w, product = mixed()
    return 48000 / 64 / (product / x * product / w)


figure("P8")(lambda: 4096 * CHECKS["P7", 1]())


def a10():
    return predict(V5E + ":4x8", """mesh [X=4, Y=8];
fn main(x: bf16[64, 8192@(X,Y)], w: bf16[8192, 28672@(X,Y)]) -> bf16[64, 28672@(X,Y)] { return einsum("bd,df->bf", x, w); }
""")


figure("A10", 1)(lambda: for_many(32, a10()["communication_seconds"]) * 1e6)


@figure("A10", 2)
def _():
    dot = ops(a10(), "dot")[0]
    return (2 * 8192 * 28672 / 32) / dot["hbm_bytes"] * dot["seconds"] * 1e6


figure("A10", 3)(lambda: ops(a10(), "dot")[0]["flops"] / 1.97e14 * 1e6)


# ---- the table -------------------------------------------------------------------------

def rows():
    """((id, which of its rows), what, value, unit, reason)"""
    numbers = {}
    with open(os.path.join(HERE, "book.tsv"), encoding="ascii") as table:
        for line in table:
            if not line.startswith("#"):
                name, what, value, unit, reason = (line.rstrip("\n").split("\t") + ["", ""])[:5]
                numbers[name] = numbers.get(name, 0) + 1
                yield (name, numbers[name]), what, eval(value, {"sqrt": math.sqrt}), unit, reason


def compare(value, seen):
    """Whether it is met, and how it is told."""
    if isinstance(value, str):
        return seen == value, "%s, predicted %s" % (value, seen)
    return abs(seen - value) <= 0.02 * value, "%.4g, predicted %.4g (%+.2f %%)" % (value, seen, 100 * (seen - value) / value)


def check(key, value, reason):
    if reason:
        return key not in CHECKS, "# SKIP " + reason
    if key not in CHECKS:
        return False, "neither a check nor a reason"
    try:
        return compare(value, CHECKS[key]())
    except (RuntimeError, IndexError, KeyError) as error:
        return False, repr(error)


def main():
    n = failed = 0
    print("TAP version 13")
    for n, (key, what, value, unit, reason) in enumerate(rows(), 1):
        good, text = check(key, value, reason)
        failed += not good
        print("%sok %d - %s.%d %s (%s): %s" % ("" if good else "not ", n, *key, what, unit or "number", text.replace("\n", " ")))
    print("1..%d" % n)
    unlisted = sorted(CHECKS.keys() - {row[0] for row in rows()})
    for key in unlisted:
        print("Bail out! %s.%d is no row of book.tsv" % key)
    return failed > 0 or bool(unlisted)


if __name__ == "__main__":
    sys.exit(main())
