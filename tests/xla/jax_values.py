#!/usr/bin/env python3
"""JAX programs as shdc reads them compute what JAX does.

    jax_values.py SHDC [NAME...]

Needs jax 0.10.2; exits 77 without it.  Each program is lowered for TPU, on a mesh of eight
devices, run by shdc --interpret on as many emulated ones, from the same inputs, and
compared with what JAX computes on its CPU devices: the largest difference over the result's
largest magnitude, f32 1e-5, bf16 1e-2, integers exactly.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import back_end

back_end.use_devices(8, back_end.SLOWER)
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import lax
    from jax.experimental.shard_alike import shard_alike
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../import/Inputs")
import meshes  # noqa: E402
import programs  # noqa: E402

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
TENSORS = {"float32": "F32", "bfloat16": "BF16", "bool": "BOOL", "int4": "I4", "uint4": "U4",
           "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3": "F8_E4M3_IEEE", "float8_e3m4": "F8_E3M4",
           "float8_e8m0fnu": "F8_E8M0", "float4_e2m1fn": "F4_E2M1FN",
           **{"float8_" + name: "F8_" + name.upper() for name in ("e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz")},
           **{kind + bits: kind[0].upper() + bits for kind in ("int", "uint") for bits in ("8", "16", "32", "64")}}


def made_up(x, random):
    """An array for a shape, where that says."""
    if jnp.issubdtype(x.dtype, jnp.integer):
        values = random.integers(0, 8, x.shape)
    elif jnp.issubdtype(x.dtype, jnp.complexfloating):
        values = random.uniform(-1, 1, x.shape) + 1j * random.uniform(-1, 1, x.shape)
    else:
        values = random.uniform(-1, 1, x.shape)
    return jax.device_put(jnp.asarray(values, x.dtype), NamedSharding(MESH, x.sharding.spec))


def attention(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / 4
    seen = jnp.where(jnp.tril(jnp.ones((16, 16), bool)), scores, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(seen, -1), v)


def choices(x):
    y = lax.cond(x[0, 0] > 0, lambda a: a * 2, lambda a: a + 1, x)
    y = lax.fori_loop(0, 5, lambda i, a: a * 0.5 + i, y)
    return y, lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] + 1.0), (0, y))[1]


def rows(x, g):
    mean = x.mean(-1, keepdims=True)
    normal = (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * g
    return normal, jnp.argmax(x, -1), jnp.sort(x, 0), jnp.cumsum(x, 1)


def steps_of_their_own(x, i):
    """Reductions by what is no combiner, of several tensors, of odd sizes, over several dims (none of
    which is split: XLA has no all-reduce by such)."""
    def both(p, q):
        return jnp.maximum(p[0], q[0]), p[1] + q[1]
    def log_sum(p, q):
        return jnp.logaddexp(p, q)
    least = (jnp.float32(-jnp.inf), jnp.int32(0))
    def last(p, q):
        take = q[1] >= 0
        return lax.select(take, q[0], p[0]), lax.select(take, q[1], p[1])
    return lax.reduce(x, jnp.float32(-jnp.inf), log_sum, (0,)), lax.reduce(x[:, :7], jnp.float32(-1), log_sum, (0, 1)), \
        lax.reduce((x, i), least, both, (1,)), \
        lax.reduce((x, i), (jnp.float32(0), jnp.int32(-1)), last, (1,)), lax.round(x * 4, lax.RoundingMethod.AWAY_FROM_ZERO)


def shapes(x, w):
    h = lax.with_sharding_constraint(x @ w, NamedSharding(MESH, P("data", "model")))
    return jnp.concatenate([h, h[:, ::-1]], 1)[:, 3:20], jnp.pad(h, ((1, 2), (0, 3))).T


def picks(x):
    """With NaN, which is the largest and the smallest, and with equal ones."""
    holes = jnp.where((x > 0.9) | (x < -0.9), jnp.nan, jnp.round(x * 4))
    return jnp.argmax(holes, 1), jnp.argmin(holes, 0), *lax.top_k(x, 3), jnp.argsort(holes, 1)


def bounds(x):
    y = lax.clamp(-0.5, x, 0.25)
    inner = lax.pad(x, 2.0, [(1, -2, 1), (-1, 3, 2)])
    return y, inner, jnp.clip(x, -0.1, 0.1), jnp.remainder(jnp.round(x * 20), 3.0)


def indices(x, i):
    grown = x.at[i].add(2 * x[:4]).at[1].set(x[0]).at[20].set(x[1])
    return grown, x[i], jnp.take_along_axis(x[:4], i[:, None] + jnp.zeros((4, 2), jnp.int32), 1), \
        lax.dynamic_update_slice(x, x[:2, :3], (7, i[0])), x[i[0]]


def bits(x):
    width = 8 * x.dtype.itemsize
    more, by = ~(x * 37) ^ (x << (width - 3)), x % (width + 2)
    return (more << 5) | (more >> 3), x ^ more, more & ~x, ~more | x, lax.shift_right_arithmetic(more, by), \
        lax.shift_right_logical(more, by), lax.population_count(more), lax.clz(x), \
        more // (x + 1), more.astype(jnp.float32), (x > more) | (x == 3), jnp.max(more), jnp.sort(more)


def functions(x, y):
    """Also of what is far, infinite, or no number."""
    far = jnp.where(x > 0.9, jnp.inf, jnp.where(x < -0.9, jnp.nan, x * 1000))
    return lax.erf_inv(x), lax.erf_inv(x * 1.2), jnp.cbrt(far), jnp.tan(x * 3), jnp.arctan2(x, y), \
        jnp.arctan2(far, -y), jnp.logaddexp(x, y), jnp.arctan(far), jnp.arcsin(x), jnp.arccos(jnp.round(x)), \
        jnp.nextafter(jnp.round(x), y), lax.bitcast_convert_type(x, jnp.uint8), \
        lax.bitcast_convert_type(lax.bitcast_convert_type(y, jnp.int16), jnp.float32), \
        lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) >> 1, jnp.float32)


def roundings(x, y):
    """To fewer bits, up to what has none; in total order."""
    far = jnp.where(x > 0.9, jnp.inf, jnp.where(x < -0.9, jnp.nan, x * 2.0 ** jnp.arange(-160, 160, 10)))
    formats = ((5, 10), (8, 7), (8, 23), (4, 3), (5, 2), (8, 2), (4, 23), (1, 0))
    halves = [lax.reduce_precision(v.astype(jnp.bfloat16), 5, 3).astype(jnp.float32) for v in (x, far)]
    zeros = jnp.where(y > 0, 0.0, -0.0)
    return *[lax.reduce_precision(v, *f) for f in formats for v in (x, far)], *halves, \
        *[jnp.searchsorted(jnp.sort(x[0]), v) for v in (y, far)], lax.lt_to_p.bind(zeros, zeros.T.reshape(8, 32)), \
        lax.le_to_p.bind(far, -far)


def formulas(x, y):
    """Near 0, far, infinite; the tails of erfc are small, so each is looked at alone."""
    far = jnp.where(x > 0.9, jnp.inf, jnp.where(x < -0.9, -jnp.inf, x * 100))
    tails = [lax.erfc(abs(x) + n) / np.float32(math.erfc(n)) for n in range(9)]
    small = [f(x * 1e-4) for f in (jnp.sinh, jnp.arcsinh, jnp.arctanh)]
    return *[f(v) for f in (jnp.sinh, jnp.cosh, jnp.arcsinh, lax.erfc) for v in (x, far)], \
        jnp.arccosh(x * 2), jnp.arccosh(1 + abs(x)), jnp.arccosh(far * far), jnp.arctanh(y), jnp.arctanh(x * 1.2), \
        *tails, *small, lax.bessel_i1e(x * 20), jnp.arcsinh(x * 1e30), jax.grad(lambda v: jax.nn.gelu(v, approximate=False).sum())(x * 4)


def slices(x, i, j):
    """At several indices, of several rows, outside too."""
    y = x.reshape(4, 2, 8)
    rows = jax.vmap(lambda k: lax.dynamic_slice(x, (k, 0), (3, 8)))(i)
    boxes = jax.vmap(lambda k, l: lax.dynamic_slice(x, (k, l), (2, 5)))(i, j)
    grown = lax.scatter_add(x, jnp.stack([i, j], 1), boxes, lax.ScatterDimensionNumbers((1, 2), (), (0, 1)))
    return y[i, j % 2], y[:, j % 2, i], x[j, i], rows, boxes, grown, \
        x.at[i, j].add(x[:4, 0]), y.at[j, :, i].add(1.5), x.at[i + 6, j - 2].add(2.0), x.at[9, i].add(1.0), \
        x.at[i].set(x[4:]), x.at[:, j].set(7.0), x.at[i, j].set(x[0, :4]), x.at[i + 6].set(x[4:] * 2), \
        x.at[jnp.array([5, 2, 7, 0])].set(x[:4], unique_indices=True), x.astype(jnp.int32).at[i % 2].set(jnp.arange(8))


def rolls(x, v):
    """What comes round; a few elements of what is split."""
    return jnp.roll(x, 3, 0), jnp.roll(x, -1, 1), jnp.roll(x, (1, 2), (0, 1)), jnp.roll(x, 5), jnp.roll(v, 20), \
        x[3], x[:, -1:], x[2:3, 5:12:3], x[:, 15:17], (v > 0)[7]


def shifts(x, p, w):
    """What was there a step before: of tokens, with a state, of samples that a filter sees."""
    first, rest = jnp.zeros_like(x[:, :1]), x[:, :-1]
    filled = jnp.pad(x, ((0, 0), (3, 0), (0, 0)))
    return jnp.concatenate([first, rest], 1) * x, jnp.concatenate([p[:, None], rest], 1), jnp.diff(x, axis=1, prepend=0), \
        jnp.concatenate([x[:, 1:], x[:, -1:]], 1), jnp.pad(x, ((0, 0), (2, 0), (0, 0)))[:, :-2], lax.pad(x, 1., [(0, 0, 0), (-17, 17, 0), (1, -2, 0)]), \
        jnp.pad(x, ((0, 0), (1, 0), (0, 0)), mode="edge")[:, :-1], sum(filled[:, i:i + x.shape[1]] * w[i] for i in range(4)), \
        jnp.roll(x, 1, 1).at[:, 0].set(p), x.at[5].set(p[0]), x.at[:, 9].set(p)


def stencils(x):
    """Of inner elements, by slices that no axis divides: written back, padded, joined, summed; backward."""
    def laplace(u):
        return u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    def along(u):
        return u[:, 2:] + u[:, :-2]
    def relaxed(u):
        return u.at[1:-1, 1:-1].set(0.25 * (laplace(u) + 4 * u[1:-1, 1:-1]))
    def loss(u):
        return (jnp.tanh(along(along(u))) ** 2).sum() + jnp.abs(jnp.diff(u, axis=1)).sum()
    return relaxed(x), lax.fori_loop(0, 3, lambda _, u: u.at[1:-1, 1:-1].add(0.1 * laplace(u)), x), \
        x + jnp.pad(laplace(x), 1), (laplace(x) ** 2).mean(0), jnp.gradient(x, axis=1), \
        *(along(jnp.pad(x, ((0, 0), (1, 1)), mode=mode)) for mode in ("edge", "reflect", "wrap")), \
        jax.nn.softmax(x[:, 1:-1], 1).sum(1), *jax.value_and_grad(loss)(x)


def constants(x):
    """Arrays in the text, of every dtype."""
    made = np.arange(-8, 24, dtype=np.float64).reshape(4, 8)
    every = [jnp.asarray(np.asarray(made * 0.37, dtype)) for dtype in
             ("float32", "float16", jnp.bfloat16, "int8", "int16", "int32")]
    whole = [jnp.asarray(np.arange(250, 282).reshape(4, 8).astype(dtype)) for dtype in ("uint8", "uint16", "uint32")]
    return tuple((c.astype(x.dtype) + x).sum(0) for c in every + whole + [jnp.asarray(made > 3)])


def random_numbers(seed, x):
    """Threefry: integers of 32 bits, rotated."""
    key = jax.random.key(seed[0])
    one, two = jax.random.split(key)
    folded = jax.random.fold_in(two, 7)
    return jax.random.bits(one, (8, 16)), jax.random.uniform(two, (16,)), \
        jax.random.bits(folded, (8,), "uint16"), jax.random.bits(folded, (8,), "uint8"), \
        jax.random.normal(one, (8, 8)), jax.random.gumbel(two, (8,)), jax.random.truncated_normal(one, -1., 1., (8,)), \
        jax.random.randint(folded, (8, 8), 3, 300), jax.random.permutation(one, 16), \
        jax.random.bernoulli(two, 0.3, (8, 8)), jax.random.categorical(one, x), \
        jnp.where(jax.random.bernoulli(folded, 0.9, x.shape), x / 0.9, 0)


def convolve(x, w, step=1, padding="SAME", dims=("NHWC", "HWIO", "NHWC"), **more):
    steps = (step,) * (x.ndim - 2)
    return lax.conv_general_dilated(x, w, steps, padding, dimension_numbers=dims, **more)


def convolutions(x, w):
    """Of 2 dims: steps, paddings, dilations, groups, any order of dims; backward."""
    def all_of_them(x, w):
        yield convolve(x, w)
        yield convolve(x, w, 2)
        yield convolve(x, w, 3, [(2, 0), (-1, 5)])
        yield convolve(x, w, 1, "VALID", rhs_dilation=(2, 3))
        yield convolve(x, w, 2, [(1, 1), (2, 2)], lhs_dilation=(2, 1), rhs_dilation=(1, 2))
        yield lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        yield convolve(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), dims=("NCHW", "OIHW", "NCHW"))
        yield convolve(x, w[:1, :1])
        yield convolve(x, w[:, :1], 2)
        yield convolve(x, w[:, :, :2], feature_group_count=2)
        yield convolve(x, w[:, :, :1], 2, feature_group_count=4)
        yield convolve(x, w, batch_group_count=2)
        yield convolve(x, w[::-1, ::-1], dims=("CHWN", "IHWO", "HWCN")) if x.shape[0] == w.shape[0] else x
    outputs = tuple(all_of_them(x, w))
    return *outputs, *jax.grad(lambda x, w: sum((y ** 2).sum() for y in all_of_them(x, w)), (0, 1))(x, w)


def rows_between(x, w):
    """Of rows that are split and not padded: convolutions, one of another; poolings; backward."""
    def all_of_them(x, w):
        yield convolve(jnp.tanh(convolve(x, w[..., :4], 1, "VALID")), w, 1, "VALID")
        yield convolve(x, w, 3, "VALID")
        yield lax.reduce_window(x, 0., lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "VALID")
        yield lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 3, 3, 1), "VALID")
    return *all_of_them(x, w), *jax.grad(lambda x, w: sum((y ** 2).sum() for y in all_of_them(x, w)), (0, 1))(x, w)


def rows_in_turn(x, w):
    """Convolutions with zeros between the elements of x, of which the phases read the same rows."""
    def transposed(x, w, padding="SAME"):
        return lax.conv_transpose(x, w, (2, 2), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    grads = jax.grad(lambda x, w: (transposed(x, w[:3, :3]) ** 2).sum(), (0, 1))(x, w)
    return transposed(x, w), transposed(x, w[:3, :3]), transposed(x, w[:2, :2]), \
        transposed(x, w[:1, :2]), transposed(x, w[:, :1]), transposed(x, w[:2], "VALID")[:, :-2], *grads


def turns_elsewhere(x, w):
    """Of which the results are wanted where they are not made."""
    def transposed(w, *axes):
        y = lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.with_sharding_constraint(y, NamedSharding(MESH, P(*axes)))
    return transposed(w, "data"), transposed(w[:3, :3], "data"), transposed(w[:2, :2], "data", None, "model")


def sequences(x, w):
    """A causal convolution of each feature, as state space models have; one of all of them."""
    def causal(x, w):
        return convolve(x, w[:, None, :], 1, [(w.shape[0] - 1, 0)], ("NHC", "HIO", "NHC"),
                        feature_group_count=x.shape[2])
    def all_features(x, w):
        return convolve(x, w[:, :, None] * w[None, :2], 2, "SAME", ("NHC", "OIH", "NCH"))
    grads = jax.grad(lambda x, w: (causal(x, w) ** 2).sum(), (0, 1))(x, w)
    return causal(x, w), *grads


def pools(x, far):
    """Of 2 dims: greatest, least, sums; steps, paddings, dilations; backward, of equal ones too."""
    def pool(x, of, init, size, step, padding="VALID", **more):
        return lax.reduce_window(x, np.asarray(init, x.dtype), of, (1, *size, 1), (1, *step, 1), padding, **more)
    def all_of_them(x):
        yield pool(x, lax.max, -jnp.inf, (3, 3), (2, 2), "SAME")
        yield pool(x, lax.max, -jnp.inf, (2, 2), (2, 2))
        yield pool(x, lax.max, -jnp.inf, (2, 3), (3, 1), ((0, 0), (1, 0), (2, 1), (0, 0)))
        yield pool(x, lax.min, jnp.inf, (3, 2), (1, 2), "SAME")
        yield pool(x, lax.max, -jnp.inf, (1, 4), (1, 1))
        yield pool(x, lax.add, 0, (3, 3), (2, 2), "SAME") / 9
        yield pool(x, lax.add, 0, (2, 2), (1, 1), "VALID", window_dilation=(1, 2, 3, 1))
        yield pool(x, lax.add, 0, (3, 1), (2, 3), "SAME", base_dilation=(1, 2, 1, 1))
    equal, holes = jnp.round(x * 2), jnp.where(x > 0.9, jnp.nan, far)
    outputs = tuple(all_of_them(x)) + tuple(all_of_them(equal))
    def loss(x):
        return sum((y * jnp.cos(jnp.arange(y.size, dtype=y.dtype)).reshape(y.shape)).sum() for y in all_of_them(x))
    def greatest(x):
        return (pool(x, lax.max, -jnp.inf, (3, 3), (2, 2)) * jnp.arange(x.shape[-1])).sum()
    return *outputs, jax.grad(loss)(x), jax.grad(loss)(equal), jax.grad(greatest)(holes), \
        pool((x * 9).astype(jnp.int32), lax.max, -100, (3, 3), (2, 2), "SAME"), \
        pool(x, lax.max, 0.5, (3, 3), (2, 2), "SAME"), pool(x, lax.mul, 1, (2, 2), (2, 2))


def rows_backward(x, w):
    """Convolutions and pools of rows that are split, backward."""
    def pool(x, of, init, size, step, padding="VALID"):
        return lax.reduce_window(x, np.asarray(init, x.dtype), of, (1, size, size, 1), (1, step, step, 1), padding)
    ways = [lambda x, w: convolve(x, w), lambda x, w: convolve(x, w, 2), lambda x, w: convolve(x, w, 2, "VALID"),
            lambda x, w: convolve(x, w, rhs_dilation=(2, 2)), lambda x, w: convolve(x, w[:, :, :1], feature_group_count=4),
            lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
            lambda x, w: convolve(x, jnp.tile(w[:2, :2], (2, 2, 1, 1)), 4, "VALID"),
            lambda x, w: pool(x, lax.add, 0, 2, 2), lambda x, w: pool(x, lax.add, 0, 3, 2, "SAME"),
            lambda x, w: pool(x, lax.add, 0, 3, 1, "SAME"), lambda x, w: pool(x, lax.max, -jnp.inf, 3, 2, "SAME")]
    return tuple(jax.grad(lambda x, w, way=way: (way(x, w) ** 2).sum(), (0, 1))(x, w) for way in ways)


def running(x):
    return lax.cumsum(x, 1), lax.cumsum(x, 0, reverse=True), lax.cummax(x, 1), lax.cummin(x, 1, reverse=True), \
        lax.cumprod(x, 1), lax.cumprod(x, 0, reverse=True), lax.cumlogsumexp(x, 1), lax.cumlogsumexp(x, 0, reverse=True), \
        lax.cummax((x * 9).astype(jnp.int32), 1), lax.cumsum((x * 9).astype(jnp.int32), 1)


def pairs_of(x, y):
    """A recurrence as a scan of pairs, of an even and an odd number, and its gradient."""
    def both(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]
    def last(x, y):
        return sum((lax.associative_scan(both, (x[:n], y[:n]))[1] ** 2).sum() for n in (3, 8, 1))
    return lax.associative_scan(both, (x, y), reverse=True), jax.grad(last, (0, 1))(x, y)


def running_apart(x):
    """Up to an element and from it on, along a dim that all devices share; what goes back through it."""
    def loss(y):
        return (lax.cumsum(y, 0) ** 2).sum() + lax.cumlogsumexp(y, 0)[-1].sum()
    return lax.cumsum(x, 0), lax.cummin(x, 0, reverse=True), lax.cumlogsumexp(x, 0), lax.cumlogsumexp(x, 0, reverse=True), \
        jax.grad(loss)(x), lax.cumprod((x * 3).astype(jnp.int32), 0)


def counted(x, y, i, j):
    """Indices of which some count all of a dim."""
    n, m = jnp.arange(8), jnp.arange(16)
    return x[n, i], jnp.diagonal(y), y[m, m], x[n[:, None], j], x[i, n], x.reshape(8, 4, 8)[n[:, None], jnp.arange(4), j % 8], \
        y[m, m[:8].repeat(2)]


def caches(x, y, k, p, q):
    """Rows of each element of a batch, several one after the other: read, written, added to; also outside."""
    def at(c, p, n=3):
        return lax.dynamic_slice(c, (p, 0), (n, 8))
    def put(c, k, p):
        return lax.dynamic_update_slice(c, k, (p, 0))
    rows = jax.vmap(at)(x, p)
    return rows, jax.vmap(lambda c, i: c[i])(x, p), jax.vmap(put)(x, k, p), jax.vmap(put)(x, k[:, :1], p * 3 - 6), \
        jax.vmap(lambda c, k, i: lax.dynamic_update_slice(c, k[None], (0, i, 0)))(y, k, p), \
        jax.vmap(put, (1, 0, 0), 1)(x, k[:, :1].repeat(8, 0)[:16], q), \
        jax.vmap(lambda c, i: lax.dynamic_slice(c, (i, i - 2), (5, 4)))(x, p), x.at[jnp.arange(8)[:, None], q[:10].reshape(1, 10) % 3].set(1.5), \
        jax.grad(lambda x: (jax.vmap(at)(x, p) ** 2).sum())(x), jax.vmap(lambda c, k, i: c.at[i].set(k, mode="drop"))(x, k[:, 0], p * 3)


def volumes(x, w):
    return convolve(x, w, 2, "SAME", ("NDHWC", "DHWIO", "NDHWC"))


def target_bits(state):
    """Made by the target: Philox, or Threefry where that is asked for."""
    made = []
    for algorithm in (lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_THREE_FRY):
        for dtype, shape in ((jnp.uint8, (3, 3)), (jnp.uint16, (10,)), (jnp.uint32, (5, 7)), (jnp.uint32, (4, 2, 3)),
                             (jnp.uint32, ())):
            made.append(lax.rng_bit_generator(state, shape, dtype=dtype, algorithm=algorithm))
    return made


def alike(x, y, z):
    """In a function that is called twice, of three in a row, of another dtype, in a loop."""
    def sorted_like(a, b):
        a, b = shard_alike(a, jnp.sort(b, 0))
        return a + 1, b * 2
    called = jax.jit(sorted_like)
    first = called(x, y)
    row, other = shard_alike(first[1], jnp.cumsum(z, 1))
    looped = lax.scan(lambda c, _: (sorted_like(c, c * 2)[1], c.sum()), x, None, length=2)[0]
    return first, called(jnp.sort(z, 1), other), shard_alike(row, y > 0)[1], looped


def upper_halves(x, y):
    """Of products, of each width: numbers all over the dtype, its least and greatest."""
    made = []
    for dtype in (jnp.int8, jnp.uint8, jnp.int16, jnp.uint16, jnp.int32, jnp.uint32, jnp.int64, jnp.uint64)[:8 if jax.config.jax_enable_x64 else 6]:
        ends = jnp.iinfo(dtype)
        a, b = (v.astype(dtype) * jnp.asarray(ends.max // 7 * 4 + 3, dtype) for v in (x, y))
        a = jnp.where(x == 0, jnp.asarray(ends.min, dtype), jnp.where(x == 7, jnp.asarray(ends.max, dtype), a))
        made += [lax.mulhi(a, b), lax.mulhi(a, a), lax.mulhi(a, jnp.full_like(a, jnp.asarray(ends.max, dtype)))]
    return made


def switched(i, x):
    """More branches than stand in each other, of the first, the last, some between and none."""
    branches = [lambda v, k=k: v * k + jnp.sin(v) for k in range(70)]
    return [lax.switch(i[0] * k + at, branches, x) for k, at in ((0, -3), (0, 0), (1, 30), (0, 69), (0, 75))]


def composed(x, w):
    norm = lax.composite(lambda v, *, by: v * lax.rsqrt((v * v).mean(-1, keepdims=True) + by), "my.norm", version=2)
    return norm(jnp.tanh(x @ w), by=1e-3) + 1


def alone(x):
    return jnp.tanh(x).sum()


def narrow(x, w):
    return (x.astype(jnp.bfloat16) @ w).astype(jnp.float32)


def byte_floats(x, w, y):
    """Every byte of a dtype; rounding, overflow."""
    dtype = w.dtype
    every = lax.bitcast_convert_type(jnp.arange(256, dtype=jnp.uint8), dtype)
    far = (x * 2.0 ** jnp.arange(-20, 12)).astype(dtype)
    rows, back = x.astype(dtype), far.astype(jnp.float32)
    wide = jnp.dot(rows, w, preferred_element_type=jnp.float32)
    sides = [jnp.max(rows), jnp.min(rows, 0), jnp.sort(rows, 1), jnp.sum(rows.astype(jnp.float32), 0)]
    numbers = [every, every.astype(jnp.float32), every.astype(jnp.bfloat16), every.astype(jnp.int32), -every,
               jnp.abs(every), (y % 256).astype(dtype), lax.bitcast_convert_type(far, jnp.uint8)]
    return wide, rows * rows, rows + far, rows > far, jnp.where(rows > far, rows, far), *sides, *numbers, \
        back, lax.stop_gradient(rows).at[0].set(far[1]), rows[::2], jnp.clip(rows, -0.25, 0.5)


def nibbles(x, y, w):
    """Integers of four bits: that wrap, as indices, as weights (XLA's CPU has no products of them)."""
    small, other, weights = x.astype(w.dtype), y.astype(w.dtype), w[:8]
    wide = jnp.dot(y.astype(jnp.int8).reshape(2, 8), weights.astype(jnp.int8), preferred_element_type=jnp.int32)
    return small, small + other, small * other, small - other, small > other, jnp.max(w, 0), jnp.sort(w, 1), \
        wide, w.astype(jnp.bfloat16), \
        (y * 1.7).astype(w.dtype), jnp.where(small > 0, small, other), small // jnp.maximum(other, 1), w[1:5].T, \
        w.at[2].set(small[:8]), jnp.take(w, other % 7, axis=0), small & other, small ^ other, ~small


def complex_numbers(z, w, x):
    """Ops of shapes, products; some are far."""
    c, far = z * w + 2j, z * 10.0 ** jnp.arange(-10, 14, 3)
    picked = jnp.where(x > 0, z, -z).astype(z.dtype)
    table = z * np.array([1 + 2j, 3, 4, 5 - 1j, 0, 1j, -1, 2], z.dtype)
    again = lax.fori_loop(0, 3, lambda i, a: a * z + i, z)
    return c, jnp.conj(z) / (w + 3), jnp.abs(z), jnp.exp(z), jnp.angle(z), jnp.log(z), z @ w, z.real + z.imag, \
        lax.complex(x, x * 2), jnp.sum(z, 0), picked, x * z, z == picked, jnp.concatenate([z, c], 1)[1:, 2:5].T, table, \
        jnp.pad(z, ((1, 1), (0, 2))), again, z[:, ::-1], z.reshape(4, 16), z[jnp.array([3, 1])], jnp.abs(far), 1 / far, \
        jnp.einsum("bij,bjk->bik", z.reshape(2, 4, 8), w.reshape(2, 8, 4))


def complex_functions(z, w):
    """Near 0, far, at the edges of quadrants."""
    every = (jnp.sqrt, lax.rsqrt, jnp.tanh, jnp.tan, jnp.cosh, jnp.sin, jnp.cos, jnp.log1p, jnp.expm1, jnp.sign,
             jax.nn.sigmoid)
    far, holes = z * 10.0 ** jnp.arange(-14, 18, 4), jnp.where(abs(z) > 0.5, z, 0)
    i = jnp.array([1, 3, 1])
    return *[f(v) for f in every for v in (z, z * 1e-4)], jnp.sinh(z), jnp.sqrt(far), jnp.sign(far), jnp.tanh(z * 40), jnp.sqrt(holes), \
        jnp.sign(holes), z ** w, z ** 2.5, z ** 2, 2 ** z, holes ** 0.5, jnp.sqrt(-abs(z) + 0j), jnp.cumsum(z, 0), \
        z.at[i].add(w[:3]), z.at[i + 1].set(w[1]), lax.iota(jnp.complex64, 8) + z, jnp.mean(z, 1)


def transforms(z, x, y):
    """Of one dim and of several, of lengths that have factors, one that has none."""
    long = jnp.concatenate([x, y, x * y], -1)
    return jnp.fft.fft(z), jnp.fft.ifft(z, axis=0), jnp.fft.rfft(x), jnp.fft.irfft(z), jnp.fft.fft2(z), jnp.fft.ifft2(z), \
        jnp.fft.rfft2(x), jnp.fft.irfft2(z), jnp.fft.fft(long), jnp.fft.rfft(long[:, :277]), jnp.fft.irfft(jnp.fft.rfft(long)), \
        jnp.fft.irfft(z, n=7), jnp.fft.fftn(z.reshape(2, 4, 4, 2), axes=(1, 2, 3))


def split_transforms(x, cube):
    """Of dims that are split, which are gathered once for all dims and parts, or change places."""
    return jnp.abs(jnp.fft.rfft2(x)), jnp.fft.irfft2(jnp.fft.rfft2(x) * 2, s=x.shape), jnp.abs(jnp.fft.fftn(x)), jnp.fft.hfft(x), \
        jnp.fft.fft(x, n=20).real, jnp.linalg.norm(jnp.fft.fft(x, axis=0)), jnp.abs(jnp.fft.rfft2(cube)), jnp.abs(jnp.fft.fftn(cube))


def scaled(x, w, scales):
    """Blocks of half bytes, each with its power of two."""
    far = x * 2.0 ** jnp.arange(-20, 12)
    every = lax.bitcast_convert_type(jnp.arange(256, dtype=jnp.uint8), scales.dtype)
    wide = w.astype(jnp.float32) * jnp.repeat(scales.astype(jnp.float32), 8, 0)
    largest = jnp.max(jnp.abs(x).reshape(8, 4, 8), -1).astype(scales.dtype)
    halves = (x.reshape(8, 4, 8) / largest.astype(jnp.float32)[..., None]).astype(w.dtype)
    return x @ wide, far.astype(scales.dtype), far.astype(w.dtype), every.astype(jnp.float32), every.astype(jnp.bfloat16), \
        largest, halves, halves.astype(jnp.bfloat16), w[::2], jnp.where(x[:, :16] > 0, w[:8], 1)


def byte_products(x, w):
    """Sums that are rounded; XLA's are of f16 on the CPU."""
    return x.astype(w.dtype) @ w, jnp.sum(x.astype(w.dtype), 0)


def of_constants(x, w, q, k):
    """A mask, an identity and tables of positions, of users that are placed in different ways."""
    mask = jnp.arange(8)[:, None] >= jnp.arange(8)[None]
    places = jnp.sin(jnp.arange(8.)[:, None] / jnp.arange(1, 9.))
    angles = jnp.arange(16.)[:, None] * jnp.exp(-jnp.arange(4.))
    sines, cosines = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]

    def turned(v):
        return jnp.concatenate([v[..., :4] * cosines - v[..., 4:] * sines, v[..., 4:] * cosines + v[..., :4] * sines], -1)
    return jnp.where(mask, x, 0) + places, jnp.where(mask, w, 0) + places, turned(q), turned(k), \
        jnp.eye(8) + x, jnp.eye(8) * w, jnp.where(jnp.tril(jnp.ones((8, 8), bool)), w, -1e9)


AT = programs.at
BYTE_FLOATS = ("e4m3fn", "e5m2", "e4m3", "e3m4", "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz")
HEADS = AT((4, 16, 8, 16), "data", None, "model", None)
MORE = {
    "attention": (attention, HEADS, HEADS, HEADS),
    "of_constants": (of_constants, AT((8, 8), "data", "model"), AT((8, 8), "model", "data"),
                     AT((4, 16, 8, 8), "data", "model", None, None), AT((4, 16, 8, 8), "data", None, "model", None)),
    "choices": (choices, AT((8, 8), "data", None)),
    "rows": (rows, AT((8, 32), "data", "model"), AT((32,), "model")),
    "steps_of_their_own": (steps_of_their_own, AT((8, 13)), AT((8, 13), dtype=jnp.int32)),
    "shapes": (shapes, AT((8, 16), "data", None), AT((16, 16), None, None)),
    "picks": (picks, AT((8, 32), "data", None)),
    "bounds": (bounds, AT((8, 8), "data", None)),
    "indices": (indices, AT((8, 8), None, "model"), AT((4,), dtype=jnp.int32)),
    **{"bits_%s" % dtype: (bits, AT((16,), "model", dtype=getattr(jnp, dtype)))
       for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")},
    "functions": (functions, AT((8, 32), "data", None), AT((8, 32), None, "model")),
    "roundings": (roundings, AT((8, 32), "data", None), AT((8, 32), None, "model")),
    "formulas": (formulas, AT((8, 32), "data", None), AT((8, 32), None, "model")),
    "rolls": (rolls, AT((8, 32), "data", "model"), AT((32,), "model")),
    "slices": (slices, AT((8, 8), None, "model"), AT((4,), dtype=jnp.int32), AT((4,), "data", dtype=jnp.int32)),
    "constants": (constants, AT((4, 8), "data", "model")),
    "random_numbers": (random_numbers, AT((1,), dtype=jnp.int32), AT((8, 32), "data", None)),
    "convolutions": (convolutions, AT((8, 10, 12, 4), "data", None, None, "model"), AT((3, 3, 4, 8), None, None, None, "model")),
    "convolutions_together": (lambda x, w: (convolve(x, w, 2, "VALID"), convolve(x, w), convolve(x, w, 3), convolve(x, w[:1, :1], 2)),
                              AT((8, 12, 12, 4), "data", None, None, "model"), AT((3, 3, 4, 8), None, None, None, "model")),
    "convolutions_of_features": (convolutions, AT((8, 10, 12, 4), None, None, None, "model"),
                                 AT((3, 3, 4, 8), None, None, "model", None)),
    "convolutions_of_rows": (convolutions, AT((8, 10, 12, 4), "data", None, "model", None), AT((3, 3, 4, 8))),
    "rows_between": (rows_between, AT((4, 16, 12, 4), "data", "model", None, None), AT((3, 3, 4, 8))),
    "rows_backward": (rows_backward, AT((4, 16, 12, 4), "data", "model", None, None), AT((3, 3, 4, 8))),
    "rows_in_turn": (rows_in_turn, AT((4, 16, 16, 4), "data", "model"), AT((4, 4, 4, 8))),
    "features_in_turn": (rows_in_turn, AT((4, 16, 16, 4), "data", "model"), AT((4, 4, 4, 8), None, None, None, "model")),
    "crossed_in_turn": (rows_in_turn, AT((4, 16, 16, 4), None, "model", "data"), AT((4, 4, 4, 8), None, None, None, "data")),
    "turns_elsewhere": (turns_elsewhere, AT((4, 16, 16, 4), "data", "model"), AT((4, 4, 4, 8))),
    "turned_features": (turns_elsewhere, AT((4, 16, 16, 4), "data", "model"), AT((4, 4, 4, 8), None, None, None, "model")),
    "sequences": (sequences, AT((4, 16, 8), "data", None, "model"), AT((4, 8), None, "model")),
    "rows_multiplied": (lambda t, i, w: t[i] @ w, AT((32, 16), "model", None), AT((8,), dtype=jnp.int32), AT((16, 24), "model", None)),
    "sequences_of_rows": (sequences, AT((4, 16, 8), "data", "model"), AT((4, 8), None, "model")),
    "pools": (pools, AT((4, 10, 12, 4), "data", None, None, "model"), AT((4, 10, 12, 4), None, None, None, "model")),
    "shifts": (shifts, AT((8, 64, 16), "data", "model", None), AT((8, 16), "data", None), AT((4, 16))),
    "shifts_gradient": (jax.grad(lambda *args: sum((y ** 3).sum() for y in shifts(*args)), (0, 1, 2)),
                        AT((8, 64, 16), "data", "model", None), AT((8, 16), "data", None), AT((4, 16))),
    "stencils": (stencils, AT((32, 64), "data", "model")),
    "running": (running, AT((8, 24), "data", "model")),
    "running_whole": (lambda x, w: (jnp.cumsum(x, 1), lax.cummax(x, 1, reverse=True), sum(x ** i for i in range(20)), x @ w),
                      AT((8, 16), "data", "model"), AT((16, 32), None, "model")),
    "running_apart": (running_apart, AT((64, 4), ("data", "model"), None)),
    "counted": (counted, AT((8, 32), "data", "model"), AT((16, 16), "data", "model"), AT((8,), "data", dtype=jnp.int32),
                AT((8, 4), "data", None, dtype=jnp.int32)),
    "caches": (caches, AT((8, 16, 8), "data", None, "model"), AT((8, 4, 16, 8), "data", None, "model"), AT((8, 2, 8), "data"),
               AT((8,), "data", dtype=jnp.int32), AT((16,), dtype=jnp.int32)),
    "pairs_of": (pairs_of, AT((8, 24), None, "model"), AT((8, 24), "data", None)),
    "volumes": (volumes, AT((4, 6, 8, 10, 4), "data", None, None, None, "model"), AT((3, 3, 3, 4, 8))),
    "target_bits": (target_bits, AT((4,), dtype=jnp.uint32)),
    **{"byte_floats_%s" % name: (byte_floats, AT((8, 32), "data", None), AT((32, 16), None, "model", dtype=getattr(jnp, "float8_" + name)),
                                 AT((16,), dtype=jnp.int32))
       for name in BYTE_FLOATS},
    "scaled": (scaled, AT((8, 32), "data", None), AT((32, 16), None, "model", dtype=jnp.float4_e2m1fn),
               AT((4, 16), None, "model", dtype=jnp.float8_e8m0fnu)),
    **{"byte_products_%s" % name: (byte_products, AT((8, 32), "data", None), AT((32, 16), None, "model", dtype=getattr(jnp, "float8_" + name)))
       for name in BYTE_FLOATS},
    **{"nibbles_%s" % dtype: (nibbles, AT((16,), "model", dtype=jnp.int32), AT((16,), dtype=jnp.int32),
                              AT((16, 8), "data", "model", dtype=getattr(jnp, dtype))) for dtype in ("int4", "uint4")},
    "complex_numbers": (complex_numbers, AT((8, 8), "data", None, dtype=jnp.complex64), AT((8, 8), None, "model", dtype=jnp.complex64),
                        AT((8, 8), None, "model")),
    "complex_functions": (complex_functions, AT((8, 8), "data", None, dtype=jnp.complex64),
                          AT((8, 8), None, "model", dtype=jnp.complex64)),
    "split_transforms": (split_transforms, AT((8, 16), "data", "model"), AT((8, 64, 64), None, "data", "model")),
    "transforms": (transforms, AT((8, 8), "data", None, dtype=jnp.complex64), AT((8, 128), "data", None), AT((8, 128), None, "model")),
    "alike": (alike, AT((8, 16), "data", "model"), AT((8, 16)), AT((8, 16), None, "model")),
    **{name: (upper_halves, AT((8, 16), "data", None, dtype=jnp.int32), AT((8, 16), None, "model", dtype=jnp.int32))
       for name in ("upper_halves", "upper_halves64")},
    "switched": (switched, AT((1,), dtype=jnp.int32), AT((8, 4), "data", None)),
    "composed": (composed, AT((8, 16), "data", None), AT((16, 8))),
    "alone": (alone, AT((4, 4))),
    "meshes": (meshes.meshes, *meshes.ARGS),
    "narrow": (narrow, AT((8, 16), "data", None), AT((16, 16), "model", None, dtype=jnp.bfloat16)),
    "layers_gradient": (jax.grad(lambda w, x: programs.layers(w, x)[:, 0].sum()),
                        *programs.PROGRAMS["layers"][1:]),
}


# Of whole tensors, for XLA's partitioner is wrong about them: a convolution of batch groups whose
# features are split, a running maximum beside others along a dim that is, the gradient of windows'
# greatest rows beside other gradients; it partitions no chlo.mulhi.
UNPARTITIONED = ("upper_halves", "upper_halves64")
WHOLE = ("convolutions_of_features", "rows_backward", "running", "running_apart", "complex_functions", *UNPARTITIONED)


# What is rounded to few digits, and so may be one in the last place off; what `exp` is taken of, of
# which the last place of some tens is a hundred thousandth of the result.
FEW = {"narrow": 1e-2, "embed": 3e-5, "layers": 3e-5, **{"byte_products_" + name: 0.25 if "e5m2" in name else 0.125 for name in BYTE_FLOATS}}


def names(text, kind):
    """By what the module calls its values: result.loss="%add f32[]"."""
    found = [line.strip() for line in text.splitlines() if line.strip().startswith(kind + ".")]
    return [line[len(kind) + 1:].split("=")[0] for line in found]


def pairs(tensor):
    """Of complex numbers the parts, in one dim more."""
    if np.issubdtype(tensor.dtype, np.complexfloating):
        return np.stack([tensor.real, tensor.imag], -1)
    return tensor


def write_tensors(path, tensors):
    """As safetensors, which have bf16."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        tensor = pairs(np.asarray(tensor))
        raw = tensor.tobytes()
        header[name] = {"dtype": TENSORS[str(tensor.dtype)], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text + data)


def results(shdc, how, text, leaves, folder):
    """What shdc --interpret, or --run, makes of these arguments, in order; ValueError: what it says instead."""
    path = folder + "/p.mlir"
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    module = subprocess.run([shdc, "--emit=ir", path], capture_output=True, text=True, check=False)
    if module.returncode:
        raise ValueError(module.stderr)
    write_tensors(folder + "/in.safetensors", dict(zip(names(module.stdout, "value"), leaves)))
    run = subprocess.run([shdc, how, path, "--", "--in", folder + "/in.safetensors",
                          "--out", folder + "/out.npz"], capture_output=True, text=True, check=False)
    if run.returncode:
        raise ValueError(run.stderr + run.stdout)
    got = np.load(folder + "/out.npz")
    return [(name, got[name]) for name in names(module.stdout, "result")]


def difference(given, want, most, least=0):
    """None, or how far they are from each other: of the largest magnitude, or `least`, `most` times as
    much; integers are the same or not."""
    want = pairs(np.asarray(want))
    if given.dtype.kind == "V":         # what numpy has no dtype for: the bytes
        given = given.view(want.dtype)
    if jnp.issubdtype(want.dtype, np.integer) or want.dtype == bool:
        return None if np.array_equal(given, want) else "not the same integers"
    want, given = want.astype(np.float64), given.astype(np.float64)
    same = given.shape == want.shape and np.array_equal(np.isnan(given), np.isnan(want))
    off = np.max(np.abs(np.nan_to_num(given) - np.nan_to_num(want))) if same else np.inf
    return None if off <= most * max(np.max(np.abs(np.nan_to_num(want))), least) else "%g off" % off


def compare(shdc, function, args, folder, most, whole):
    """None, or what is wrong."""
    random = np.random.default_rng(20261124)
    values = jax.tree.map(lambda x: made_up(x, random), args)
    compiled = jax.jit(function)
    text = compiled.trace(*values).lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
    wanted = jax.tree.leaves(compiled(*(jax.tree.map(np.asarray, values) if whole else values)))
    for how in "--interpret", "--run":
        try:
            got = results(shdc, how, text, jax.tree.leaves(values), folder)
        except ValueError as why:
            return "%s: %s" % (how, why)
        for (name, given), want in zip(got, wanted):
            off = difference(given, want, most)
            if off:
                return "%s: %s: %s" % (how, name, off)
    return None


def main():
    shdc, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    passed = failed = 0
    for name, (function, *args) in {**programs.PROGRAMS, **MORE}.items():
        if name in programs.UNKNOWN or (only and name not in only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            with jax.enable_x64(name.endswith("64")):
                wrong = compare(shdc, function, args, folder, FEW.get(name, 1e-5), name in WHOLE)
        passed += wrong is None
        failed += wrong is not None
        print("%sok - %s" % ("not " if wrong else "", name))
        if wrong:
            print("# " + wrong[:600].replace("\n", "\n# "))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed > 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
