"""Program I of a seed: a function of JAX as text, with its arguments."""
import math
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from block import Block, Var
from statements import STATEMENTS

MESHES = [{"data": 2, "model": 4}] * 3 + [{"data": 4, "model": 2}, {"x": 8}, {"a": 2, "b": 2, "c": 2},
                                          {"data": 2, "one": 1, "model": 4}]
SIZES = (2, 4, 4, 8, 8, 16)
RANKS = (1, 2, 2, 2, 3, 3, 4)
DTYPES = [jnp.float32] * 6 + [jnp.bfloat16, jnp.int32, jnp.uint32, jnp.int8, jnp.uint8]


class Program:
    def __init__(self, seed, number):
        self.random = random.Random("%d/%d" % (seed, number))
        self.count, self.untraced, self.statements = 0, [], STATEMENTS
        self.explicit = self.random.random() < 0.25
        self.sizes = self.random.sample(SIZES, 3)
        self.axes = self.random.choice(MESHES)
        kind = AxisType.Explicit if self.explicit else AxisType.Auto
        self.mesh = jax.make_mesh(tuple(self.axes.values()), tuple(self.axes), axis_types=(kind,) * len(self.axes))
        self.names = {"jax": jax, "jnp": jnp, "np": np, "lax": lax, "P": P, "NamedSharding": NamedSharding,
                      "mesh": self.mesh}
        self.args = [self.argument(self.random.choice(DTYPES)) for _ in range(self.random.randint(2, 4))]
        self.args.append(self.argument(jnp.int32))
        block = Block(self, self.args)
        block.grow(self.random.randint(6, 20))
        self.finish(block)

    def finish(self, block):
        """The last values are returned, and some of those before; of constants each use has its own."""
        made = [v for v in block.vars[len(self.args):] if not v.constant] or block.vars[:1]
        few = self.random.sample(made, min(len(made), 2))
        self.results = list(dict.fromkeys([v.name for v in made[-2:] + few] + block.finals))
        self.loose = {v.name for v in block.vars if v.loose}
        lines = ["def program(%s):" % ", ".join(v.name for v in self.args),
                 *block.ending(", ".join(self.results) + ",")]
        self.text = "\n".join(lines) + "\n"
        exec(self.text, self.names)
        self.function = self.names["program"]

    def fresh(self, letter="v"):
        self.count += 1
        return "%s%d" % (letter, self.count)

    def spec(self, shape, axes=None):
        """Some axes, of dims that they divide."""
        axes = [a for a in (axes or self.axes) if self.random.random() < 0.6]
        self.random.shuffle(axes)
        dims = [[] for _ in shape]
        for axis in axes:
            fit = [d for d in range(len(shape))
                   if shape[d] % (self.axes[axis] * math.prod(self.axes[a] for a in dims[d])) == 0]
            if fit:
                dims[self.random.choice(fit)].append(axis)
        return "P(%s)" % ", ".join(repr(tuple(d)) if len(d) > 1 else repr(d[0]) if d else "None" for d in dims)

    def argument(self, dtype):
        shape = tuple(self.random.choice(self.sizes) for _ in range(self.random.choice(RANKS)))
        spec = eval(self.spec(shape), self.names)
        aval = jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(self.mesh, spec))
        return Var(self.fresh("a"), aval, 5, dtype == jnp.bfloat16)

    def shapes(self, function, avals, manual):
        """What it makes of these, on a device along the axes `manual`."""
        if manual:
            avals = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
            function = jax.shard_map(function, mesh=self.mesh, in_specs=(P(),) * len(avals), out_specs=P(),
                                     axis_names=set(manual), check_vma=False)
        if not self.explicit:
            return jax.eval_shape(function, *avals)
        with jax.set_mesh(self.mesh):
            return jax.eval_shape(function, *avals)

    def values(self):
        """Of the arguments: eighths, and small numbers."""
        numbers = np.random.default_rng(self.random.randrange(1 << 30))
        made = []
        for v in self.args:
            if v.is_float():
                x = numbers.integers(-8, 9, v.shape) / 8
            elif jnp.issubdtype(v.aval.dtype, jnp.unsignedinteger):
                x = numbers.integers(0, 16, v.shape)
            else:
                x = numbers.integers(-4, 13, v.shape)
            made.append(jax.device_put(jnp.asarray(x, v.aval.dtype), v.aval.sharding))
        return made
