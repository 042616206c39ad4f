"""What a .shd program computes, in numpy, from its text.

Nothing here comes from the compiler: programs are read by syntax.py and
evaluated as the language reference says, on whole tensors, one op after the
other; a manual function on as many threads as it has devices.  Placements say
nothing about values.
"""
import math
import os
import threading

import numpy as np

from precision import (FLOATS, INTEGERS, LARGEST, Noise, Tensor, descending, exact_most, larger,
                       largest, least, limits, nearest, smaller, smallest, unit, wide, wrapped)
from syntax import DTYPES, read_program


class Unknown(Exception):
    """Something that is not told here."""


def is_number(x):
    return isinstance(x, (int, float))


def divide(x, y):
    """Integers, toward zero; by zero it is -1."""
    low = -1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max
    safe = np.where(y == 0, 1, y).astype(x.dtype)
    minus = (safe == np.array(-1).astype(x.dtype)) & (x.dtype.kind == "i")
    safe = np.where(minus, 1, safe).astype(x.dtype)
    q = x // safe
    if x.dtype.kind == "i":
        q = q + ((q * safe != x) & ((x < 0) != (safe < 0)))
        q = np.where(minus, np.negative(x), q)
    return np.where(y == 0, low, q).astype(x.dtype)


def integer_power(x, y):
    negative = y < 0
    result = np.ones_like(x)
    base, left = x.copy(), np.where(negative, 0, y).astype(np.int64)
    while np.any(left > 0):
        result = np.where(left & 1, result * base, result).astype(x.dtype)
        base, left = base * base, left >> 1
    if not np.any(negative):
        return result
    odd = np.where(y % 2 == 0, 1, -1)
    small = np.where(x == 1, 1, np.where(x == -1, odd, 0))
    return np.where(negative, small, result).astype(x.dtype)


def threefry(high, low, count):
    key = [np.uint32(high), np.uint32(low)]
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


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def erf_inverse(y):
    """By Newton's method; y is not too near to 1."""
    x = np.zeros(np.shape(y))
    for _ in range(60):
        x = x - np.clip((erf(x) - y) * np.sqrt(np.pi) / 2 * np.exp(
            np.minimum(x * x, 40)), -0.5, 0.5)
    return x


def finite(a):
    """Magnitudes, of infinities and NaN zero."""
    return np.where(np.isfinite(a), np.abs(a), 0)


def whole_numbers(*arrays):
    return all(np.all(np.isfinite(a) & (a == np.rint(a))) for a in arrays)


def fill(dtype, dims, value):
    kind = np.float64 if dtype in FLOATS else INTEGERS[dtype]
    return np.full(dims, value).astype(kind)


FUNCTIONS = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin,
    "cos": np.cos, "tanh": np.tanh, "erf": erf,
    "sigmoid": lambda x: np.where(x > -700, 1 / (1 + np.exp(-np.maximum(
        x, -700))), np.exp(x))}
EXACT = {"floor": np.floor, "ceil": np.ceil, "round": np.rint}
COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater,
           ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal}


class Group:
    """The devices of a manual function: each a thread that meets others."""

    def __init__(self, axes):
        self.axes = axes                # (name, size), in the mesh's order
        self.lock, self.barriers, self.boxes = threading.Lock(), {}, {}
        self.inner = {}

    def inside(self, axes, mesh):
        """Of all functions that its devices call which are manual along
        these, too."""
        both = self.axes + axes
        with self.lock:
            return self.inner.setdefault(tuple(axes), Group(
                [axis for axis in mesh.items() if axis in both]))

    def abort(self):
        for barrier in list(self.barriers.values()):
            barrier.abort()

    def members(self, me, names):
        """Devices that differ along the names, the first major; my place."""
        where = [[n for n, _ in self.axes].index(a) for a in names]
        found = []
        for at in np.ndindex(*[self.axes[w][1] for w in where]):
            d = list(me)
            for w, i in zip(where, at):
                d[w] = i
            found.append(tuple(d))
        return found, found.index(tuple(me))

    def meet(self, me, names, value):
        """What each of them brings, in order."""
        members, _ = self.members(me, names)
        key = (tuple(names), members[0])
        with self.lock:
            barrier = self.barriers.setdefault(
                key, threading.Barrier(len(members)))
            box = self.boxes.setdefault(key, {})
        box[me] = value
        barrier.wait(60)
        found = [box[m] for m in members]
        barrier.wait(60)
        return found


class Device:
    def __init__(self, group, coordinates):
        self.group, self.coordinates = group, coordinates


class Machine:
    """Evaluates a program; `noise` as in precision.py."""

    def __init__(self, program, noise, device=None):
        self.program, self.noise, self.device = program, noise, device
        self.globals, self.mesh = {}, {}
        for name, size in program.mesh.items():
            self.mesh[name] = self.value(size, [])
        for name, size in program.dims:
            self.globals[name] = self.value(size, [self.globals])

    # ---- tensors

    def same_dtype(self, *args):
        """Numbers become tensors of the dtype that the others have."""
        dtype = next(x.dtype for x in args if isinstance(x, Tensor))
        return [self.tensor(x, dtype) for x in args]

    def tensor(self, x, dtype):
        if isinstance(x, Tensor):
            return x
        if dtype in FLOATS:
            y = nearest(np.float64(x), dtype)
            return Tensor(dtype, y, bool(y == x) or y != y)
        return Tensor(dtype, np.array(x).astype(INTEGERS[dtype]))

    def is_float(self, x):
        return x.dtype in FLOATS

    # ---- pointwise

    def unary(self, name, x):
        if is_number(x):
            return float({**FUNCTIONS, **EXACT}[name](x))
        if name in EXACT:
            return x.like(EXACT[name](x.a))
        y = FUNCTIONS[name](x.a)
        return self.noise.settle(x.dtype, y, False,
                                 4 * unit(wide(x.dtype)) * np.abs(y))

    def call_pow(self, a, b):
        a, b = self.same_dtype(a, b)
        if not self.is_float(a):
            return a.like(integer_power(*np.broadcast_arrays(a.a, b.a)))
        y = np.power(a.a, b.a)
        return self.noise.settle(a.dtype, y, False,
                                 8 * unit(wide(a.dtype)) * np.abs(y))

    def arithmetic(self, sign, a, b):
        if is_number(a) and is_number(b):
            return self.number_arithmetic(sign, a, b)
        a, b = self.same_dtype(a, b)
        x, y = a.a, b.a
        if sign in COMPARE:
            return Tensor("pred", COMPARE[sign](x, y))
        if sign in ("&&", "||"):
            return Tensor("pred", x & y if sign == "&&" else x | y)
        if not self.is_float(a):
            return a.like(self.integers(sign, x, y))
        if sign == "%":
            return a.like(np.fmod(x, y), a.exact and b.exact)
        f = {"+": np.add, "-": np.subtract, "*": np.multiply,
             "/": np.divide}[sign]
        result, exact = f(x, y), a.exact and b.exact
        if exact and a.dtype == "f64":
            exact = np.array_equal(f(x.astype(np.longdouble), y.astype(
                np.longdouble)), result.astype(np.longdouble), True)
        return self.noise.settle(a.dtype, result, exact)

    def integers(self, sign, x, y):
        x, y = np.broadcast_arrays(x, y)
        if sign == "/":
            return divide(x, y)
        if sign == "%":
            return x - np.where(y == 0, 0, divide(x, y) * y).astype(x.dtype)
        return {"+": np.add, "-": np.subtract, "*": np.multiply}[sign](
            x, y, dtype=x.dtype)

    def number_arithmetic(self, sign, a, b):
        if sign in COMPARE:
            return bool(COMPARE[sign](a, b))
        if sign in ("&&", "||"):
            return (a and b) if sign == "&&" else (a or b)
        if sign == "/":
            both = isinstance(a, int) and isinstance(b, int)
            return int(a / b) if both else a / b
        if sign == "%":
            return math.fmod(a, b) if isinstance(a, float) or isinstance(
                b, float) else a - int(a / b) * b
        return {"+": a + b, "-": a - b, "*": a * b}[sign]

    def call_neg(self, x):
        return -x if is_number(x) else x.like(np.negative(x.a))

    def call_abs(self, x):
        return abs(x) if is_number(x) else x.like(np.abs(x.a))

    def call_sign(self, x):
        return x.like(np.sign(x.a))

    def call_isfinite(self, x):
        return Tensor("pred", np.isfinite(x.a))

    def call_square(self, x):
        return self.arithmetic("*", x, x)

    def call_relu(self, x):
        return self.call_maximum(x, 0)

    def call_silu(self, x):
        return self.arithmetic("*", x, self.unary("sigmoid", x))

    def call_gelu(self, x, approximate=True):
        def a(sign, *pair):
            return self.arithmetic(sign, *pair)
        if not approximate:
            return a("*", a("*", x, 0.5), a("+", 1.0, self.unary(
                "erf", a("*", x, math.sqrt(0.5)))))
        cube = a("*", x, a("*", x, x))
        inner = a("*", a("+", x, a("*", cube, 0.044715)),
                  math.sqrt(2 / math.pi))
        return a("*", a("*", x, 0.5), a("+", 1.0, self.unary("tanh", inner)))

    def pick(self, f, *args):
        args = self.same_dtype(*args)
        return args[0].like(f(*[x.a for x in args]),
                            all(x.exact for x in args))

    def call_maximum(self, a, b):
        return self.pick(larger, a, b)

    def call_minimum(self, a, b):
        return self.pick(smaller, a, b)

    def call_clamp(self, low, x, high):
        return self.pick(lambda a, b, c: smaller(larger(a, b), c), low, x, high)

    def call_where(self, p, a, b):
        return self.pick(lambda x, y: np.where(p.a, x, y), a, b)

    def cast(self, dtype, x):
        if is_number(x):
            return self.tensor(x, dtype)
        if dtype == "pred":
            return Tensor("pred", x.a != 0)
        if dtype in FLOATS:
            return self.noise.settle(dtype, x.a.astype(np.float64), x.exact)
        if not self.is_float(x):
            return Tensor(dtype, x.a.astype(INTEGERS[dtype]))
        least_one, most = limits(dtype)
        y = np.trunc(np.where(np.isnan(x.a), 0, x.a))
        big, small = y >= float(most), y <= float(least_one)
        whole = INTEGERS[dtype]     # of each, or numpy takes floats for them
        y = np.where(big | small, 0, y).astype(whole)
        y = np.where(big, whole(most), np.where(small, whole(least_one), y))
        return Tensor(dtype, y)

    # ---- reductions

    def dims(self, x, dim):
        if dim is None:
            return tuple(range(x.a.ndim))
        dim = dim if isinstance(dim, tuple) else (dim,)
        return tuple(d % x.a.ndim for d in dim)

    def add_up(self, dtype, terms, exact, reduce):
        """A sum: `reduce` adds an array up as the sum is."""
        y, total = reduce(terms), reduce(finite(terms))
        wild = ~(total <= LARGEST[dtype])   # in some order
        count = max(1, terms.size // max(1, np.size(y)))
        whole = exact and whole_numbers(terms)
        if whole and np.all(total <= exact_most(dtype)):
            return Tensor(dtype, y)
        if count == 1:
            return self.noise.settle(dtype, y, exact)
        slack = (count + 1) * unit(wide(dtype)) * total
        return self.noise.settle(dtype, y, False, slack, total, wild)

    def call_sum(self, x, dim=None, keep=False):
        axes = self.dims(x, dim)

        def reduce(a):
            return a.sum(axis=axes, keepdims=keep, dtype=a.dtype)
        if x.dtype == "pred":
            return Tensor("i32", reduce(x.a.astype(np.int32)))
        if not self.is_float(x):
            return x.like(reduce(x.a))
        return self.add_up(x.dtype, x.a, x.exact, reduce)

    def call_prod(self, x, dim=None, keep=False):
        axes = self.dims(x, dim)

        def reduce(a):
            return a.prod(axis=axes, keepdims=keep, dtype=a.dtype)
        if not self.is_float(x):
            return x.like(reduce(x.a))
        y, count = reduce(x.a), math.prod(x.shape[d] for d in axes)
        if x.exact and whole_numbers(x.a) and np.all(
                reduce(np.maximum(np.abs(x.a), 1)) < 2 ** FLOATS[x.dtype][0]):
            return x.like(y)
        # Parts may overflow or vanish where the whole does not.
        high = reduce(np.maximum(np.abs(x.a), 1))
        low = reduce(np.minimum(np.abs(x.a), 1))
        loss = np.where((low < 2.0 ** (FLOATS[x.dtype][1] + 1)) & (count > 1),
                        2.0 ** FLOATS[x.dtype][1] * high, 0)
        wild = ~(high <= LARGEST[x.dtype]) & (count > 1)
        return self.noise.settle(
            x.dtype, y, False, count * unit(wide(x.dtype)) * np.abs(y) + loss,
            np.abs(y) * min(count, 5), wild)

    def extreme(self, f, x, dim, keep):
        return x.like(f(x.a, axis=self.dims(x, dim), keepdims=keep))

    def call_max(self, x, dim=None, keep=False):
        return self.extreme(largest, x, dim, keep)

    def call_min(self, x, dim=None, keep=False):
        return self.extreme(smallest, x, dim, keep)

    def call_any(self, x, dim=None, keep=False):
        return self.extreme(np.any, x, dim, keep)

    def call_all(self, x, dim=None, keep=False):
        return self.extreme(np.all, x, dim, keep)

    def call_mean(self, x, dim=None, keep=False):
        count = math.prod(x.shape[d] for d in self.dims(x, dim))
        total = self.call_sum(x, dim, keep)
        if count & count - 1:       # the parts of a sum may be divided
            total.exact = False
        return self.arithmetic("/", total, count)

    def widened(self, x):
        return Tensor(wide(x.dtype), x.a, x.exact)

    def call_var(self, x, dim=None, keep=False):
        w = self.widened(x)
        away = self.arithmetic("-", w, self.call_mean(w, dim, True))
        return self.cast(x.dtype, self.call_mean(self.call_square(away), dim,
                                                 keep))

    def call_logsumexp(self, x, dim=None, keep=False):
        high = self.call_max(x, dim, True)
        high = high.like(np.where(np.isfinite(high.a), high.a, 0))
        total = self.call_sum(self.unary("exp", self.arithmetic(
            "-", x, high)), dim, True)
        y = self.arithmetic("+", self.unary("log", total), high)
        return y if keep else y.like(y.a.squeeze(self.dims(x, dim)))

    def call_softmax(self, x, dim=-1):
        e = self.unary("exp", self.arithmetic("-", x, self.call_max(
            x, dim, True)))
        return self.arithmetic("/", e, self.call_sum(e, dim, True))

    def call_log_softmax(self, x, dim=-1):
        away = self.arithmetic("-", x, self.call_max(x, dim, True))
        total = self.call_sum(self.unary("exp", away), dim, True)
        return self.arithmetic("-", away, self.unary("log", total))

    def scaled(self, x, away, dim, eps):
        mean = self.call_mean(self.call_square(away), dim, True)
        scale = self.unary("rsqrt", self.arithmetic("+", mean, eps))
        return self.cast(x.dtype, self.arithmetic("*", away, scale))

    def call_rms_norm(self, x, dim=-1, eps=1e-6):
        return self.scaled(x, self.widened(x), dim, eps)

    def call_layer_norm(self, x, dim=-1, eps=1e-6):
        w = self.widened(x)
        return self.scaled(x, self.arithmetic("-", w, self.call_mean(
            w, dim, True)), dim, eps)

    def position(self, f, x, dim):
        if dim is None:
            return Tensor("i32", np.int32(f(x.a.reshape(-1))))
        return Tensor("i32", f(x.a, axis=dim).astype(np.int32))

    def call_argmax(self, x, dim=None):
        return self.position(np.argmax, x, dim)

    def call_argmin(self, x, dim=None):
        return self.position(np.argmin, x, dim)

    def call_cumsum(self, x, dim=None):
        def reduce(a):
            return np.cumsum(a, axis=0 if dim is None else dim, dtype=a.dtype)
        if not self.is_float(x):
            return x.like(reduce(x.a))
        y, total = reduce(x.a), reduce(finite(x.a))
        if x.exact and whole_numbers(x.a) and np.all(total <= exact_most(x.dtype)):
            return x.like(y)
        n = x.shape[0 if dim is None else dim]
        if n == 1:
            return x
        return self.noise.settle(x.dtype, y, False,
                                 n * unit(wide(x.dtype)) * total, total,
                                 ~(total <= LARGEST[x.dtype]))

    # ---- products

    def call_einsum(self, equation, *operands, dtype=None, out=None):
        del out
        equation = equation.replace(" ", "")
        to = dtype[1] if dtype else operands[0].dtype
        arrays = [x.a for x in operands]
        if not self.is_float(operands[0]):
            if to != operands[0].dtype:
                arrays = [a.astype(INTEGERS[to]) for a in arrays]
            return Tensor(to, np.einsum(equation, *arrays))
        return self.products(to, equation, operands)

    def products(self, to, equation, operands):
        def total_of(f):
            return np.einsum(equation, *[f(x.a) for x in operands])
        y, total = total_of(np.asarray), total_of(finite)
        count = total_of(lambda a: np.ones(a.shape)).max()
        exact = all(x.exact for x in operands)
        wild, n = ~(total <= LARGEST[to]), len(operands)
        slack = (count + 1) * unit(wide(to)) * total
        if n > 2 or self.adds_first(equation):
            # Pairs, or single operands, are added up before they meet others.
            high = total_of(lambda a: np.where(np.isfinite(a), np.maximum(
                np.abs(a), 1), np.inf))
            wild, narrow = ~(high <= LARGEST[to]), operands[0].dtype
            slack = slack + n * (unit(narrow) * total + least(
                narrow) * count * np.where(wild, 0, high))
        if exact and whole_numbers(*[x.a for x in operands]) and np.all(
                total <= exact_most(to)):
            slack = 0
        elif count == 1 and n <= 2:
            return self.noise.settle(to, y, exact and to != "f64")
        else:
            exact = False
        return self.noise.settle(to, y, exact, slack, total, wild)

    def adds_first(self, equation):
        """Has an operand letters that no other has, nor the result?"""
        terms = equation.replace("->", ",").split(",")
        return any(equation.count(c) == t.count(c) for t in terms for c in t
                   if c != ".")

    def call_matmul(self, a, b, out=None):
        del out
        if a.a.ndim == 1 or b.a.ndim == 1:
            left = "i" if a.a.ndim == 1 else "...ki"
            right = "i" if b.a.ndim == 1 else "...il"
            k = "" if a.a.ndim == 1 else "k"
            dots = "..." if "..." in left + right else ""
            return self.call_einsum("%s,%s->%s%s%s" % (
                left, right, dots, k, "" if b.a.ndim == 1 else "l"), a, b)
        return self.call_einsum("...ij,...jk->...ik", a, b)

    # ---- shapes

    def sizes(self, dims):
        """Of a type or a list of dims that has been evaluated."""
        return [-1 if d is None else d for d in dims[2]]

    def move(self, x, f):
        return x.like(f(x.a))

    def call_reshape(self, x, dims):
        return self.move(x, lambda a: a.reshape(self.sizes(dims)))

    def call_transpose(self, x, dims=None):
        return self.move(x, lambda a: a.transpose(dims))

    def call_broadcast(self, x, dims):
        return self.move(x, lambda a: np.broadcast_to(a, self.sizes(dims)))

    def joined(self, parts, f):
        return parts[0].like(f([p.a for p in parts]),
                             all(p.exact for p in parts))

    def call_concat(self, tensors, dim=0):
        return self.joined(tensors, lambda a: np.concatenate(a, axis=dim))

    def call_stack(self, tensors, dim=0):
        return self.joined(tensors, lambda a: np.stack(a, axis=dim))

    def call_split(self, x, n, dim=0):
        return tuple(x.like(a) for a in np.split(x.a, n, axis=dim))

    def call_repeat(self, x, n, dim=0):
        return self.move(x, lambda a: np.repeat(a, n, axis=dim))

    def call_pad(self, x, widths, value=0):
        filler = self.tensor(value, x.dtype).a
        low, high, inner = zip(*((*w, 0)[:3] for w in widths))
        sizes = [n + i * max(n - 1, 0) for n, i in zip(x.a.shape, inner)]
        def spread(a):
            wide = np.full([n + max(p, 0) + max(q, 0) for n, p, q in zip(sizes, low, high)],
                           filler, a.dtype)
            wide[tuple(slice(max(p, 0), max(p, 0) + n, i + 1)
                       for p, n, i in zip(low, sizes, inner))] = a
            return wide[tuple(slice(max(-p, 0), n + min(q, 0))
                              for p, q, n in zip(low, high, wide.shape))]
        return self.move(x, spread)

    def call_roll(self, x, shift, dim=0):
        return self.move(x, lambda a: np.roll(a, shift, axis=dim))

    def call_flip(self, x, dim=0):
        return self.move(x, lambda a: np.flip(a, axis=dim))

    def clipped(self, idx, size):
        return np.clip(idx.a.astype(np.int64), 0, size - 1)

    def call_take(self, x, idx, dim=0):
        return self.move(x, lambda a: np.take(
            a, self.clipped(idx, a.shape[dim]), axis=dim))

    def call_one_hot(self, idx, n, dtype=None):
        to = dtype[1] if dtype else "f32"
        hit = idx.a.astype(np.int64)[..., None] == np.arange(n)
        return Tensor(to, hit.astype(np.float64 if to in FLOATS else
                                     INTEGERS[to]))

    def call_zeros(self, kind):
        return Tensor(kind[1], fill(kind[1], self.sizes(kind), 0))

    def call_ones(self, kind):
        return Tensor(kind[1], fill(kind[1], self.sizes(kind), 1))

    def call_full(self, kind, value):
        v = self.tensor(value, kind[1])
        return v.like(np.broadcast_to(v.a, self.sizes(kind)))

    def call_iota(self, kind, dim=0):
        dims = self.sizes(kind)
        shape = [1] * len(dims)
        shape[dim] = dims[dim]
        a = np.broadcast_to(np.arange(dims[dim]).reshape(shape), dims)
        t = Tensor("i64", a)
        return t if kind[1] == "i64" else self.cast(kind[1], t)

    def call_reshard(self, x, dims):
        del dims
        return x

    def call_shard_like(self, x, y):
        del y
        return x

    def call_barrier(self, x):
        return x

    def call_fence(self, *operands):
        return operands[0] if len(operands) == 1 else operands

    def call_size(self, x, dim):
        return x.shape[dim]

    def call_axis_size(self, axis):
        return self.mesh[axis]

    # ---- run-time indices, orders, random numbers

    def starts(self, x, start, sizes):
        found = []
        start = start if isinstance(start, tuple) else (start,)
        for at, whole, size in zip(start, x.shape, sizes):
            at = int(at.a) if isinstance(at, Tensor) else at
            found.append(slice(min(max(at, 0), whole - size),
                               min(max(at, 0), whole - size) + size))
        return tuple(found)

    def call_dynamic_slice(self, x, start, size):
        return self.move(x, lambda a: a[self.starts(x, start, size)])

    def call_dynamic_update_slice(self, x, update, start):
        a = x.a.copy()
        a[self.starts(x, start, update.shape)] = update.a
        return x.like(a, x.exact and update.exact)

    def call_scatter_add(self, x, idx, updates, dim=0):
        dim %= x.a.ndim
        idx = self.tensor(idx, "i32")
        at = idx.a.astype(np.int64)
        updates = self.tensor(updates, x.dtype)
        shape = x.shape[:dim] + at.shape + x.shape[dim + 1:]
        u = np.moveaxis(np.broadcast_to(updates.a, shape), range(
            dim, dim + at.ndim), range(at.ndim))
        exact = x.exact and updates.exact

        def scatter(base, more):
            base = np.moveaxis(base.copy(), dim, 0)
            for k in np.ndindex(at.shape):
                if 0 <= at[k] < len(base):
                    base[at[k]] = base[at[k]] + more[k]
            return np.moveaxis(base, 0, dim)
        y = scatter(x.a, u)
        if not self.is_float(x):
            return x.like(y)
        total = scatter(finite(x.a), finite(u))
        whole = exact and whole_numbers(x.a, u)
        if whole and np.all(total <= exact_most(x.dtype)):
            return x.like(y)
        count = scatter(np.zeros(x.shape), np.ones(u.shape))
        return self.noise.settle(x.dtype, y, False, (count + (
            count > 0)) * unit(wide(x.dtype)) * total, total * (count > 0),
            ~(total <= LARGEST[x.dtype]))

    def call_sort(self, x, dim=-1):
        return self.move(x, lambda a: np.sort(a, axis=dim, kind="stable"))

    def call_argsort(self, x, dim=-1):
        return Tensor("i32", np.argsort(x.a, axis=dim, kind="stable").astype(
            np.int32))

    def call_top_k(self, x, k):
        at = descending(x.a)[..., :k]
        return (x.like(np.take_along_axis(x.a, at, -1)),
                Tensor("i32", at.astype(np.int32)))

    def words(self, kind, seed):
        dims = self.sizes(kind)
        seed = int(seed.a) & 0xffffffff if isinstance(seed, Tensor) else seed
        return threefry(seed >> 32 & 0xffffffff, seed & 0xffffffff,
                        math.prod(dims)).reshape(dims)

    def uniform(self, words, bits):
        return (words >> np.uint32(32 - bits)).astype(np.float64) / 2.0 ** bits

    def random_uniform(self, kind, seed):
        bits = 32 if kind[1] == "f64" else FLOATS[kind[1]][0] - 1
        return Tensor(kind[1], self.uniform(self.words(kind, seed), bits))

    def random_normal(self, kind, seed):
        u = self.uniform(self.words(kind, seed), 23) * 2 - 1 + 2.0 ** -24
        y = math.sqrt(2) * erf_inverse(u)
        slack = np.abs(y) * 4e-6 + 2.0 ** -22 / np.maximum(1 - np.abs(u), 1e-7)
        return self.noise.settle(kind[1], y, False, slack)

    # ---- devices that meet

    def meet(self, x, axis):
        names = axis if isinstance(axis, tuple) else (axis,)
        group, me = self.device.group, self.device.coordinates
        _, place = group.members(me, names)
        return group.meet(me, names, x), place

    def stacked(self, parts):
        """A tensor with a new first dim: the devices."""
        return self.joined(parts, np.stack)

    def call_psum(self, x, axis):
        parts, _ = self.meet(x, axis)
        return self.call_sum(self.stacked(parts), 0)

    def call_pmax(self, x, axis):
        return self.call_max(self.stacked(self.meet(x, axis)[0]), 0)

    def call_pmin(self, x, axis):
        return self.call_min(self.stacked(self.meet(x, axis)[0]), 0)

    def call_pmean(self, x, axis):
        return self.call_mean(self.stacked(self.meet(x, axis)[0]), 0)

    def call_all_gather(self, x, axis, dim=0):
        return self.call_concat(self.meet(x, axis)[0], dim)

    def call_psum_scatter(self, x, axis, dim=0):
        parts, place = self.meet(x, axis)
        total = self.call_sum(self.stacked(parts), 0)
        return self.call_split(total, len(parts), dim)[place]

    def call_all_to_all(self, x, axis, split=0, concat=0):
        parts, place = self.meet(x, axis)
        return self.call_concat([self.call_split(p, len(parts), split)[place]
                                 for p in parts], concat)

    def call_ppermute(self, x, axis, shift=1, perm=None):
        parts, place = self.meet(x, axis)
        n = len(parts)
        if perm is None:
            perm = [(j, (j + shift) % n) for j in range(n)]
        for source, to in perm:
            if to == place:
                return parts[source]
        return x.like(np.zeros_like(x.a), True)

    def call_ragged_all_to_all(self, x, out, *rest):
        *tables, axis = rest
        parts, place = self.meet((x, tables), axis)
        a, exact = out.a.copy(), out.exact
        receive = tables[2]
        # The row that a sender writes to is told by the sender.
        for sender, (theirs, (at, count, to, _)) in enumerate(parts):
            del sender
            n, first, row = (int(t.a[place]) for t in (count, at, to))
            a[row:row + n] = theirs.a[first:first + n]
            exact = exact and theirs.exact
        del receive
        return out.like(a, exact)

    def call_uniform(self, x, axis):
        parts, _ = self.meet(x, axis)
        for other in parts:
            if not np.array_equal(other.a, x.a, equal_nan=x.a.dtype.kind not in "biu"):
                raise ValueError("uniform of what differs along %s" % (axis,))
        return x

    def call_axis_index(self, axis):
        names = axis if isinstance(axis, tuple) else (axis,)
        group, me = self.device.group, self.device.coordinates
        return Tensor("i32", np.int32(group.members(me, names)[1]))

    # ---- expressions

    def value(self, e, scopes):
        return getattr(self, "value_" + e[0])(e, scopes)

    def value_number(self, e, _):
        return e[1]

    def value_string(self, e, _):
        return e[1]

    def value_name(self, e, scopes):
        for scope in reversed(scopes):
            if e[1] in scope:
                return scope[e[1]]
        if e[1] in self.program.mesh:
            return e[1]
        if e[1] in self.program.types:
            return self.value(self.program.types[e[1]], scopes)
        raise Unknown("name " + e[1])

    def value_tuple(self, e, scopes):
        return tuple(self.value(x, scopes) for x in e[1])

    def value_type(self, e, scopes):
        return ("type", e[1], [None if size is None else
                               self.value(size, scopes) for size, _ in e[2]])

    def value_one(self, e, scopes):
        x = self.value(e[2], scopes)
        if e[1] == "-":
            return self.call_neg(x)
        return not x if is_number(x) else x.like(~x.a)

    def value_two(self, e, scopes):
        return self.arithmetic(e[1], self.value(e[2], scopes),
                               self.value(e[3], scopes))

    def value_call(self, e, scopes):
        _, name, args, named = e
        args = [self.value(a, scopes) for a in args]
        named = {k: self.value(a, scopes) for k, a in named.items()}
        if name in self.program.functions:
            return self.call(self.program.functions[name], args, named)
        if name in DTYPES:
            return self.cast(name, *args)
        if name in FUNCTIONS or name in EXACT:
            return self.unary(name, *args)
        method = name.replace(".", "_")
        method = method if "." in name else "call_" + name
        if not hasattr(self, method):
            raise Unknown(name)
        return getattr(self, method)(*args, **named)

    # ---- indices

    def places(self, items, x, scopes):
        """Index items as numpy's; of each dim a slice, an int or None."""
        named = sum(i[0] not in ("new", "dots") for i in items)
        found, d = [], 0
        for item in items:
            if item[0] == "dots":
                rest = x.a.ndim - named
                found += [slice(None)] * rest
                d += rest
            elif item[0] == "new":
                found.append(None)
            else:
                found.append(self.place(item, x.shape[d], scopes))
                d += 1
        return tuple(found)

    def place(self, item, size, scopes):
        if item[0] != "slice":
            i = self.value(item, scopes)
            return min(max(int(i.a), 0), size - 1) if isinstance(i, Tensor) \
                else i
        parts = [None if p is None else self.value(p, scopes)
                 for p in item[1:]]
        if not any(isinstance(p, Tensor) for p in parts):
            return slice(*parts)
        low, high = (p.a if isinstance(p, Tensor) else np.asarray(p)
                     for p in parts[:2])
        dtype = next(p.dtype for p in parts if isinstance(p, Tensor))
        length = int(wrapped(np.asarray(high.astype(low.dtype) - low), dtype))
        at = min(max(int(low), 0), size - length)
        return slice(at, at + length)

    def value_index(self, e, scopes):
        x = self.value(e[1], scopes)
        if isinstance(x, tuple):
            return x[self.value(e[2][0], scopes)]
        return x.like(x.a[self.places(e[2], x, scopes)])

    # ---- statements

    def bind(self, target, value, scope):
        if isinstance(target, list):
            for t, v in zip(target, value):
                self.bind(t, v, scope)
        else:
            scope[target] = value

    def run(self, statements, scopes):
        """What is returned, if anything is."""
        for s in statements:
            found = getattr(self, "run_" + s[0])(s, scopes)
            if found is not None:
                return found
        return None

    def inside(self, body, scopes, **bound):
        self.run(body, scopes + [bound])

    def run_let(self, s, scopes):
        self.bind(s[1], self.value(s[2], scopes), scopes[-1])

    def run_assign(self, s, scopes):
        value = self.value(s[2], scopes)
        target = s[1]
        name = target[1] if target[0] == "name" else target[1][1]
        scope = next(c for c in reversed(scopes) if name in c)
        if target[0] == "index":
            x = scope[name]
            value, a = self.tensor(value, x.dtype), x.a.copy()
            a[self.places(target[2], x, scopes)] = value.a
            value = x.like(a, x.exact and value.exact)
        scope[name] = value

    def run_return(self, s, scopes):
        values = [self.value(e, scopes) for e in s[1]]
        return values[0] if len(values) == 1 else tuple(values)

    def run_while(self, s, scopes):
        trips = 0
        while bool(np.all(self.value(s[1], scopes).a)):
            self.inside(s[2], scopes)
            trips += 1
            if trips > 10000:
                raise Unknown("an endless loop")

    def run_if(self, s, scopes):
        p = self.value(s[1], scopes)
        self.inside(s[2] if bool(p.a if isinstance(p, Tensor) else p)
                    else s[3], scopes)

    def run_for(self, s, scopes):
        _, unrolled, targets, low, high, body = s
        low = self.value(low, scopes)
        if high is not None:
            high = self.value(high, scopes)
            first, end = (int(v.a) if isinstance(v, Tensor) else v
                          for v in (low, high))
            for i in range(first, end):
                index = i if unrolled else Tensor("i32", np.int32(i))
                self.inside(body, scopes, **{targets[0]: index})
            return
        for i, part in enumerate(self.slices(low, targets[-1])):
            bound = {}
            self.bind(targets[-1], part, bound)
            if len(targets) > 1:
                bound[targets[0]] = i if unrolled else Tensor("i32",
                                                              np.int32(i))
            self.run(body, scopes + [bound])

    def slices(self, over, target):
        if isinstance(over, Tensor):
            return [over.like(a) for a in over.a]
        if isinstance(target, list) and all(isinstance(x, Tensor)
                                            for x in over):
            return list(zip(*[[x.like(a) for a in x.a] for x in over]))
        return list(over)

    # ---- functions

    def arguments(self, f, args, named):
        bound = {name: value for (name, _), value in zip(f.params, args)}
        bound.update(named)
        return bound

    def bind_sizes(self, f, bound):
        """Sizes that a parameter's type names."""
        for name, kind in f.params:
            if not kind or kind[0] != "type":
                continue
            for (size, _), n in zip(kind[2], bound[name].shape):
                if size and size[0] == "name" and \
                        size[1] not in self.globals:
                    bound.setdefault(size[1], n)

    def call(self, f, args, named):
        bound = self.arguments(f, args, named)
        for name, kind in f.params:
            if is_number(bound[name]) and kind and kind[0] == "type":
                bound[name] = self.tensor(bound[name], kind[1])
        self.bind_sizes(f, bound)
        if f.mode == "extern":
            return getattr(self, "extern_" + f.symbol)(*bound_values(f, bound))
        if f.mode == "manual":
            return self.call_manual(f, bound)
        return self.run(f.body, [self.globals, bound])

    def extern_scaled(self, x, by):
        return self.arithmetic("+", self.arithmetic("*", x, by), 1)

    def extern_halvings(self, x):
        def one(v):
            n = 0
            while v and v % 2 == 0:
                v, n = v // 2, n + 1
            return n
        return x.like(np.vectorize(one, otypes=[np.int32])(x.a))

    def extern_product(self, x, y):
        return self.call_einsum("ij,jk->ik", x, y)

    extern_integers = extern_product

    def extern_extremes(self, x):
        return self.call_min(x, 1), self.call_max(x, 1)

    def extern_total(self, x):
        return self.call_sum(x)

    def extern_swish(self, x, steepness):
        return self.arithmetic("*", x, self.unary("sigmoid", self.arithmetic(
            "*", x, steepness)))

    # ---- manual functions

    def axes_of(self, kind, axes):
        """For each dim, the manual axes that split it."""
        if kind[0] == "name":
            kind = self.program.types[kind[1]]
        return [[a for a in names if a in axes] for _, names in kind[2]]

    def part(self, x, spec, coordinates):
        """A device's part of a tensor."""
        for d, names in enumerate(spec):
            for name in names:
                n = x.shape[d] // self.mesh[name]
                at = coordinates[name] * n
                x = x.like(np.take(x.a, range(at, at + n), axis=d))
        return x

    def whole(self, parts, spec, axes):
        """parts: {coordinates: tensor}; the part of index 0 stands for all
        that are alike."""
        used = [name for names in spec for name in names]
        first = next(iter(parts.values()))
        shape = [n * math.prod(self.mesh[a] for a in names)
                 for n, names in zip(first.shape, spec)]
        a = np.zeros(shape, first.a.dtype)
        for place, t in parts.items():
            at = dict(zip([n for n, _ in axes], place))
            if any(i for name, i in at.items() if name not in used):
                continue
            corner = []
            for n, names in zip(t.shape, spec):
                k = 0
                for name in names:
                    k = k * self.mesh[name] + at[name]
                corner.append(slice(k * n, k * n + n))
            a[tuple(corner)] = t.a
        return first.like(a, all(t.exact for t in parts.values()))

    def call_manual(self, f, bound):
        names = f.axes or list(self.mesh)
        axes = [(n, s) for n, s in self.mesh.items() if n in names]
        results, failures = {}, []
        group, around = Group(axes), {}
        if self.device:
            outer = self.device.group
            group = outer.inside(axes, self.mesh)
            around = dict(zip([n for n, _ in outer.axes],
                              self.device.coordinates))
        seed = None if self.noise.random is None else \
            int(self.noise.random.integers(1 << 30))

        def device(place):
            try:
                at = dict(zip([n for n, _ in axes], place))
                both = {**around, **at}
                machine = Machine(self.program, Noise(seed), Device(
                    group, tuple(both[n] for n, _ in group.axes)))
                local = {k: v for k, v in bound.items()
                         if not isinstance(v, Tensor)}
                for name, kind in f.params:
                    local[name] = self.part(bound[name], self.axes_of(
                        kind, names), at)
                with np.errstate(all="ignore"):
                    results[place] = machine.run(f.body, [
                        machine.globals, local])
            except BaseException as error:
                failures.append(error)
                group.abort()

        threads = [threading.Thread(target=device, args=(p,))
                   for p in np.ndindex(*[n for _, n in axes])]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if failures:
            raise failures[0]
        return self.put_together(f, results, axes)

    def put_together(self, f, results, axes):
        names = [n for n, _ in axes]
        specs = [self.axes_of(kind, names) for _, kind in f.results]
        if len(specs) == 1:
            return self.whole(results, specs[0], axes)
        return tuple(self.whole({p: r[i] for p, r in results.items()}, spec,
                                axes) for i, spec in enumerate(specs))


def bound_values(f, bound):
    return [bound[name] for name, _ in f.params]


def with_imports(path, seen=None):
    """The program in a file and what it imports."""
    seen = set() if seen is None else seen
    seen.add(os.path.realpath(path))
    with open(path) as f:
        program = read_program(f.read())
    for name in program.imports:
        other = os.path.join(os.path.dirname(path), name)
        if os.path.realpath(other) in seen:
            continue
        more = with_imports(other, seen)
        program.mesh.update(more.mesh)
        program.types.update(more.types)
        program.functions.update(more.functions)
        program.dims = more.dims + program.dims
    return program


def parameters(program, entry="main"):
    """[(name, dtype, dims)] of the entry."""
    machine = Machine(program, Noise())
    found = []
    for name, kind in program.functions[entry].params:
        _, dtype, dims = machine.value(kind, [machine.globals])
        found.append((name, dtype, dims))
    return found


def evaluate(program, inputs, seed=None, entry="main"):
    """The results on {name: Tensor}; with a seed, with noise."""
    machine = Machine(program, Noise(seed))
    f = program.functions[entry]
    with np.errstate(all="ignore"):
        found = machine.call(f, [inputs[n] for n, _ in f.params], {})
    return list(found) if isinstance(found, tuple) else [found]
