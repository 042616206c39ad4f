#!/usr/bin/env python3
"""Lowers the programs of tests/import/ with JAX 0.10.2, without a device, for TPU.

    programs.py FOLDER      FOLDER/NAME.mlir
"""
import os
import sys

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

mesh = AbstractMesh((2, 4), ("data", "model"))


def at(shape, *spec, dtype=jnp.float32, kind=None):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec), memory_kind=kind))


def apply(p, x):
    return jax.nn.relu(x @ p["w1"] + p["b"]) @ p["w2"]


def step(p, x):
    loss, g = jax.value_and_grad(lambda p, x: jnp.mean(apply(p, x) ** 2))(p, x)
    return loss, jax.tree.map(lambda w, d: w - 0.1 * d, p, g)


def layers(ws, x):
    def layer(h, w):
        return jnp.tanh(h @ w), None
    return jax.nn.softmax(lax.scan(layer, x, ws)[0])


def embed(e, ids):
    h = e[ids]
    scores = jax.nn.log_softmax(h @ e.T)
    return -jnp.take_along_axis(scores, ids[..., None], -1).mean()


def ring(x, w):
    def local(x, w):
        y = lax.psum(x @ w, "model")
        return y + lax.ppermute(y, "data", [(0, 1), (1, 0)]) * lax.axis_index("data")
    return jax.shard_map(local, mesh=mesh, in_specs=(P("data", "model"), P("model", None)),
                         out_specs=P("data", None), check_vma=False)(x, w)


def grouped(x):
    """Collectives over halves of an axis, and over every other device of it."""
    halves, others = [[0, 1], [2, 3]], [[0, 2], [1, 3]]

    def local(x):
        return (lax.psum(x, "model", axis_index_groups=halves),
                lax.pmax(x, "model", axis_index_groups=others),
                lax.all_gather(x, "model", axis_index_groups=halves, tiled=True, axis=1),
                lax.psum_scatter(x, "model", axis_index_groups=others, tiled=True, scatter_dimension=1),
                lax.all_to_all(x, "model", 0, 1, axis_index_groups=halves, tiled=True))
    return jax.shard_map(local, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data", "model"),
                         check_vma=False)(x)


def hosted(w, m, ws, x):
    """An optimizer's state in the memory of the host, and what layers keep for later there, too."""
    def there(x, *spec, kind="pinned_host"):
        return jax.device_put(x, NamedSharding(mesh, P(*spec), memory_kind=kind))

    def layer(h, w):
        return jnp.tanh(h @ w), there(h, "data", None)

    def again(g, kept):
        w, h = kept
        y = jnp.tanh(there(h, "data", None, kind="device") @ w)
        return (g * (1 - y * y)) @ w.T, None
    ws = ws / 16
    y, kept = lax.scan(layer, x, ws)
    g, _ = lax.scan(again, y, (ws, kept), reverse=True)
    m = 0.9 * there(m, "data", "model", kind="device") + x.T @ g / 256
    return w - 0.1 * m, there(m, "data", "model")


def attend(q, k, v):
    """A kernel that states what a call costs, of what one device has."""
    def kernel(q, k, v, o):
        scores = jnp.exp(jnp.dot(q[...], k[...].T, preferred_element_type=jnp.float32))
        o[...] = jnp.dot(scores.astype(v.dtype), v[...], preferred_element_type=jnp.float32)

    def local(q, k, v):
        pairs = q.shape[0] * k.shape[0]
        cost = pl.CostEstimate(flops=4 * pairs * q.shape[1], transcendentals=pairs,
                               bytes_accessed=2 * (2 * q.size + k.size + v.size))
        result = jax.ShapeDtypeStruct(q.shape, jnp.float32)
        return pl.pallas_call(kernel, out_shape=result, cost_estimate=cost)(q, k, v)
    return jax.shard_map(local, mesh=mesh, in_specs=(P("data", "model"), P(None, "model"), P(None, "model")),
                         out_specs=P("data", "model"), check_vma=False)(q, k, v)


def unread(x):
    return lax.conv_general_dilated(x, x, (1, 1), "SAME"), jnp.linalg.cholesky(x[0, 0])


def noise(key, x):
    """Bits of threefry, as floats: random numbers that dropout takes."""
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, x.shape)
    return jnp.where(kept, x / 0.9, 0)


def masked(key, x):
    """Bits that the target makes: each device those of its part."""
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key, impl="unsafe_rbg"), 0.9, x.shape)
    return jnp.where(kept, x / 0.9, 0)


def pairs(x, i, j, y):
    """At two indices, each of which may lie outside; rows that are set; rows of a batch."""
    rows = jax.vmap(lambda a, k: a[k])(y, i.reshape(4, 2))
    return x[i, j], x.at[i, j].add(1.5), x.at[i].set(x[j]), rows


def cnn(p, x, labels):
    """A step of a small one: two convolutions, a pooling of each kind, a layer."""
    def loss(p):
        h = jax.nn.relu(lax.conv_general_dilated(x, p["c1"], (1, 1), "SAME", dimension_numbers=LAST) + p["b"])
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        h = jax.nn.relu(lax.conv_general_dilated(h, p["c2"], (2, 2), "SAME", dimension_numbers=LAST))
        h = lax.reduce_window(h, 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
        scores = jax.nn.log_softmax(h.reshape(h.shape[0], -1) @ p["w"])
        return -(scores * labels).sum(-1).mean()
    value, g = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda w, d: w - 0.1 * d, p, g)


LAST = ("NHWC", "HWIO", "NHWC")
KERNELS = {"c1": at((3, 3, 4, 16), None, None, None, "model"), "b": at((16,), "model"),
           "c2": at((3, 3, 16, 32), None, None, None, "model"), "w": at((128, 8), None, None)}


def batches(x, i, y):
    """Rows of each batch: read, added to, set by the last, the greatest kept."""
    rows = jax.vmap(lambda a, k: a[k])(x, i)
    return rows, jax.vmap(lambda a, k, r: a.at[k].add(r))(x, i, rows), jax.vmap(lambda a, k, r: a.at[k].set(r))(x, i, y), \
        jax.vmap(lambda a, k, r: a.at[k].max(r))(x, i, y), x[:, 0].at[i[:, 0]].min(y[:, 0]), \
        jnp.take_along_axis(x, i[:, None], 2)


def orders(x, i, y):
    """By two keys; from the greatest."""
    return lax.sort((i, x, y), dimension=0, num_keys=2) + (jnp.sort(y, 0, descending=True),)


def nothing(x):
    """A padding that leaves nothing of what it is of; a part without elements; a choice of the same."""
    return lax.pad(x[:1], 2.0, [(-1, 2, 0), (0, 0, 0)]), jnp.concatenate([x[3:], x[:3], x[16:]]), \
        lax.associative_scan(jnp.add, x[:3]), lax.cond(x[0, 0] > 0, lambda y: y, lambda y: y, x)


def experts(x, up, down, sizes):
    """Rows in the order of their experts, as many for each as `sizes` says."""
    return lax.ragged_dot(jax.nn.relu(lax.ragged_dot(x, up, sizes)), down, sizes)


def train_experts(x, up, down, sizes):
    grads = jax.grad(lambda *p: jnp.sum(experts(*p, sizes) ** 2), argnums=(1, 2))(x, up, down)
    return tuple(w - 0.1 * g for w, g in zip((up, down), grads))


def spatial(x, k, d):
    """Rows of an image that devices share: a convolution, one with steps and gaps, a pooling."""
    dims = ("NHWC", "HWIO", "NHWC")
    h = jax.nn.relu(lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=dims))
    h = lax.conv_general_dilated(h, d, (2, 1), [(2, 2), (2, 2)], rhs_dilation=(2, 2), dimension_numbers=dims)
    return lax.reduce_window(h, -jnp.inf, lax.max, (1, 5, 3, 1), (1, 1, 1, 1), "SAME")


def scanned(x, y):
    """A linear recurrence as a scan of pairs, of rows that devices share, and what goes back through it."""
    def both(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]
    def last(x, y):
        return (lax.associative_scan(both, (x, y))[1] ** 2).sum()
    return lax.associative_scan(both, (x, y))[1], jax.grad(last)(x, y)


WEIGHTS = {"w1": at((64, 128), None, "model"), "b": at((128,), "model"), "w2": at((128, 64), "model", None)}
def vouched(x, y):
    """A ring whose devices end with the same, and one that returns what they have of their own."""
    def gather(x):
        me, every = lax.axis_index("model"), jnp.zeros((4, *x.shape), x.dtype)
        for k in range(4):
            every = every.at[(me - k) % 4].set(x)
            x = lax.ppermute(x, "model", [(i, (i + 1) % 4) for i in range(4)])
        return every.reshape(-1, x.shape[-1])

    def map_to(f, spec):
        return jax.shard_map(f, mesh=mesh, in_specs=P("model"), out_specs=spec, check_vma=False)
    return map_to(gather, P())(x), map_to(lambda y: y * 2, P())(y)


PROGRAMS = {
    "step": (step, WEIGHTS, at((32, 64), "data", None)),
    "layers": (layers, at((6, 64, 64), None, "data", "model"), at((32, 64), "data", None)),
    "embed": (jax.grad(embed), at((128, 32), "model", None), at((8, 16), "data", None, dtype=jnp.int32)),
    "ring": (ring, at((8, 16), "data", "model"), at((16, 4), "model", None)),
    "noise": (noise, at((2,), dtype=jnp.uint32), at((16, 32), "data", "model")),
    "masked": (masked, at((4,), dtype=jnp.uint32), at((16, 32), "data", "model")),
    "pairs": (pairs, at((16, 8, 32), "data", None, "model"), at((8,), dtype=jnp.int32), at((8,), dtype=jnp.int32),
              at((4, 8, 16), "model", None, None)),
    "cnn": (cnn, KERNELS, at((8, 16, 16, 4), "data", None, None, None), at((8, 8), "data", None)),
    "batches": (batches, at((4, 8, 8), "data", None, "model"), at((4, 4), "data", None, dtype=jnp.int32),
                at((4, 4, 8), "data", None, None)),
    "orders": (orders, at((16, 8), None, "model"), at((16, 8), None, "model", dtype=jnp.int32),
               at((16, 8), "data", None)),
    "nothing": (nothing, at((16, 8), "data", None)),
    "experts": (train_experts, at((64, 32)), at((8, 32, 512), "model", None, None),
                at((8, 512, 32), "model", None, None), at((8,), dtype=jnp.int32)),
    "spatial": (spatial, at((4, 16, 16, 4), "data", "model", None, None), at((3, 3, 4, 8)), at((3, 3, 8, 4))),
    "scanned": (scanned, at((16, 4), ("data", "model"), None), at((16, 4), ("data", "model"), None)),
    "grouped": (grouped, at((8, 16), "data", "model")),
    "hosted": (hosted, at((64, 64), "data", "model"), at((64, 64), "data", "model", kind="pinned_host"),
               at((6, 64, 64)), at((256, 64), "data", None)),
    "attend": (attend, *[at((4096, 512), *spec, dtype=jnp.bfloat16)
                         for spec in (("data", "model"), (None, "model"), (None, "model"))]),
    "vouched": (vouched, at((8, 4), "model", None), at((4, 4), "model", None)),
    "unread": (unread, at((8, 8, 8, 8), "data", None, None, None)),
}

UNKNOWN = ("attend", "unread")     # what they compute

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    for name, (function, *args) in PROGRAMS.items():
        lowered = jax.jit(function).trace(*args).lower(lowering_platforms=("tpu",))
        with open("%s/%s.mlir" % (sys.argv[1], name), "w", encoding="ascii") as out:
            out.write(lowered.as_text(debug_info=True).replace(here, ""))
