#!/usr/bin/env python3
"""Lowers a program in explicit mode, as programs.py: typed.py FOLDER makes FOLDER/typed.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P

mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)


def at(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def up(x, w):
    h = jax.sharding.reshard(x, P("data", None))
    return jax.nn.relu(h @ w)


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    with jax.sharding.use_abstract_mesh(mesh):
        traced = jax.jit(up).trace(at((16, 64), "data", "model"), at((64, 32), None, "model"))
        text = traced.lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
    with open(sys.argv[1] + "/typed.mlir", "w", encoding="ascii") as out:
        out.write(text.replace(here, ""))
