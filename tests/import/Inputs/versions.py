#!/usr/bin/env python3
"""Lowers eight programs with the JAX that runs this, for tests/import/versions.test.

    versions.py FOLDER [off]    FOLDER/NAME.mlir; off: without Shardy, placements by tiles alone,
                                and two more, for tests/import/tiles.test
"""
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax.experimental.shard_alike import shard_alike
try:
    from jax import shard_map
    PARTLY = {"axis_names": {"model"}, "check_vma": False}
except ImportError:
    from jax.experimental.shard_map import shard_map
    PARTLY = {"auto": frozenset({"data"}), "check_rep": False}

jax.config.update("jax_use_shardy_partitioner", sys.argv[2:] != ["off"])
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def placed(*spec):
    return NamedSharding(mesh, P(*spec))


def at(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=placed(*spec))


def step(p, x):
    def loss(p, x):
        h = lax.with_sharding_constraint(jax.nn.relu(x @ p["w1"]), placed("data", "model"))
        return jnp.mean((h @ p["w2"]) ** 2)
    value, g = jax.value_and_grad(loss)(p, x)
    return value, jax.tree_util.tree_map(lambda w, d: w - 0.1 * d, p, g)


def layers(ws, x):
    def layer(h, w):
        return jnp.tanh(h @ w), h.sum()
    return lax.scan(jax.checkpoint(layer), x, ws)


def embed(e, ids):
    scores = jax.nn.log_softmax(e[ids] @ e.T)
    return -jnp.take_along_axis(scores, ids[..., None], -1).mean()


def ring(x, w):
    def local(x, w):
        y = lax.psum(x @ w, "model")
        return y + lax.ppermute(y, "data", [(0, 1), (1, 0)]), lax.all_gather(x, "model", axis=1, tiled=True)
    return shard_map(local, mesh=mesh, in_specs=(P("data", "model"), P("model", None)),
                     out_specs=(P("data", None), P("data", ("model",))))(x, w)


def cache(c, row, i):
    c = lax.dynamic_update_slice(c, row, (i, 0))
    seen = jnp.where(jnp.arange(16)[:, None] <= i, c, 0)
    return c, lax.cond(i > 3, lambda s: s * 2, lambda s: s + 1, seen), lax.fori_loop(0, 3, lambda k, s: s + k, seen)


def orders(x, i):
    return jnp.sort(x, 0), jnp.argmax(x, 1), jnp.cumsum(x, 1), x.at[i].add(1.0), jnp.argsort(x, 1)


def partly(x, w):
    """Along model alone: what is split along data stays so."""
    return 2 * shard_map(lambda x, w: lax.psum(x @ w, "model"), mesh=mesh, out_specs=P(),
                         in_specs=(P(None, "model"), P("model", None)), **PARTLY)(x, w)


def made(x):
    return x + shard_map(lambda: lax.axis_index("data")[None], mesh=mesh, in_specs=(), out_specs=P("data"))()


def whole(x):
    return shard_map(lambda x: lax.psum(x, "model"), mesh=mesh, in_specs=P(), out_specs=P())(x)


def alike(x, y):
    return shard_alike(x * 2, jnp.sin(y))


PROGRAMS = {
    "step": (step, {"w1": at((16, 32), None, "model"), "w2": at((32, 16), ("model", "data"), None)},
             at((8, 16), "data", None)),
    "layers": (layers, at((3, 16, 16), None, "data", "model"), at((8, 16), "data", None)),
    "embed": (jax.grad(embed), at((32, 8), "model", None), at((4, 4), "data", None, dtype=jnp.int32)),
    "ring": (ring, at((8, 16), "data", "model"), at((16, 4), "model", None)),
    "cache": (cache, at((16, 8), None, "model"), at((1, 8), None, "model"), at((), dtype=jnp.int32)),
    "orders": (orders, at((8, 16), "data", "model"), at((4,), dtype=jnp.int32)),
    "partly": (partly, at((8, 16), "data", "model"), at((16, 4), "model")),
    "made": (made, at((16, 2), "model", "data", dtype=jnp.int32)),
}
TILED = {
    "whole": (whole, at((8, 4))),
    "alike": (alike, at((8, 16), "data", "model"), at((8, 16))),
}

if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    if sys.argv[2:] == ["off"]:
        PROGRAMS.update(TILED)
    for name, (function, *args) in PROGRAMS.items():
        lowered = jax.jit(function).trace(*args).lower(lowering_platforms=("tpu",))
        with open("%s/%s.mlir" % (sys.argv[1], name), "w", encoding="ascii") as out:
            out.write(lowered.as_text())
