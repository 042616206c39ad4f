#!/usr/bin/env python3
"""Three meshes of the same devices in one program, for tests/import/meshes.test.

    meshes.py > meshes.mlir
"""
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices())
first = Mesh(devices.reshape(2, 4), ("data", "model"))
second = Mesh(devices.reshape(4, 2), ("rows", "columns"))
third = Mesh(devices, ("all",))


def at(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(first, P(*spec)))


def meshes(x, w):
    def local(z):
        return lax.psum(z * lax.axis_index("columns"), "columns")
    y = lax.with_sharding_constraint(x @ w, NamedSharding(second, P("rows", "columns")))
    z = lax.with_sharding_constraint(jnp.sin(y), NamedSharding(third, P("all", None)))
    u = jax.shard_map(local, mesh=second, in_specs=P("rows", "columns"), out_specs=P("rows", None),
                      check_vma=False)(z)
    back = NamedSharding(first, P("data", None))
    return tuple(lax.with_sharding_constraint(v, back) for v in (y, z, u))


ARGS = at((16, 32), "data", None), at((32, 64), None, "model")

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    print(jax.jit(meshes).trace(*ARGS).lower(lowering_platforms=("tpu",)).as_text(debug_info=True).replace(here, ""))
