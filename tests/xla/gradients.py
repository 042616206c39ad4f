#!/usr/bin/env python3
"""Gradients of random programs against those of JAX.

    gradients.py SHDC [--seed S] [--first I] [--count N]

Programs of ../random/gradients.py, which are functions in .shd and in jax.numpy: of each
pair the results and the gradients are compared, in f64.  Two in three are `exact`: on -1,
0 and 1, of ops that are exact on whole numbers, so that elements are equal and at kinks all
the time, where it is said which subgradient is taken.  TIES are cases of their own, an op
each; so are FAR, of huge and tiny numbers, INFINITE, of rows with infinities, and MIXED, of
bf16 and f32.  CORNERS are pairs of all numbers at which something is infinite, unknown or
has a kink, whose second gradients are compared, too.

Exits 77 without jax.
"""
import argparse
import functools
import os
import subprocess
import sys
import tempfile

import back_end

back_end.use_devices(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "random"))
import gradients
try:
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

jax.config.update("jax_enable_x64", True)
CLOSE = 1e-9


def rms_norm(x, axis, eps):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=axis, keepdims=True) + eps)


def layer_norm(x, axis, eps):
    away = x - jnp.mean(x, axis=axis, keepdims=True)
    return away * jax.lax.rsqrt(jnp.mean(away * away, axis=axis, keepdims=True) + eps)


NAMES = {"jax": jax, "jnp": jnp, "rms_norm": rms_norm, "layer_norm": layer_norm}

# A function of x and y in both languages; of x and y what they are in turn.
NUMBERS = [-1.0, -0.0, 0.0, 1.0, 1.0, 2.0]
TIES = [
    ("max(x, dim=0)", "jnp.max(x, axis=0)"),
    ("max(x)", "jnp.max(x)"),
    ("min(x, dim=(0, 1))", "jnp.min(x)"),
    ("min(x, dim=1)", "jnp.min(x, axis=1)"),
    ("maximum(x, y)", "jnp.maximum(x, y)"),
    ("minimum(x, y)", "jnp.minimum(x, y)"),
    ("maximum(x, 1.0)", "jnp.maximum(x, 1.0)"),
    ("maximum(x, x)", "jnp.maximum(x, x)"),
    ("clamp(-1.0, x, 1.0)", "jnp.clip(x, -1.0, 1.0)"),
    ("clamp(y, x, 1.0)", "jnp.clip(x, y, 1.0)"),
    ("clamp(-1.0, x, y)", "jnp.clip(x, -1.0, y)"),
    ("clamp(y, x, y)", "jnp.clip(x, y, y)"),
    ("relu(x)", "jax.nn.relu(x)"),
    ("abs(x)", "jnp.abs(x)"),
    ("sign(x) * y", "jnp.sign(x) * y"),
    ("floor(x) + ceil(y) * y", "jnp.floor(x) + jnp.ceil(y) * y"),
    ("sort(x, dim=0)", "jnp.sort(x, axis=0)"),
    ("sort(x)", "jnp.sort(x)"),
    ("top_k(x, 3)[0]", "jax.lax.top_k(x, 3)[0]"),
    ("prod(x, dim=0)", "jnp.prod(x, axis=0)"),
    ("prod(x)", "jnp.prod(x)"),
    ("prod(x * y, dim=1)", "jnp.prod(x * y, axis=1)"),
    ("sqrt(abs(x))", "jnp.sqrt(jnp.abs(x))"),
    ("pow(x, 2.0)", "jnp.power(x, 2.0)"),
    ("pow(x, 1.0)", "jnp.power(x, 1.0)"),
    # not pow(0, 0): there JAX has NaN, and here x to the 0 is 1, which does not change
    ("pow(abs(x), y + 3.0)", "jnp.power(jnp.abs(x), y + 3.0)"),
    ("x / y", "x / y"),
    ("x % 2.0", "jax.lax.rem(x, jnp.full_like(x, 2.0))"),
    ("log(x)", "jnp.log(x)"),
    ("where(x > y, x, y)", "jnp.where(x > y, x, y)"),
    ("where(x == 0.0, 1.0, x * x)", "jnp.where(x == 0.0, 1.0, x * x)"),
    ("softmax(x)", "jax.nn.softmax(x)"),
    ("logsumexp(x, dim=0)", "jax.nn.logsumexp(x, axis=0)"),
    ("var(x, dim=1)", "jnp.var(x, axis=1)"),
    ("gelu(x)", "jax.nn.gelu(x)"),
    ("stop_gradient(x) * y + x", "jax.lax.stop_gradient(x) * y + x"),
    ("take(x, iota(i32[5]) * 3 - 4)", "jnp.take(x, jnp.clip(jnp.arange(5) * 3 - 4, 0, 3), axis=0)"),
    ("cumsum(x * y, dim=1)", "jnp.cumsum(x * y, axis=1)"),
]
# ... at the ends of what functions take
ENDS = [-1e3, -40.0, -3.0, -1e-30, 0.0, 1e-30, 3.0, 40.0, 1e3]
FAR = [
    ("softmax(x)", "jax.nn.softmax(x)"),
    ("softmax(where(x > 0.0, x, -inf))", "jax.nn.softmax(jnp.where(x > 0, x, -jnp.inf))"),
    ("log_softmax(x)", "jax.nn.log_softmax(x)"),
    ("logsumexp(where(x > 0.0, x, -inf), dim=1)",
     "jax.nn.logsumexp(jnp.where(x > 0, x, -jnp.inf), axis=1)"),
    ("logsumexp(x, dim=0)", "jax.nn.logsumexp(x, axis=0)"),
    ("log_softmax(where(x > 0.0, x, -1e30))", "jax.nn.log_softmax(jnp.where(x > 0, x, -1e30))"),
    ("sigmoid(x)", "jax.nn.sigmoid(x)"),
    ("silu(x)", "jax.nn.silu(x)"),
    ("gelu(x)", "jax.nn.gelu(x)"),
    ("gelu(x, approximate=false)", "jax.nn.gelu(x, approximate=False)"),
    ("tanh(x)", "jnp.tanh(x)"),
    ("erf(x)", "jax.lax.erf(x)"),
    ("exp(x)", "jnp.exp(x)"),
    ("expm1(x)", "jnp.expm1(x)"),
    ("log1p(x)", "jnp.log1p(x)"),
    ("log(x)", "jnp.log(x)"),
    ("rsqrt(x)", "jax.lax.rsqrt(x)"),
    ("sqrt(x)", "jnp.sqrt(x)"),
    ("x / y", "x / y"),
    ("pow(x, 3.0)", "jnp.power(x, 3.0)"),
    ("pow(x, 0.5)", "jnp.power(x, 0.5)"),
    ("pow(x, -1.0)", "jnp.power(x, -1.0)"),
    ("pow(abs(x), y * 0.01)", "jnp.power(jnp.abs(x), y * 0.01)"),
    ("rms_norm(x, eps=1e-6)", "rms_norm(x, 1, 1e-6)"),
    ("layer_norm(x, eps=1e-6)", "layer_norm(x, 1, 1e-6)"),
    ("var(x, dim=1)", "jnp.var(x, axis=1)"),
    ("prod(x, dim=1)", "jnp.prod(x, axis=1)"),
    ("x % y", "jax.lax.rem(x, y)"),
    ("where(x > 0.0, log(x), 0.0)", "jnp.where(x > 0, jnp.log(x), 0.0)"),
    ("max(where(x > 0.0, x, -inf), dim=1)", "jnp.max(jnp.where(x > 0, x, -jnp.inf), axis=1)"),
    ("cumsum(x, dim=0)", "jnp.cumsum(x, axis=0)"),
    ("mean(x*y, dim=0)", "jnp.mean(x*y, axis=0)"),
    ("sin(x)*cos(y)", "jnp.sin(x)*jnp.cos(y)"),
    ("clamp(y, x, 1.0)", "jnp.clip(x, y, 1.0)"),
    ("cross_entropy(x, iota(i32[4]))",
     "-jnp.take_along_axis(jax.nn.log_softmax(x), jnp.arange(4)[:, None], axis=1)[:, 0]"),
    ("take_along(x, iota(i32[4, 3], dim=1) * 2)",
     "jnp.take_along_axis(x, jnp.tile(jnp.arange(3) * 2, (4, 1)), axis=1)"),
    ("stack((x, y, x), dim=1)", "jnp.stack((x, y, x), axis=1)"),
    ("split(x * y, 3, dim=1)[1]", "jnp.split(x * y, 3, axis=1)[1]"),
    ("matmul(x, transpose(y))", "jnp.matmul(x, y.T)"),
]
# ... x bf16, y f32
MIXED = [
    ("f32(x) * y", "x.astype(jnp.float32) * y"),
    ("x * bf16(y)", "x * y.astype(jnp.bfloat16)"),
    ("tanh(x) * bf16(y)", "jnp.tanh(x) * y.astype(jnp.bfloat16)"),
    ("sum(x, dim=0)", "jnp.sum(x, axis=0)"),
    ("mean(f32(x) * y)", "jnp.mean(x.astype(jnp.float32) * y)"),
    ("prod(x, dim=1)", "jnp.prod(x, axis=1)"),
    ("max(x)", "jnp.max(x)"),
    ("cumsum(x, dim=1)", "jnp.cumsum(x, axis=1)"),
    ("softmax(x)", "jax.nn.softmax(x)"),
    ("logsumexp(x, dim=1)", "jax.nn.logsumexp(x, axis=1)"),
    ("gelu(x)", "jax.nn.gelu(x)"),
    ("silu(y) * f32(square(x))", "jax.nn.silu(y) * jnp.square(x).astype(jnp.float32)"),
    ('einsum("ij,kj->ik", x, bf16(y))', 'jnp.einsum("ij,kj->ik", x, y.astype(jnp.bfloat16))'),
    ('einsum("ij,kj->ik", x, x, dtype=f32) * sum(y)',
     'jnp.einsum("ij,kj->ik", x, x, preferred_element_type=jnp.float32) * jnp.sum(y)'),
    ("scatter_add(x, iota(i32[4]), bf16(y))", "x.at[jnp.arange(4)].add(y.astype(jnp.bfloat16))"),
    ("sort(x, dim=0) + bf16(sort(y, dim=1))",
     "jnp.sort(x, axis=0) + jnp.sort(y, axis=1).astype(jnp.bfloat16)"),
]
# where something is NaN
UNKNOWN = [0.0, 1.0, -1.0, 2.0, float("nan")]
NANS = [
    ("max(x)", "jnp.max(x)"),
    ("max(x, dim=1)", "jnp.max(x, axis=1)"),
    ("min(x, dim=0)", "jnp.min(x, axis=0)"),
    ("maximum(x, y)", "jnp.maximum(x, y)"),
    ("minimum(x, y)", "jnp.minimum(x, y)"),
    ("relu(x)", "jax.nn.relu(x)"),
    ("abs(x)", "jnp.abs(x)"),
    ("sign(x)", "jnp.sign(x)"),
    ("clamp(y, x, 1.0)", "jnp.clip(x, y, 1.0)"),
    ("sort(x, dim=1)", "jnp.sort(x, axis=1)"),
    ("prod(x, dim=1)", "jnp.prod(x, axis=1)"),
    ("logsumexp(x, dim=1)", "jax.nn.logsumexp(x, axis=1)"),
    ("softmax(x)", "jax.nn.softmax(x)"),
    ("where(x > 0.0, x, y)", "jnp.where(x > 0, x, y)"),
]
# rows of what masks leave, and of what has overflowed
INF, NAN = float("inf"), float("nan")
ROWS = np.array([
    [1.0, 2.0, 3.0, 0.0, -1.0, 0.5], [1.0, -INF, 3.0, -INF, -1.0, 0.5], [-INF] * 6,
    [-INF, -INF, 2.0, -INF, -INF, -INF], [1.0, INF, 3.0, 0.0, -1.0, 0.5],
    [INF, 2.0, INF, 0.0, -INF, 0.5], [1.0, 2.0, NAN, -INF, -1.0, 0.5],
    [-0.0, 0.0, -0.0, 0.0, -1.0, -0.0]])
INFINITE = [
    ("softmax(x)", "jax.nn.softmax(x)"),
    ("log_softmax(x)", "jax.nn.log_softmax(x)"),
    ("logsumexp(x, dim=1)", "jax.nn.logsumexp(x, axis=1)"),
    ("logsumexp(x, dim=0)", "jax.nn.logsumexp(x, axis=0)"),
    ("cross_entropy(x, iota(i32[8]) % 6)",
     "-jnp.take_along_axis(jax.nn.log_softmax(x), jnp.arange(8)[:, None] % 6, axis=1)[:, 0]"),
    ("max(x, dim=1)", "jnp.max(x, axis=1)"),
    ("min(x)", "jnp.min(x)"),
    ("prod(x, dim=1)", "jnp.prod(x, axis=1)"),
    ("sort(x, dim=1)", "jnp.sort(x, axis=1)"),
    ("top_k(x, 4)[0]", "jax.lax.top_k(x, 4)[0]"),
    ("f64(top_k(x, 4)[1]) * y[:, 0:4]", "jax.lax.top_k(x, 4)[1] * y[:, 0:4]"),
    ("f64(argsort(x)) * y", "jnp.argsort(x, axis=1) * y"),
    ("f64(argmax(x, dim=1)) * y[:, 0]", "jnp.argmax(x, axis=1) * y[:, 0]"),
    ("var(x, dim=1)", "jnp.var(x, axis=1)"),
    ("rms_norm(x)", "rms_norm(x, 1, 1e-6)"),
]
NEAR = 2.0 ** -6        # a few roundings of bf16
TIE = """mesh [X=2];
fn f(x: {x}, y: {y}) {{ return {f}; }}
fn main(x: {x}, y: {y}, u: {u}) -> (gx: {x}, gy: {y}) {{
  return vjp(f, wrt=(x, y))(x, y)(u);
}}
"""

# Of all pairs of POINTS; the last is where ours is another on purpose: 1 and x are numbers
# of x to the 0 and to the 1 at 0, too, whose gradients there are 0, and JAX's NaN.
POINTS = [0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 3.0, INF, -INF, NAN]
CORNERS = [
    ("pow(x, y)", "jax.lax.pow(x, y)", "(x == 0) & ((y == 0) | (y == 1))"),
    ("pow(x, 0.0)", "jnp.power(x, 0.0)", "x == 0"),
    ("pow(x, 1.0)", "jnp.power(x, 1.0)", "x == 0"),
    ("pow(x, 2.0)", "x ** 2"),
    ("pow(x, -1.0)", "x ** -1"),
    ("pow(x, 0.5)", "jnp.power(x, 0.5)"),
    ("pow(-2.0, x)", "jnp.power(-2.0, x)"),
    ("pow(0.0, x)", "jnp.power(0.0, x)"),
    ("square(x)", "jnp.square(x)"),
    ("x / y", "x / y"),
    ("x * y", "x * y"),
    ("x % y", "jax.lax.rem(x, y)"),
    ("atan2(x, y)", "jnp.arctan2(x, y)"),
    ("sqrt(x)", "jnp.sqrt(x)"),
    ("rsqrt(x)", "jax.lax.rsqrt(x)"),
    ("cbrt(x)", "jnp.cbrt(x)"),
    ("log(x)", "jnp.log(x)"),
    ("log1p(x)", "jnp.log1p(x)"),
    ("exp(x)", "jnp.exp(x)"),
    ("expm1(x)", "jnp.expm1(x)"),
    ("tanh(x)", "jnp.tanh(x)"),
    ("sigmoid(x)", "jax.nn.sigmoid(x)"),
    ("erf(x)", "jax.lax.erf(x)"),
    ("erf_inv(x)", "jax.lax.erf_inv(x)"),
    ("sin(x) * cos(y)", "jnp.sin(x) * jnp.cos(y)"),
    ("tan(x)", "jnp.tan(x)"),
    ("abs(x)", "jnp.abs(x)"),
    ("sign(x)", "jnp.sign(x)"),
    ("relu(x)", "jax.nn.relu(x)"),
    ("maximum(x, y)", "jnp.maximum(x, y)"),
    ("minimum(x, y)", "jnp.minimum(x, y)"),
    ("clamp(y, x, 1.0)", "jnp.clip(x, y, 1.0)"),
    ("where(x > 0.0, sqrt(x), y)", "jnp.where(x > 0, jnp.sqrt(x), y)"),
    ("prod(stack((x, y)), dim=0)", "jnp.prod(jnp.stack((x, y)), axis=0)"),
    ("top_k(stack((x, y), dim=2), 2)[0][:, :, 1]",
     "jax.lax.top_k(jnp.stack((x, y), axis=2), 2)[0][:, :, 1]"),
    ("log_softmax(stack((x, y)), dim=0)[0]", "jax.nn.log_softmax(jnp.stack((x, y)), axis=0)[0]"),
]
CORNER = """mesh [X=2];
fn f(x: f64[10, 10], y: f64[10, 10]) { return %s; }
fn by_x(x: f64[10, 10], y: f64[10, 10], u: f64[10, 10]) { return vjp(f, wrt=x)(x, y)(u); }
fn by_y(x: f64[10, 10], y: f64[10, 10], u: f64[10, 10]) { return vjp(f, wrt=y)(x, y)(u); }
fn main(x: f64[10@X, 10], y: f64[10@X, 10], u: f64[10@X, 10])
    -> (v: f64[10, 10], gx: f64[10, 10], gy: f64[10, 10], gxx: f64[10, 10], gxy: f64[10, 10],
        gyx: f64[10, 10], gyy: f64[10, 10]) {
  let (gx, gy) = vjp(f, wrt=(x, y))(x, y)(u);
  let (gxx, gxy) = vjp(by_x, wrt=(x, y))(x, y, u)(u);
  let (gyx, gyy) = vjp(by_y, wrt=(x, y))(x, y, u)(u);
  return f(x, y), gx, gy, gxx, gxy, gyx, gyy;
}
"""
WORDS = {"float64": "f64", "float32": "f32", "bfloat16": "bf16"}


def save(path, array):
    np.save(path, array.view("V2") if array.dtype == ml_dtypes.bfloat16 else array)


def load(path):
    array = np.load(path)
    return array.view(ml_dtypes.bfloat16) if array.dtype.kind == "V" else array


def ours(text, inputs, names, folder):
    """What shdc computes: arrays, or RuntimeError."""
    with open(folder + "/p.shd", "w", encoding="utf-8") as f:
        f.write(text)
    args = []
    for name, array in inputs.items():
        save("%s/%s.npy" % (folder, name), array)
        args += ["--in", "%s=%s/%s.npy" % (name, folder, name)]
    run = subprocess.run([SHDC, "--interpret", folder + "/p.shd", "--", *args, "--out", folder],
                         capture_output=True, text=True, timeout=300)
    if run.returncode:
        raise RuntimeError("status %d\n%s" % (run.returncode, run.stderr))
    return [load("%s/%s.npy" % (folder, name)) for name in names]


def difference(name, got, wanted, close):
    wanted = np.asarray(wanted)
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return "%s is %s %s, JAX's %s %s" % (name, got.dtype, got.shape, wanted.dtype,
                                             wanted.shape)
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    finite = np.abs(b[np.isfinite(b)])
    bound = close * max(1.0, float(np.max(finite, initial=0)))
    with np.errstate(invalid="ignore"):
        right = (np.abs(a - b) <= bound) | (a == b) | (np.isnan(a) & np.isnan(b))
    if right.all():
        return None
    at = tuple(np.argwhere(~right)[0].tolist())
    return "%s: %d of %d elements differ; at %s ours is %s, JAX's %s" % (
        name, (~right).sum(), right.size, list(at), a[at], b[at])


# ---- ties

def tie(shd, jax_text, folder, numbers):
    mixed = numbers is None
    rng = np.random.default_rng(len(shd))
    if numbers is ROWS:
        x, y = ROWS, np.roll(np.nan_to_num(ROWS, posinf=4.0, neginf=-4.0), 1)
    else:
        x, y = rng.uniform(-1, 1, (2, 4, 6)) if mixed else rng.choice(numbers, (2, 4, 6))
    if mixed:
        x, y = x.astype(ml_dtypes.bfloat16), y.astype(np.float32)
    value, back = jax.vjp(eval("lambda x, y: " + jax_text, NAMES), x, y)
    u = rng.uniform(-1, 1, value.shape).astype(value.dtype)
    words = {name: WORDS[str(array.dtype)] + (gradients.spelled(array.shape)
                                              if array.shape else "")
             for name, array in (("x", x), ("y", y), ("u", u))}
    got = ours(TIE.format(f=shd, **words), {"x": x, "y": y, "u": u}, ["gx", "gy"], folder)
    whys = [difference(name, a, b, NEAR if mixed else CLOSE)
            for name, a, b in zip(("gx", "gy"), got, back(u))]
    return next(filter(None, whys), None)


def pairs():
    x, y = np.meshgrid(POINTS, POINTS, indexing="ij")
    return x, y, np.random.default_rng(1).uniform(0.5, 1, x.shape)


@functools.lru_cache(maxsize=None)
def corners_of_jax():
    """Values, gradients and those of the gradients, of each of CORNERS; compiled at once."""
    x, y, u = pairs()

    def wanted(f, x, y):
        def back(i):
            return lambda x, y: jax.vjp(f, x, y)[1](u)[i]
        return [f(x, y), back(0)(x, y), back(1)(x, y), *jax.vjp(back(0), x, y)[1](u),
                *jax.vjp(back(1), x, y)[1](u)]
    functions = {row[0]: eval("lambda x, y: " + row[1], NAMES) for row in CORNERS}
    return jax.jit(lambda x, y: {shd: wanted(f, x, y) for shd, f in functions.items()})(x, y)


def corner(folder, shd, _, other="False"):
    x, y, u = pairs()
    names = ["v", "gx", "gy", "gxx", "gxy", "gyx", "gyy"]
    away = eval(other, {"x": x, "y": y})
    got = ours(CORNER % shd, {"x": x, "y": y, "u": u}, names, folder)
    for name, a, b in zip(names, got, corners_of_jax()[shd]):
        why = difference(name, np.where(away, 0, a), np.where(away, 0, b), CLOSE)
        if why:
            return why + " (of %s)" % POINTS
    return None


# ---- random programs

def theirs(p, xs, us):
    """(results, gradients)"""
    space = dict(NAMES)
    exec(p.jax_text(), space)
    value, back = jax.vjp(space["f"], *xs)
    cotangents = tuple(us) if len(us) != 1 else us[0]
    if p.kind != "vjp":
        cotangents = jax.tree.map(jnp.zeros_like, value)
        first = jnp.ones_like(value[0] if isinstance(value, tuple) else value)
        cotangents = (first, *cotangents[1:]) if isinstance(value, tuple) else first
    elif isinstance(value, tuple) and len(us) == 1:
        cotangents = (us[0],)
    found = back(cotangents)
    values = value if isinstance(value, tuple) else (value,)
    return values, [found[i] for i in p.wrt]


def compared(seed, index, folder):
    exact = index % 3 != 0
    p = gradients.Program("jax %s" % seed, index, exact=exact)
    rng = np.random.default_rng(index)

    def drawn(shape):
        return rng.integers(-1, 2, shape).astype(np.float64) if exact \
            else rng.uniform(-1, 1, shape)
    xs = [drawn(x.shape) for x in p.params]
    us = [drawn(r.shape) for r in p.cotangents]
    inputs = dict(zip(["x%d" % i for i in range(len(xs))], xs))
    inputs.update(zip(["u%d" % i for i in range(len(us))], us))
    values, found = theirs(p, xs, us)
    wanted = [*values, *found] if p.kind == "value_and_grad" else found
    names = ["out%d" % i for i in range(len(wanted))] if len(wanted) > 1 else ["out"]
    for name, a, b in zip(names, ours(p.shd_text(), inputs, names, folder), wanted):
        why = difference(name, a, b, CLOSE)
        if why:
            return why
    return None


def cases(args, folder):
    for name, numbers, table in ("ties", NUMBERS, TIES), ("ends", ENDS, FAR), \
            ("nans", UNKNOWN, NANS), ("infinite", ROWS, INFINITE), ("mixed", None, MIXED):
        for shd, text in table:
            yield "%s: %s" % (name, shd), lambda shd=shd, text=text, numbers=numbers: \
                tie(shd, text, folder, numbers)
    for row in CORNERS:
        yield "corners: %s" % row[0], lambda row=row: corner(folder, *row)
    for i in range(args.first, args.first + args.count):
        yield "program %d of seed %s" % (i, args.seed), \
            lambda i=i: compared(args.seed, i, folder)


def main(args, folder):
    passed = failed = 0
    for name, run in cases(args, folder):
        try:
            why = run()
        except Exception as e:
            why = "%s: %s" % (type(e).__name__, e)
        if why:
            print("not ok - %s\n# %s" % (name, "\n# ".join(why.splitlines()[:8])), flush=True)
        passed, failed = passed + (why is None), failed + (why is not None)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shdc")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parsed = parser.parse_args()
    SHDC = os.path.abspath(parsed.shdc)
    with tempfile.TemporaryDirectory() as directory:
        sys.exit(main(parsed, directory))
