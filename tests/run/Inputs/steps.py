#!/usr/bin/env python3
"""--steps against the same steps one by one, each begun with the file of the one before.

    steps.py SHDC

Built and interpreted, N steps are those of N runs; and half of them, a file and the other
half are all of them, bit for bit.  On another mesh they are so where nothing is summed, else
near, as a library may sum in another order for fewer columns; --check has the last step
there.  TAP.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

SHDC = sys.argv[1].split()
FORMATS = {"F32": "f", "I32": "i"}

# Two layers, AdamW, a batch in two: gradients are sums over the devices.
ADAMW = """import "optim.shd";
mesh [X=2];
dim B = 8, D = 4, F = 8;
fn loss(x: f32[B@X, D], t: f32[B@X, D], W: f32[D, F], V: f32[F, D]) -> f32 {
  return mean(square(matmul(tanh(matmul(x, W)), V) - t));
}
fn main(x: f32[B@X, D], t: f32[B@X, D], W: f32[D, F], V: f32[F, D], m1: f32[D, F@X],
        m2: f32[F@X, D], v1: f32[D, F@X], v2: f32[F@X, D], step: i32)
    -> (loss: f32, W: f32[D, F], V: f32[F, D], m1: f32[D, F@X], m2: f32[F@X, D],
        v1: f32[D, F@X], v2: f32[F@X, D], step: i32) {
  let (l, g1, g2) = value_and_grad(loss, wrt=(W, V))(x, t, W, V);
  let (a, b, c) = adamw(W, g1, m1, v1, f32(step + 1), 1e-2, 0.9, 0.99, eps=1e-8, decay=0.01);
  let (d, e, f) = adamw(V, g2, m2, v2, f32(step + 1), 1e-2, 0.9, 0.99, eps=1e-8, decay=0.01);
  return l, a, d, b, e, c, f, step + 1;
}
"""
# One layer by columns: of what comes back nothing is a sum over devices.
COLUMNS = """import "optim.shd";
mesh [X=2];
dim B = 8, D = 6, F = 12;
fn loss(x: f32[B, D], t: f32[B, F@X], W: f32[D, F@X]) -> f32 {
  return sum(square(matmul(x, W) - t)) / 8.0;
}
fn main(x: f32[B, D], t: f32[B, F@X], W: f32[D, F@X], velocity: f32[D, F@X], step: i32)
    -> (W: f32[D, F@X], velocity: f32[D, F@X], step: i32) {
  let (w, v) = momentum(W, grad(loss, wrt=W)(x, t, W), velocity,
                        warm_up(f32(step), 0.01, 20.0), keep=0.9);
  return w, v, step + 1;
}
"""
# What changes places, goes round, is placed otherwise or padded, is a partial sum, stays.
PLACES = """mesh [X=2, Y=2];
fn main(a: i32[8@X], b: i32[8@X], p: i32[4], q: i32[4], r: i32[4], d: i32[8@Y, 4@X],
        e: i32[5@X pad, 3], f: i32[5@X pad, 3], g: f32[4] unreduced(Y), h: f32[2@Y, 4],
        k: i32[8@X], n: i32)
    -> (a: i32[8@X], b: i32[8@X], p: i32[4], q: i32[4], r: i32[4], d: i32[8@X, 4],
        e: i32[5@X pad, 3], f: i32[5@X pad, 3], g: f32[4] unreduced(Y), n: i32, s: i32) {
  let parts: [4] unreduced(Y) = sum(h, dim=0);
  return b, a, q, r, p + 1, d + n, f + 7, e, g * 0.3 + parts, n + 1,
    sum(e) + sum(f) * 3 + sum(a * k);
}
"""
PROGRAMS = [
    ("AdamW", ADAMW, 100, ["m1", "m2", "v1", "v2"], "X=4", False),
    ("momentum by columns", COLUMNS, 40, ["velocity"], "X=4", False),
    ("places", PLACES, 12, [], "X=4,Y=2", True),
]
count = failed = 0


def ok(good, name, note=""):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    if not good:
        print("# " + str(note).replace("\n", "\n# "))


def call(*command):
    r = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if r.returncode:
        raise RuntimeError("%s: status %d\n%s%s" % (" ".join(command), r.returncode,
                                                    r.stdout, r.stderr))


def read(path):
    """The numbers of each tensor of a .safetensors file."""
    with open(path, "rb") as f:
        data = f.read()
    n, = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, e in json.loads(data[8:8 + n]).items():
        begin, end = e["data_offsets"]
        tensors[name] = [x for x, in struct.iter_unpack(
            "<" + FORMATS[e["dtype"]], data[8 + n + begin:8 + n + end])]
    return tensors


def near(a, b):
    """Integers are equal; floats differ by what rounding makes of them in some steps."""
    return a.keys() == b.keys() and all(
        x == y or isinstance(x, float) and abs(x - y) <= 1e-4 * max(1, abs(y))
        for name in a for x, y in zip(a[name], b[name]))


def same(a, b):
    with open(a, "rb") as f, open(b, "rb") as g:
        return f.read() == g.read()


def in_halves(name, run, start, steps, whole):
    half = steps // 2
    state, end = name + ".half.safetensors", name + ".end.safetensors"
    run(*start, "--steps", str(half), "--out", state)
    run("--in", state, "--steps", str(steps - half), "--out", end)
    ok(same(whole, end), "%s: %d steps are %d, a file and %d" % (name, steps, half,
                                                                steps - half))


def on_another_mesh(name, steps, whole, other, other_run, exact):
    half = steps // 2
    state, end = name + ".half.safetensors", name + ".end.safetensors"
    other_run("--in", state, "--steps", str(steps - half), "--check", "--out", end)
    ok(same(whole, end) if exact else near(read(whole), read(end)),
       "%s: the file read on the mesh %s" % (name, other), (read(whole), read(end)))


def one_by_one(name, run, start, steps):
    """Of the first few."""
    steps = min(steps, 5)
    path = name + ".few.safetensors"
    run(*start, "--steps", str(steps), "--check", "--out", path)
    given = start
    for i in range(steps):
        one = "%s.%d.safetensors" % (name, i)
        run(*given, "--out", one)
        given = ["--in", one]
    ok(same(path, one), "%s: %d steps are so many runs" % (name, steps),
       (read(path), read(one)))


def test(name, text, steps, zeros, other, exact):
    source = name.replace(" ", "_") + ".shd"
    with open(source, "w") as f:
        f.write(text)
    call(*SHDC, source, "-o", "program")
    call(*SHDC, source, "--mesh", other, "-o", "other")
    start = ["--random", "step=0..1"] * ("step" in text)
    for zero in zeros:
        start += ["--random", zero + "=0..1e-30"]

    def built(*a):
        call("./program", *a)

    def on_other(*a):
        call("./other", *a)

    def interpreted(*a):
        call(*SHDC, "--interpret", source, "--", *a)

    for how, run in ("built", built), ("interpreted", interpreted):
        path = "%s.%s.safetensors" % (name, how)
        run(*start, "--steps", str(steps), "--out", path)
        one_by_one("%s, %s" % (name, how), run, start, steps)
        in_halves("%s, %s" % (name, how), run, start, steps, path)
    whole = name + ".built.safetensors"
    ok(near(read(whole), read(path)), "%s: built and interpreted" % name,
       (read(whole), read(path)))
    on_another_mesh(name + ", built", steps, whole, other, on_other, exact)


with tempfile.TemporaryDirectory() as folder:
    SHDC = [os.path.abspath(a) if os.path.exists(a) else a for a in SHDC]
    os.chdir(folder)
    for program in PROGRAMS:
        try:
            test(*program)
        except RuntimeError as wrong:
            ok(False, program[0], wrong)
print("1..%d" % count)
sys.exit(failed != 0)
