"""What the programs beside this file have in common: they are lowered, and run.

    python fsdp_mlp.py                 fsdp_mlp.mlir: what shdc reads, for TPU, without one
    python fsdp_mlp.py --values DIR    DIR/in.npz and DIR/out.npz: arguments, and what JAX
                                       makes of them on eight devices that the CPU pretends to be
"""
import inspect
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + "/"


def mesh_of(**axes):
    """An axis a size, as mesh_of(data=2, model=4); no device is needed."""
    return AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def placed(mesh, shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))


def devices_of(mesh):
    """The same mesh, of devices that are there."""
    sizes = tuple(mesh.shape.values())
    return Mesh(np.array(jax.devices()[:mesh.size]).reshape(sizes), mesh.axis_names,
                axis_types=(AxisType.Auto,) * len(sizes))


def made_up(x, low, random):
    """Positions for integers; of floats, small ones."""
    if jnp.issubdtype(x.dtype, jnp.integer):
        values = random.integers(0, 8, x.shape)
    else:
        values = random.uniform(low, 0.5, x.shape)
    return jnp.asarray(values, x.dtype)


def by_name(tree, name):
    """{"params['w1']": array}: the names that a lowered program has."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {name + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def save(path, arrays):
    """numpy has no bf16: its two bytes are stored as they are."""
    bits = {name: a.view("V2") if a.dtype == jnp.bfloat16 else a for name, a in arrays.items()}
    np.savez(path, **bits)


def lower(function, args, donate=()):
    """The text that shdc reads; places in this folder are told from the top one."""
    traced = jax.jit(function, donate_argnums=donate).trace(*args)
    text = traced.lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
    return text.replace(ROOT, "")


def values(function, args, folder):
    random = np.random.default_rng(20261125)
    names = list(inspect.signature(function).parameters)
    lows = [0 if name == "v" else -0.5 for name in names]       # v: a mean of squares
    given = tuple(jax.tree.map(lambda x, low=low: made_up(x, low, random), arg) for arg, low in zip(args, lows))
    mesh = devices_of(jax.tree.leaves(args)[0].sharding.mesh)
    there = jax.tree.map(lambda x, v: jax.device_put(v, NamedSharding(mesh, x.sharding.spec)), args, given)
    arguments = {}
    for name, tree in zip(names, given):
        arguments.update(by_name(tree, name))
    os.makedirs(folder, exist_ok=True)
    save(folder + "/in.npz", arguments)
    save(folder + "/out.npz", by_name(jax.jit(function)(*there), "result"))


def main(function, *args, donate=()):
    if sys.argv[1:2] == ["--values"]:
        values(function, args, sys.argv[2])
        return
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0] + ".mlir"
    path = sys.argv[1] if sys.argv[1:] else name
    with open(path, "w", encoding="utf-8") as out:
        out.write(lower(function, args, donate))
    print(path)
