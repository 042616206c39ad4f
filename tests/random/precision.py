"""Dtypes in numpy, and what rounding may do to a result, for reference.py.

Floats are float64 arrays that hold values of their dtype.  A program is
evaluated once as it stands, and then several times with noise: each result
that is rounded is moved by as much as a correct implementation may move it,
up or down at random.  How far the results then lie apart is how far ours may
lie from the first.
"""
import numpy as np

FLOATS = {      # bits of the fraction with the leading one, least exponent
    "f8e5m2": (3, -14), "f8e4m3": (4, -6), "f8e3m4": (5, -2), "f8e4m3fn": (4, -6),
    "f8e5m2fnuz": (3, -15), "f8e4m3fnuz": (4, -7), "f8e4m3b11fnuz": (4, -10),
    "bf16": (8, -126), "f16": (11, -14), "f32": (24, -126), "f64": (53, -1022)}
LARGEST = {"f8e5m2": 57344.0, "f8e4m3": 240.0, "f8e3m4": 15.5, "f8e4m3fn": 448.0,
           "f8e5m2fnuz": 57344.0, "f8e4m3fnuz": 240.0, "f8e4m3b11fnuz": 30.0,
           "bf16": float.fromhex("0x1.fep127"), "f16": 65504.0,
           "f32": float(np.finfo(np.float32).max),
           "f64": float(np.finfo(np.float64).max)}
INTEGERS = {"i4": np.int8, "u4": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
            "pred": np.bool_}


def unit(dtype):
    return 2.0 ** -FLOATS[dtype][0]


def wide(dtype):
    """What is computed in."""
    return "f64" if dtype == "f64" else "f32"


def least(dtype):
    """Half the distance of the smallest numbers."""
    bits, exponent = FLOATS[dtype]
    return 2.0 ** max(exponent - bits, -1074)


def limited(y, dtype):
    """Where it is too large it is infinite, or NaN where nothing is; nor is there a -0 in fnuz."""
    beyond = np.copysign(np.inf, y) if "fn" not in dtype else np.nan
    y = np.where(np.abs(y) > LARGEST[dtype], beyond, y)
    return np.where(y == 0, 0.0, y) if dtype.endswith("fnuz") else y


def nearest(x, dtype):
    """Values of the dtype, half to even."""
    if dtype == "f64":
        return x
    bits, low = FLOATS[dtype]
    _, exponent = np.frexp(x)
    exponent = np.maximum(exponent, low + 1)
    y = np.ldexp(np.rint(np.ldexp(x, bits - exponent)), exponent - bits)
    return limited(np.where(np.isfinite(x), y, x), dtype)


# ---- what is larger: NaN wins, and 0 is larger than -0

def larger(a, b):
    y = np.maximum(a, b)
    return np.where((a == 0) & (b == 0), np.add(a, b), y) if y.dtype.kind == "f" else y


def smaller(a, b):
    y = np.minimum(a, b)
    return -larger(np.negative(a), np.negative(b)) if y.dtype.kind == "f" else y


def largest(x, axis=None, keepdims=False):
    y = np.max(x, axis=axis, keepdims=keepdims)
    if x.dtype.kind != "f":
        return y
    zero = np.any((x == 0) & ~np.signbit(x), axis=axis, keepdims=keepdims)
    return np.where(y == 0, np.where(zero, 0.0, -0.0), y)


def smallest(x, axis=None, keepdims=False):
    return -largest(-x, axis, keepdims) if x.dtype.kind == "f" \
        else np.min(x, axis=axis, keepdims=keepdims)


def descending(x):
    """Indices along the last dim, of the largest first, of equals the lower one."""
    back = x[..., ::-1]
    zero = (back == 0) & ~np.signbit(back) if x.dtype.kind == "f" else back == 0
    return x.shape[-1] - 1 - np.lexsort((zero, back), axis=-1)[..., ::-1]


def limits(dtype):
    """The least and the greatest of integers."""
    if dtype in ("i4", "u4"):
        return (-8, 7) if dtype == "i4" else (0, 15)
    info = np.iinfo(INTEGERS[dtype])
    return info.min, info.max


def wrapped(a, dtype):
    """Of integers of four bits, which numpy has as bytes, the low ones."""
    if dtype in ("i4", "u4"):
        low, _ = limits(dtype)
        return (((a.astype(np.int64) - low) & 15) + low).astype(INTEGERS[dtype])
    return a


class Tensor:
    """exact: no rounding has been done on the way."""

    def __init__(self, dtype, a, exact=True):
        self.dtype, self.a, self.exact = dtype, wrapped(np.asarray(a), dtype), exact

    @property
    def shape(self):
        return self.a.shape

    def like(self, a, exact=None):
        return Tensor(self.dtype, a, self.exact if exact is None else exact)


def same(a, b):
    return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b))))


class Noise:
    def __init__(self, seed=None):
        self.random = None if seed is None else np.random.default_rng(seed)

    def settle(self, dtype, y, exact=True, slack=0.0, total=None, wild=False):
        """A tensor of y, which is rounded once; a correct implementation may
        be off by `slack` more, and by the rounding of parts that add up to
        `total` in magnitude; where `wild`, it may find anything."""
        y = np.asarray(y, np.float64)
        if total is None:
            total = np.abs(y)
        if exact and not np.any(slack) and not np.any(wild) and \
                same(nearest(y, dtype), y):
            return Tensor(dtype, y)
        if self.random is None:
            return Tensor(dtype, nearest(y, dtype), False)
        return Tensor(dtype, self.moved(dtype, y, slack, total, wild), False)

    def moved(self, dtype, y, slack, total, wild):
        draw = self.random.choice([-1.0, 1.0], np.shape(y))
        if self.random.random() < 0.25:
            draw = np.full(np.shape(y), draw.flat[0])
        size = 2 * (slack + unit(dtype) * total) + 4 * least(dtype) * (
            (y != 0) | (np.asarray(slack) != 0))
        size = np.where(np.isfinite(size), size, 0)
        z = np.where(np.isfinite(y), y + draw * size, y)
        z = limited(z, dtype)
        other = np.where(np.isnan(y), self.random.choice(
            [0, 1, np.inf, -np.inf]), np.nan)
        if self.random.random() < 0.5:      # parts that are divided before may not overflow
            other = np.where(np.isinf(z), np.copysign(LARGEST[dtype], z), other)
        return np.where(wild & (draw > 0), other, z)


def exact_most(dtype):
    """Whole numbers up to there add up exactly, in any order."""
    return min(2.0 ** 24, 2.0 ** FLOATS[dtype][0], LARGEST[dtype])


# ---- results

def bounds(dtype, first, samples):
    """How far from the first a result may be; infinite where anything goes."""
    apart = np.zeros(first.shape)
    for s in samples:
        if dtype not in FLOATS:
            apart = np.where(s != first, np.inf, apart)
            continue
        equal = (s == first) | (np.isnan(s) & np.isnan(first))
        with np.errstate(invalid="ignore"):
            away = np.where(equal, 0, np.abs(s - first))
        away = np.where(np.isnan(away), np.inf, away)
        apart = np.maximum(apart, away)
    return 4 * apart


def wrong(dtype, first, apart, ours):
    """Where ours is beyond the bounds."""
    if dtype not in FLOATS:
        return (ours != first) & ~np.isinf(apart)
    equal = (ours == first) | (np.isnan(ours) & np.isnan(first))
    with np.errstate(invalid="ignore"):
        near = np.abs(ours - first) <= apart
    return ~(equal | near | np.isinf(apart))


# ---- files

def values_of_bytes(dtype):
    """The number of each byte, exponents that are all ones among them."""
    bits, low = FLOATS[dtype]
    magnitude = np.arange(128)
    exponent, fraction = magnitude >> (bits - 1), magnitude & ((1 << (bits - 1)) - 1)
    one = np.where(exponent > 0, 1 << (bits - 1), 0)
    value = np.ldexp((fraction + one).astype(np.float64), np.maximum(exponent, 1) - 1 + low - (bits - 1))
    if "fn" not in dtype:
        value = np.where(exponent == exponent[-1], np.where(fraction == 0, np.inf, np.nan), value)
    elif dtype.endswith("fn"):
        value[-1] = np.nan
    value = np.concatenate([value, -value])
    if dtype.endswith("fnuz"):
        value[128] = np.nan
    return value


def bytes_of(a, dtype):
    """Those of numbers that the dtype has."""
    table, flat = values_of_bytes(dtype), np.atleast_1d(a).reshape(-1, 1)
    hit = (table == flat) & (np.signbit(table) == np.signbit(flat)) | (np.isnan(table) & np.isnan(flat))
    assert hit.any(1).all(), dtype
    return np.argmax(hit, 1).astype(np.uint8).reshape(np.shape(a))


def load(path, dtype):
    a = np.load(path)
    if dtype == "bf16":
        bits = a.view(np.uint16).astype(np.uint32) << np.uint32(16)
        return bits.view(np.float32).astype(np.float64)
    if dtype in ("i4", "u4"):
        return a.view(INTEGERS[dtype])
    if dtype.startswith("f8"):
        return values_of_bytes(dtype)[a.view(np.uint8)]
    return a.astype(np.float64) if dtype in FLOATS else a


def save(path, t):
    a = t.a
    if t.dtype == "bf16":
        bits = np.atleast_1d(a).astype(np.float32).view(np.uint32)
        bits = np.where(np.isnan(np.atleast_1d(a)), 0x7fc00000, bits)
        a = (bits >> 16).astype(np.uint16).reshape(t.shape).view("V2")
    elif t.dtype in ("i4", "u4"):
        a = np.atleast_1d(a).view("V1").reshape(t.shape)
    elif t.dtype.startswith("f8"):
        a = np.atleast_1d(bytes_of(a, t.dtype)).view("V1").reshape(t.shape)
    elif t.dtype in FLOATS:
        a = a.astype({"f16": np.float16, "f32": np.float32,
                      "f64": np.float64}[t.dtype])
    np.save(path, a)
