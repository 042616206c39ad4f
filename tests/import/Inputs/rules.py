#!/usr/bin/env python3
"""Ops that nobody knows, with rules of how they are split, for tests/import/rules.test.

    rules.py > rules.mlir
"""
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), (jax.sharding.AxisType.Auto,) * 2)


def at(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def ruled(function, rule, **kinds):
    """Called whole, with a rule of how it is split."""
    call = custom_partitioning(function)
    call.def_partition(sharding_rule=rule, partition=None, **kinds)
    return call


def rules(a, b, c, d):
    """Ops that nobody knows, of which their rules say how they are split."""
    product = ruled(lambda x, y: x @ y, "i k, k j -> i j", reduction_factors=("k",))(a, b)
    cut = ruled(lambda x: x.reshape(-1, 4, x.shape[1]), "(i j) k -> i j k")(b)
    moved = ruled(lambda x: x[:, ::-1], "i j -> i j", permutation_factors=("j",))(a)
    ordered = ruled(lambda x: jnp.sort(x, -1), "... j -> ... j", need_replication_factors=("j",))(a)
    both = ruled(lambda x, y: (x.sum(-1) + y, x.max(1)), "b h s, b h -> b h, b s")(c, d)
    return product, cut, moved, ordered, both


ARGS = (at((32, 256), "data", "model"), at((256, 64), "model", None),
        at((8, 4, 16), "data", None, "model"), at((8, 4)))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    print(jax.jit(rules).lower(*ARGS).as_text(debug_info=True).replace(here, ""))
