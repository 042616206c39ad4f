#!/usr/bin/env python3
"""What each built-in function means, against numpy.

    numpy_check.py SHDC [WORD]         WORD: only cases that contain it

The device program is checked against the global one everywhere else; both
could share a mistake.  Here results meet numpy: each function, in each class
of dtypes, on small tensors and on the values that are special; once by the
interpreter on one device, once compiled, with dims split over two.  TAP.
"""
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print("1..0 # SKIP %s" % missing)
    sys.exit(0)
from precision import descending, larger, largest, smaller, smallest

FLOATS = ["f32", "f64", "bf16", "f16"]
SIGNED = ["i32", "i64", "i8", "i16"]
UNSIGNED = ["u8", "u32", "u16", "u64"]
INTEGERS = SIGNED + UNSIGNED
NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16,
         "i32": np.int32, "i64": np.int64, "i8": np.int8, "i16": np.int16,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "pred": np.bool_}
WAYS = [("", ["--interpret"], 1), (", compiled", ["--run"], 2)]
TOLERANCE = {"f32": 4e-6, "f64": 4e-14, "bf16": 1.2e-2, "f16": 2e-3}
# Of 0 and -0, which are equal, either may be first, or the sum of nothing.
EITHER_ZERO = re.compile("sort|cumsum|softmax")
cases = []      # (dtype of x, expression, result dtype, function of inputs)


# ---- bf16, which numpy does not have

def to_bf16(x):
    """Round to the nearest bf16, half to even; as 16-bit integers."""
    flat = np.asarray(x, np.float32).reshape(-1)
    bits = flat.view(np.uint32).astype(np.int64)
    nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    nearest = np.where(np.isnan(flat), 0x7fc0, nearest)
    return nearest.astype(np.uint16).reshape(np.shape(x))


def from_bf16(bits):
    wide = bits.reshape(-1).astype(np.uint32) * np.uint32(1 << 16)
    return wide.view(np.float32).reshape(np.shape(bits))


def rounded(x, dtype):
    """The nearest values of a dtype, as numpy computes with them."""
    if dtype == "bf16":
        return from_bf16(to_bf16(x)).astype(np.float64)
    if dtype in FLOATS:
        return np.asarray(x).astype(NUMPY[dtype]).astype(np.float64)
    return np.asarray(x).astype(NUMPY[dtype])


def stored(x, dtype):
    if dtype == "bf16":
        return np.asarray(to_bf16(x)).view("V2")
    return np.asarray(x).astype(NUMPY[dtype])


def loaded(path, dtype):
    x = np.load(path)
    if dtype == "bf16":
        return from_bf16(x.view(np.uint16)).astype(np.float64)
    return x.astype(np.float64) if dtype in FLOATS else x


# ---- inputs: the same names in every program

def inputs(dtype):
    r = np.random.default_rng(7)
    shapes = {"x": (4, 6), "y": (4, 6), "v": (6,), "m": (6, 5), "b": (2, 3, 4),
              "c": (2, 4, 3), "q": (4, 4), "s": (), "one": (4, 1)}
    made = {}
    for name, shape in shapes.items():
        if dtype == "pred":
            made[name] = r.integers(0, 2, shape).astype(np.bool_)
        elif dtype in FLOATS:
            made[name] = rounded(r.uniform(-2, 2, shape), dtype)
        else:
            made[name] = r.integers(0 if dtype in UNSIGNED else -8, 8,
                                    shape).astype(NUMPY[dtype])
    types = {name: dtype for name in made}
    made["p"], types["p"] = r.integers(0, 2, (4, 6)).astype(np.bool_), "pred"
    made["i"], types["i"] = np.array([2, 0, 5, 9, -3], np.int32), "i32"
    made["j"], types["j"] = np.array([[1, 3], [0, 2]], np.int32), "i32"
    return made, types


def special(dtype):
    """x and y: every pair of special values."""
    if dtype in FLOATS:
        top = {"f16": 65504.0}.get(dtype, 3e38)
        ends = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf,
                np.nan, top, 300.0, -3e9 if dtype != "f16" else -6e4,
                -1e-300, 1e-5]
    else:
        info = np.iinfo(NUMPY[dtype])
        ends = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min,
                info.min + 1] + ([-1, -2, -7] if info.min else [5])
    if dtype not in FLOATS:
        ends = np.array(ends, NUMPY[dtype])
    x, y = np.meshgrid(ends, ends)
    if dtype in FLOATS:
        return {"x": rounded(x, dtype), "y": rounded(y, dtype)}
    return {"x": x, "y": y}


# ---- the table of cases

def case(dtypes, text, function, result=None, on=inputs):
    for dtype in dtypes:
        cases.append((on, dtype, text, result or dtype, function))


def wrap(function):
    """Integers are computed wide and wrapped to the dtype at the end."""
    def wide(a):
        return function({k: v if v.dtype.kind in "fb" or k in "ij" else
                         v.astype(np.int64 if v.dtype != np.uint64 else np.uint64)
                         for k, v in a.items()})
    return wide


def spread(x, width, value):
    """A line with so many before, behind and between its elements; what is negative cuts."""
    low, high, inner = width
    wide = np.full(max(low, 0) + (len(x) - 1) * (inner + 1) + 1 + max(high, 0), value, x.dtype)
    wide[max(low, 0)::inner + 1][:len(x)] = x
    return wide[max(-low, 0):len(wide) + min(high, 0)]


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def erf(x):
    return np.vectorize(math.erf)(x)


def normal(x, axis, centred, eps=1e-6):
    away = x - x.mean(axis=axis, keepdims=True) if centred else x
    return away / np.sqrt((away * away).mean(axis=axis, keepdims=True) + eps)


def divide(a):
    x, y = (v.astype(object) for v in (a["x"], a["y"]))
    trunc = np.vectorize(lambda n, d: -1 if d == 0 else
                         abs(n) // abs(d) * (1 if (n < 0) == (d < 0) else -1),
                         otypes=[object])
    return trunc(x, y)


def remainder(a):
    x, y = (v.astype(object) for v in (a["x"], a["y"]))
    return np.vectorize(lambda n, d: n if d == 0 else
                        abs(n) % abs(d) * (-1 if n < 0 else 1),
                        otypes=[object])(x, y)


def powers(a):
    """Modulo 2^64; a negative exponent leaves 1, -1 or, rounded, 0."""
    def one(x, n):
        if n >= 0:
            return pow(x, n, 1 << 64)
        return x ** (n % 2) if abs(x) == 1 else 0
    x, y = (v.astype(object) for v in (a["x"], a["y"]))
    return np.vectorize(one, otypes=[object])(x, y)


def wrapped(values, dtype):
    """Python integers of any size to a dtype, modulo its range."""
    bits = NUMPY[dtype](0).itemsize * 8
    flat = [int(v) & (1 << bits) - 1 for v in np.asarray(values, object).flat]
    raw = np.array(flat, dtype="u%d" % (bits // 8))
    return raw.view(NUMPY[dtype]).reshape(np.shape(values))


def saturated(x, dtype):
    info = np.iinfo(NUMPY[dtype])

    def one(v):
        if math.isnan(v):
            return 0
        return min(max(v, info.min), info.max) if math.isinf(v) else \
            min(max(int(v), info.min), info.max)
    return np.array([int(one(v)) for v in np.asarray(x).flat], object).reshape(
        np.shape(x))


def products(dtypes):
    def ein(spec, *names):
        case(dtypes, 'einsum("%s", %s)' % (spec, ", ".join(names)),
             wrap(lambda a: np.einsum(spec, *(a[n] for n in names))))

    ein("ij,jk->ik", "x", "m")
    ein("ij,ij->ij", "x", "y")
    ein("ij,ij->", "x", "y")
    ein("ij,kj->ki", "x", "y")
    ein("ii->i", "q")
    ein("ii->", "q")
    ein("ij->ji", "x")
    ein("ij->j", "x")
    ein("ij,j,jk->ik", "x", "v", "m")
    ein("i,j->ij", "v", "v")
    ein("...ij,...jk->...ik", "b", "c")
    ein("...j,jk->...k", "x", "m")
    ein("ij,ab->ia", "x", "m")
    ein("bij,bji->b", "b", "c")
    ein(",ij->ij", "s", "x")
    ein("ii,ij->ij", "q", "x")
    for a, b in [("x", "m"), ("x", "v"), ("v", "m"), ("v", "v"), ("b", "c")]:
        case(dtypes, "matmul(%s, %s)" % (a, b),
             wrap(lambda t, a=a, b=b: np.matmul(t[a], t[b])))
    case(dtypes, "matmul(b, transpose(b, (0, 2, 1))[0])",
         wrap(lambda t: np.matmul(t["b"], t["b"][0].T)))


def pointwise_floats():
    def one(name, f, argument="x", a=None):
        case(FLOATS, "%s(%s)" % (name, argument),
             lambda t: f((a or (lambda u: u["x"]))(t)))

    for name in ["exp", "expm1", "sin", "cos", "tan", "cbrt", "tanh", "floor", "ceil", "sign",
                 "square", "abs"]:
        one(name, getattr(np, name))
    one("round", np.rint)
    one("erf", erf)
    one("erf", lambda x: np.clip(x, -0.9, 0.9), "erf_inv(clamp(-0.9, x, 0.9))")
    case(FLOATS, "atan2(x, y)", lambda t: np.arctan2(t["x"], t["y"]))
    one("sigmoid", lambda x: 1 / (1 + np.exp(-x)))
    one("silu", lambda x: x / (1 + np.exp(-x)))
    one("relu", lambda x: np.maximum(x, 0))
    one("gelu", lambda x: 0.5 * x * (1 + np.tanh(
        math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))))
    one("gelu", lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))),
        "x, approximate=false")
    for name in ["log", "log1p", "sqrt"]:
        one(name, getattr(np, name), "abs(x)", lambda t: np.abs(t["x"]))
    one("rsqrt", lambda x: 1 / np.sqrt(x), "abs(x)", lambda t: np.abs(t["x"]))
    case(FLOATS, "isfinite(x)", lambda t: np.isfinite(t["x"]), "pred")
    case(FLOATS, "x / y", lambda t: t["x"] / t["y"])
    case(FLOATS, "x % y", lambda t: np.fmod(t["x"], t["y"]))
    case(FLOATS, "pow(abs(x), y)", lambda t: np.abs(t["x"]) ** t["y"])
    case(FLOATS, "x * 0.5 + 2", lambda t: t["x"] * 0.5 + 2)
    case(FLOATS, "1 / (x * x + 1)", lambda t: 1 / (t["x"] ** 2 + 1))


def pointwise_numbers():
    numbers = FLOATS + INTEGERS
    for sign in ["+", "-", "*"]:
        f = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign]
        case(numbers, "x %s y" % sign, wrap(lambda t, f=f: f(t["x"], t["y"])))
        case(numbers, "x %s v" % sign, wrap(lambda t, f=f: f(t["x"], t["v"])))
        case(numbers, "one %s v" % sign,
             wrap(lambda t, f=f: f(t["one"], t["v"])))
        case(numbers, "s %s x" % sign, wrap(lambda t, f=f: f(t["s"], t["x"])))
    for sign, f in [("<", np.less), ("<=", np.less_equal), (">", np.greater),
                    (">=", np.greater_equal), ("==", np.equal),
                    ("!=", np.not_equal)]:
        case(numbers, "x %s y" % sign, lambda t, f=f: f(t["x"], t["y"]), "pred")
        case(numbers, "x %s 1" % sign, lambda t, f=f: f(t["x"], 1), "pred")
    case(numbers, "maximum(x, y)", lambda t: larger(t["x"], t["y"]))
    case(numbers, "minimum(x, v)", lambda t: np.minimum(t["x"], t["v"]))
    case(numbers, "clamp(1, x, 3)", lambda t: np.clip(t["x"], 1, 3))
    case(numbers, "where(p, x, y)", lambda t: np.where(t["p"], t["x"], t["y"]))
    case(numbers, "where(x < y, v, 1)",
         lambda t: np.where(t["x"] < t["y"], t["v"], 1))
    case(FLOATS + SIGNED, "-x", wrap(lambda t: -t["x"]))
    case(SIGNED, "abs(x)", wrap(lambda t: np.abs(t["x"])))
    case(SIGNED, "sign(x)", wrap(lambda t: np.sign(t["x"])))
    case(INTEGERS, "square(x)", wrap(lambda t: t["x"] ** 2))
    case(INTEGERS, "relu(x)", lambda t: larger(t["x"], 0))
    case(INTEGERS, "pow(x, 3)", wrap(lambda t: t["x"] ** 3))
    case(["pred"], "x && y", lambda t: t["x"] & t["y"])
    case(["pred"], "x || !v", lambda t: t["x"] | ~t["v"])
    case(["pred"], "x == y", lambda t: t["x"] == t["y"])
    case(["pred"], "where(p, x, y)", lambda t: np.where(t["p"], t["x"], t["y"]))


def reductions():
    numbers = FLOATS + INTEGERS
    for name, f in [("sum", np.sum), ("prod", np.prod), ("max", np.max),
                    ("min", np.min)]:
        case(numbers, "%s(x)" % name, wrap(lambda t, f=f: f(t["x"])))
        case(numbers, "%s(x, dim=0)" % name,
             wrap(lambda t, f=f: f(t["x"], axis=0)))
        case(numbers, "%s(b, dim=(0, -1), keep=true)" % name,
             wrap(lambda t, f=f: f(t["b"], axis=(0, 2), keepdims=True)))
    for name, f in [("mean", np.mean), ("var", np.var)]:
        case(FLOATS, "%s(x)" % name, lambda t, f=f: f(t["x"]))
        case(FLOATS, "%s(b, dim=(1, 2), keep=true)" % name,
             lambda t, f=f: f(t["b"], axis=(1, 2), keepdims=True))
    case(FLOATS, "logsumexp(x, dim=1)",
         lambda t: np.log(np.exp(t["x"]).sum(axis=1)))
    case(FLOATS, "logsumexp(b, keep=true)",
         lambda t: np.log(np.exp(t["b"]).sum(axis=(0, 1, 2), keepdims=True)))
    case(FLOATS, "softmax(b, dim=1)", lambda t: softmax(t["b"], 1))
    case(FLOATS, "softmax(x)", lambda t: softmax(t["x"], -1))
    case(FLOATS, "log_softmax(x, dim=0)", lambda t: np.log(softmax(t["x"], 0)))
    for labels, at in [("i[0:4]", [2, 0, 5, 5]), ("u8(abs(i[1:]))", [0, 5, 5, 3])]:
        case(FLOATS, "cross_entropy(x, %s)" % labels,
             lambda t, at=at: -np.log(softmax(t["x"], -1))[range(4), at])
    case(FLOATS, "cross_entropy(v * 100.0, 2)", lambda t: -np.log(softmax(t["v"] * 100, -1))[2])
    case(FLOATS, "softmax(b, dim=(0, -1))", lambda t: softmax(t["b"], (0, 2)))
    case(FLOATS, "layer_norm(b, dim=(1, 2))",
         lambda t: normal(t["b"], (1, 2), True))
    case(FLOATS, "rms_norm(x)", lambda t: normal(t["x"], -1, False))
    case(FLOATS, "layer_norm(b, dim=1, eps=1e-3)",
         lambda t: normal(t["b"], 1, True, 1e-3))
    for name, f in [("argmax", np.argmax), ("argmin", np.argmin)]:
        case(numbers, "%s(x, dim=1)" % name,
             lambda t, f=f: f(t["x"], axis=1), "i32")
        case(numbers, "%s(b, dim=-2)" % name,
             lambda t, f=f: f(t["b"], axis=1), "i32")
    case(numbers, "cumsum(x, dim=1)", wrap(lambda t: np.cumsum(t["x"], axis=1)))
    case(numbers, "cumsum(x)", wrap(lambda t: np.cumsum(t["x"])))
    case(numbers, "cumsum(b, dim=0)", wrap(lambda t: np.cumsum(t["b"], axis=0)))
    case(["pred"], "any(x, dim=1)", lambda t: t["x"].any(axis=1))
    case(["pred"], "all(x, dim=0, keep=true)",
         lambda t: t["x"].all(axis=0, keepdims=True))
    case(["pred"], "any(x)", lambda t: t["x"].any())
    case(["pred"], "sum(x, dim=0)", lambda t: t["x"].sum(axis=0), "i32")


def shapes():
    every = ["f32", "bf16", "i64", "u8", "pred"]

    def one(text, f):
        case(every, text, lambda t: f(t["x"], t))

    one("reshape(x, [2, 3, 4])", lambda x, t: x.reshape(2, 3, 4))
    one("reshape(x, [24])", lambda x, t: x.reshape(24))
    one("transpose(b, (2, 0, 1))", lambda x, t: t["b"].transpose(2, 0, 1))
    one("transpose(x)", lambda x, t: x.T)
    one("broadcast(v, [3, 6])", lambda x, t: np.broadcast_to(t["v"], (3, 6)))
    one("broadcast(one, [2, 4, 3])",
        lambda x, t: np.broadcast_to(t["one"], (2, 4, 3)))
    one("concat((x, one, y), dim=1)",
        lambda x, t: np.concatenate([x, t["one"], t["y"]], axis=1))
    one("concat((x, y))", lambda x, t: np.concatenate([x, t["y"]]))
    one("stack((x, y), dim=2)", lambda x, t: np.stack([x, t["y"]], axis=2))
    one("repeat(x, 3, dim=1)", lambda x, t: np.repeat(x, 3, axis=1))
    one("roll(x, 2, dim=1)", lambda x, t: np.roll(x, 2, axis=1))
    one("roll(x, -3, dim=0)", lambda x, t: np.roll(x, -3, axis=0))
    one("flip(x, dim=1)", lambda x, t: np.flip(x, axis=1))
    one("pad(x, ((1, 2), (0, 3)))", lambda x, t: np.pad(x, ((1, 2), (0, 3))))
    for text in ["1:3", "::-1, 1::2", ":, -1", "..., 2", "-2, 1:-1",
                 "3:4, ::3", "2, 3", "::-2, ::-3", ":-1, 4:"]:
        one("x[%s]" % text, lambda x, t, text=text: eval("x[%s]" % text))
    one("x[:, new, 1:]", lambda x, t: x[:, None, 1:])
    one("b[new, ..., 0]", lambda x, t: t["b"][None, ..., 0])
    one("take(x, i, dim=1)", lambda x, t: x[:, np.clip(t["i"], 0, 5)])
    one("take(x, j, dim=0)", lambda x, t: x[t["j"]])
    one("take(b, j, dim=-1)", lambda x, t: t["b"][:, :, t["j"]])
    one("take_along(x, i[new, :])", lambda x, t: x[:, np.clip(t["i"], 0, 5)])
    one("take_along(x[0:2], j)", lambda x, t: np.take_along_axis(x[:2], t["j"], 1))
    one("take_along(b, j[..., new], dim=1)",
        lambda x, t: np.take_along_axis(t["b"], t["j"][..., None].clip(0, 2), 1))
    one("take_along(x[0:1], j)", lambda x, t: np.take_along_axis(x[[0, 0]], t["j"], 1))
    one("take_along(v, i)", lambda x, t: t["v"][np.clip(t["i"], 0, 5)])
    case(["f32", "i8"], "pad(v, ((2, 1),), value=3)",
         lambda t: np.pad(t["v"], ((2, 1),), constant_values=3))
    one("pad(x, ((1, -1), (-2, 3)))", lambda x, t: np.pad(x[:-1, 2:], ((1, 0), (0, 3))))
    for v, text in (("v", "((1, 0, 2),)"), ("v", "((-2, 3, 1),)"), ("v[0:1]", "((0, 1, 4),)")):
        case(["f32", "i8"], "pad(%s, %s, value=3)" % (v, text),
             lambda t, v=v, text=text: spread(eval(v, {"v": t["v"]}), *eval(text), 3))
    case(["pred"], "pad(v, ((0, 2),), value=true)",
         lambda t: np.pad(t["v"], ((0, 2),), constant_values=True))
    for k in range(3):
        case(every, "split(x, 3, dim=1)[%d]" % k,
             lambda t, k=k: np.split(t["x"], 3, axis=1)[k])


def starting(x, starts, sizes):
    """Where a slice of these sizes starts, moved to lie inside x."""
    return tuple(slice(at, at + size) for at, size in zip(
        np.clip(starts, 0, np.subtract(x.shape, sizes)), sizes))


def updated(x, update, starts):
    x = x.copy()
    x[starting(x, starts, update.shape)] = update
    return x


def scattered(x, idx, updates, axis):
    """One index after another; those outside are dropped."""
    x = np.moveaxis(x, axis, 0).copy()
    updates = np.moveaxis(updates, range(axis, axis + idx.ndim),
                          range(idx.ndim))
    for at in np.ndindex(idx.shape):
        if 0 <= idx[at] < len(x):
            x[idx[at]] = x[idx[at]] + updates[at]
    return np.moveaxis(x, 0, axis)


def run_time():
    """i is 2 0 5 9 -3, so that some starts lie outside."""
    numbers = FLOATS + INTEGERS
    every = numbers + ["pred"]
    case(every, "x[i[0]]", lambda t: t["x"][2])
    case(every, "x[i[3]]", lambda t: t["x"][3])
    case(every, "x[i[4], 1:]", lambda t: t["x"][0, 1:])
    case(every, "x[:, i[2]:i[2] + 3]", lambda t: t["x"][:, 3:6])
    case(every, "b[-1, i[1] + 1:i[1] + 3, i[4]]",
         lambda t: t["b"][1, 1:3, 0])
    case(every, "dynamic_slice(x, start=(i[4], i[3]), size=(2, 4))",
         lambda t: t["x"][starting(t["x"], (-3, 9), (2, 4))])
    case(every, "dynamic_update_slice(x, y[1:3, :4], start=(i[0], i[3]))",
         lambda t: updated(t["x"], t["y"][1:3, :4], (2, 9)))
    case(every, "dynamic_update_slice(x, y[:, :1], start=(i[4], i[2]))",
         lambda t: updated(t["x"], t["y"][:, :1], (-3, 5)))
    case(numbers, "scatter_add(x, i, y[:, :5], dim=1)", wrap(
        lambda t: scattered(t["x"], t["i"], t["y"][:, :5], 1)))
    case(numbers, "scatter_add(x, j / 2, stack((y[:2], y[2:])))", wrap(
        lambda t: scattered(t["x"], t["j"] // 2, t["y"].reshape(2, 2, 6), 0)))
    case(numbers, "scatter_add(v, i, 1)", wrap(
        lambda t: scattered(t["v"], t["i"], np.ones(5, int), 0)))
    case(numbers, "grouped_dot(m[:5], stack((m[:5], m[1:])), i - 1)", wrap(
        lambda t: grouped(t["m"][:5], np.stack((t["m"][:5], t["m"][1:])), t["i"] - 1)))
    case(numbers, "grouped_outer(m[:5], m[1:], i, 3)", wrap(
        lambda t: added(t["m"][:5], t["m"][1:], t["i"], 3)))


def grouped(x, w, group):
    """Each row times the matrix of its group; 0 of one that is not there."""
    return np.array([row @ w[g] if 0 <= g < len(w) else 0 * row @ w[0] for row, g in zip(x, group)])


def added(x, y, group, n):
    """Of each of n groups the sum of its rows' products."""
    return np.array([sum((np.outer(a, b) for a, b, g in zip(x, y, group) if g == k),
                         0 * np.outer(x[0], y[0])) for k in range(n)])


def orders():
    numbers = FLOATS + INTEGERS
    for on in (inputs, special):
        for axis in (0, 1):
            case(numbers, "sort(x, dim=%d)" % axis,
                 lambda t, d=axis: np.sort(t["x"], axis=d), None, on)
            case(numbers, "argsort(x, dim=%d)" % axis, lambda t, d=axis:
                 np.argsort(t["x"], axis=d, kind="stable"), "i32", on)
        case(numbers, "top_k(x, 4)[1]", lambda t: descending(t["x"])[:, :4], "i32",
             on)
        case(numbers, "top_k(x, 4)[0]", lambda t: np.take_along_axis(
            t["x"], descending(t["x"])[:, :4], 1), None, on)
    case(numbers, "sort(b, dim=-2)", lambda t: np.sort(t["b"], axis=1))


def threefry(seed, count):
    """The words of 0..count-1 under a seed, as the language reference says."""
    key = [np.uint32(0), np.uint32(seed)]
    key.append(key[0] ^ key[1] ^ np.uint32(0x1bd11bda))
    a = np.zeros(count, np.uint32) + key[0]
    b = np.arange(count, dtype=np.uint32) + key[1]
    for step in range(5):
        for by in [(13, 15, 26, 6), (17, 29, 16, 24)][step % 2]:
            a = a + b
            b = (b << np.uint32(by) | b >> np.uint32(32 - by)) ^ a
        a = a + key[(step + 1) % 3]
        b = b + key[(step + 2) % 3] + np.uint32(step + 1)
    return a ^ b


def uniform(seed, shape, bits):
    words = threefry(seed, math.prod(shape)) >> np.uint32(32 - bits)
    return words.reshape(shape).astype(np.float64) / 2.0 ** bits


def random_numbers():
    bits = {"f32": 23, "bf16": 7, "f16": 10, "f64": 32}
    for dtype in FLOATS:
        for seed in (0, 7):
            case([dtype], "random.uniform(%s[3, 5], %d)" % (dtype, seed),
                 lambda t, s=seed, n=bits[dtype]: uniform(s, (3, 5), n))
        case([dtype], "random.uniform(%s[40], i[2])" % dtype,
             lambda t, n=bits[dtype]: uniform(5, (40,), n))
        case([dtype], "random.bernoulli(%s[4, 10], 0.3, 7)" % dtype,
             lambda t: uniform(7, (4, 10), 23) < 0.3)
        case([dtype], "random.bernoulli(pred[3, 6], abs(v) / 2.0, i[2])" if dtype != "f64" else
             "random.bernoulli(pred[3, 6], f32(abs(v)) / 2.0, i[2])",
             lambda t: uniform(5, (3, 6), 23) < abs(t["v"]) / 2.0, "pred")
    case(["f32"], "erf(random.normal(f32[4, 10], 3) * %.9f)" % math.sqrt(0.5),
         lambda t: 2 * uniform(3, (4, 10), 23) - 1)


def leaves():
    numbers = FLOATS + INTEGERS
    for dtype in numbers:
        one = [dtype]
        case(one, "zeros(%s[2, 3])" % dtype, lambda t: np.zeros((2, 3)))
        case(one, "ones(%s[2])" % dtype, lambda t: np.ones(2))
        case(one, "full(%s[2, 2], 7)" % dtype, lambda t: np.full((2, 2), 7))
        case(one, "iota(%s[5])" % dtype, lambda t: np.arange(5))
        case(one, "iota(%s[3, 4], dim=1)" % dtype,
             lambda t: np.broadcast_to(np.arange(4), (3, 4)))
        case(one, "one_hot(i, 6, dtype=%s)" % dtype,
             lambda t: np.arange(6) == t["i"][:, None])
        case(one, "one_hot(j, 4, dtype=%s)" % dtype,
             lambda t: np.arange(4) == t["j"][..., None])
        case(one, "full(%s[2], size(b, 1))" % dtype, lambda t: np.full(2, 3))
    case(numbers, "full(f32[2], axis_size(X) / axis_size(X) + 3)", lambda t: np.full(2, 4), "f32")


def placements():
    """What moves data or says where it is changes no numbers."""
    for text in ["reshard(x, [4, 6@X])", "reshard(x, [4, 6])", "barrier(x)", "fence(x)", "fence(y, x)[1]", "shard_like(x, y)", "stop_gradient(x)"]:
        case(FLOATS + INTEGERS, text, lambda t: t["x"])


def casts():
    for to in INTEGERS:
        case(FLOATS, "%s(x)" % to, lambda t, to=to: wrapped(
            saturated(t["x"], to), to), to, special)
        case(INTEGERS, "%s(x)" % to, lambda t, to=to: wrapped(t["x"], to), to,
             special)
        case(["pred"], "%s(x)" % to, lambda t: t["x"], to)
    for to in FLOATS:
        case(FLOATS, "%s(x)" % to, lambda t, to=to: rounded(t["x"], to), to)
        case(INTEGERS, "%s(x)" % to, lambda t, to=to: rounded(
            t["x"].astype(np.float64), to), to)
        case(["pred"], "%s(x)" % to, lambda t: t["x"], to)
    case(INTEGERS + FLOATS, "pred(x)", lambda t: t["x"] != 0, "pred", special)


def extremes():
    """Every pair of special values."""
    numbers = FLOATS + INTEGERS
    case(INTEGERS, "x / y", divide, None, special)
    case(INTEGERS, "x % y", remainder, None, special)
    for sign in ["+", "-", "*"]:
        case(INTEGERS, "x %s y" % sign, lambda t, s=sign: eval(
            "x %s y" % s, {k: v.astype(object) for k, v in t.items()}), None,
            special)
    for minus in ["-x", "neg(x)"]:
        case(SIGNED, minus, lambda t: -t["x"].astype(object), None, special)
    case(SIGNED, "abs(x)", lambda t: abs(t["x"].astype(object)), None, special)
    for sign in ["+", "-", "*", "/"]:
        case(FLOATS, "x %s y" % sign, lambda t, s=sign: eval("x %s y" % s, t),
             None, special)
    case(FLOATS, "x % y", lambda t: np.fmod(t["x"], t["y"]), None, special)
    case(FLOATS, "pow(x, y)", lambda t: np.power(t["x"], t["y"]), None,
         special)
    case(INTEGERS, "pow(x, y)", powers, None, special)
    case(numbers, "where(x < y, x, y)",
         lambda t: np.where(t["x"] < t["y"], t["x"], t["y"]), None, special)
    case(numbers, "clamp(y, x, 3)", lambda t: smaller(larger(
        t["x"], t["y"]), 3), None, special)
    case(INTEGERS, "cumsum(x, dim=1)", lambda t: np.cumsum(
        t["x"].astype(object), axis=1), None, special)
    for name in ["sum", "prod"]:
        case(INTEGERS, "%s(x, dim=1)" % name, lambda t, f=getattr(np, name):
             f(t["x"].astype(object), axis=1), None, special)
    for to in FLOATS:
        case(FLOATS + INTEGERS, "%s(x)" % to, lambda t, to=to: rounded(
            t["x"].astype(np.float64), to), to, special)
    case(numbers, "maximum(x, y)", lambda t: larger(t["x"], t["y"]), None,
         special)
    case(numbers, "minimum(x, y)", lambda t: smaller(t["x"], t["y"]), None,
         special)
    case(numbers, "max(x, dim=0)", lambda t: largest(t["x"], 0), None, special)
    case(numbers, "min(x, dim=0)", lambda t: smallest(t["x"], 0), None, special)
    for sign in ["<", "<=", ">", ">=", "==", "!="]:
        case(numbers, "x %s y" % sign, lambda t, s=sign: eval("x %s y" % s, t),
             "pred", special)
    case(numbers, "argmax(maximum(x, y), dim=1)", lambda t: np.argmax(
        larger(t["x"], t["y"]), axis=1), "i32", special)
    case(numbers, "argmin(maximum(x, y), dim=0)", lambda t: np.argmin(
        larger(t["x"], t["y"]), axis=0), "i32", special)
    case(FLOATS, "sign(x)", lambda t: np.copysign(np.sign(t["x"]), t["x"]),
         None, special)
    case(FLOATS, "atan2(x, y)", lambda t: np.arctan2(t["x"], t["y"]), None, special)
    for name in ["floor", "ceil", "tanh", "cbrt", "exp", "sqrt", "abs",
                 "square", "expm1", "log", "log1p", "isfinite"]:
        case(FLOATS, "%s(x)" % name, lambda t, f=getattr(np, name): f(t["x"]),
             "pred" if name == "isfinite" else None, special)
    case(FLOATS, "round(x)", lambda t: np.rint(t["x"]), None, special)
    for minus in ["-x", "neg(x)"]:
        case(FLOATS, minus, lambda t: -t["x"], None, special)
    case(FLOATS, "rsqrt(x)", lambda t: 1 / np.sqrt(t["x"]), None, special)
    case(FLOATS, "erf(x)", lambda t: erf(t["x"]), None, special)
    for name in ["sin", "cos"]:
        case(FLOATS, "%s(where(abs(x) < 1000, x, inf))" % name,
             lambda t, f=getattr(np, name): f(np.where(
                 np.abs(t["x"]) < 1000, t["x"], np.inf)), None, special)
    case(FLOATS, "sigmoid(x)", lambda t: 1 / (1 + np.exp(-t["x"])), None,
         special)
    case(FLOATS, "relu(x)", lambda t: larger(t["x"], 0), None, special)
    case(["f32", "f64", "bf16"], "softmax(where(isfinite(x), x, 9.0))",
         lambda t: softmax(np.where(np.isfinite(t["x"]), t["x"], 9.0), -1),
         None, special)


# ---- running

def sizes(shape, devices):
    """The first dim that divides is split over the devices."""
    split = next((k for k, n in enumerate(shape) if n % devices == 0), None)
    return ", ".join("%d%s" % (n, "@X" if k == split else "")
                     for k, n in enumerate(shape))


def program(made, types, texts, devices):
    params = ", ".join("%s: %s[%s]" % (n, types[n], sizes(v.shape, devices))
                       for n, v in made.items())
    return "mesh [X=%d];\nfn main(%s) {\n  return %s;\n}\n" % (
        devices, params, ",\n    ".join(texts))


def execute(shdc, way, folder, made, types, texts, results):
    """Each result, or what shdc said."""
    _, options, devices = way
    with open(folder + "/p.shd", "w") as f:
        f.write(program(made, types, texts, devices))
    args = []
    for name, value in made.items():
        np.save("%s/%s.npy" % (folder, name), stored(value, types[name]))
        args += ["--in", "%s=%s/%s.npy" % (name, folder, name)]
    r = subprocess.run([shdc, *options, folder + "/p.shd", "--", *args,
                        "--out", folder], capture_output=True, text=True,
                       timeout=120)
    if r.returncode != 0:
        return r.stderr[:600] or "status %d" % r.returncode
    names = ["out"] if len(texts) == 1 else ["out%d" % i
                                             for i in range(len(texts))]
    return [loaded("%s/%s.npy" % (folder, n), t) for n, t in zip(names, results)]


def wanted(function, made, result):
    with np.errstate(all="ignore"):
        value = np.asarray(function(made))
        if result in INTEGERS:
            return wrapped(value, result)
        return value.astype(np.bool_) if result == "pred" else \
            rounded(value.astype(np.float64), result)


def zero_signs(ours, theirs):
    return (ours == 0) & (theirs == 0) & (np.signbit(ours)
                                          != np.signbit(theirs))


def difference(ours, theirs, result, signs=False):
    if ours.shape != theirs.shape:
        return "shape %s, not %s" % (ours.shape, theirs.shape)
    if result not in FLOATS:
        wrong = ours != theirs
    else:
        with np.errstate(all="ignore"):
            close = np.abs(ours - theirs) <= TOLERANCE[result] * np.maximum(
                1, np.abs(theirs))
        wrong = ~(close | (ours == theirs) | np.isnan(ours) & np.isnan(theirs))
        if signs:
            wrong |= zero_signs(ours, theirs)
    if not wrong.any():
        return None
    at = tuple(int(k) for k in np.argwhere(wrong)[0])
    return "%d of %d differ; at %s: %s, numpy has %s" % (
        wrong.sum(), wrong.size, list(at), ours[at], theirs[at])


def group_results(shdc, way, folder, made, types, group):
    texts = [c[2] for c in group]
    found = execute(shdc, way, folder, made, types, texts,
                    [c[3] for c in group])
    if not isinstance(found, str):
        return found
    if len(group) == 1:
        return [found]
    half = len(group) // 2
    return (group_results(shdc, way, folder, made, types, group[:half])
            + group_results(shdc, way, folder, made, types, group[half:]))


def check_group(shdc, way, kind, group, number):
    """Prints a line for each; how many are wrong."""
    on, dtype = kind
    made, types = on(dtype) if on is inputs else (on(dtype), None)
    types = types or {n: dtype for n in made}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        found = group_results(shdc, way, folder, made, types, group)
    for (_, _, text, result, function), ours in zip(group, found):
        number += 1
        why = ours if isinstance(ours, str) else difference(
            ours, wanted(function, made, result), result,
            on is special and not EITHER_ZERO.search(text))
        failed += why is not None
        print("%s %d - %s of %s%s%s" % ("not ok" if why else "ok", number,
              text, dtype, " special values" if on is special else "", way[0]))
        if why:
            print("# " + "\n# ".join(why.splitlines()[:12]))
    return failed


def main():
    shdc = os.path.abspath(sys.argv[1])
    products(FLOATS + INTEGERS)
    for add in (pointwise_floats, pointwise_numbers, reductions, shapes,
                run_time, orders, random_numbers, leaves, placements, casts, extremes):
        add()
    chosen = [c for c in cases if len(sys.argv) < 3 or sys.argv[2] in c[2]]
    groups = {}
    for c in chosen:
        groups.setdefault((c[0], c[1]), []).append(c)
    failed = number = 0
    print("1..%d" % (len(chosen) * len(WAYS)))
    for way in WAYS:
        for kind, group in groups.items():
            failed += check_group(shdc, way, kind, group, number)
            number += len(group)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
