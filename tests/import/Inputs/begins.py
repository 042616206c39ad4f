#!/usr/bin/env python3
"""Lowers a product and sums whose places in older text have no ends: begins.py FOLDER, with
JAX 0.4.35, makes FOLDER/begins.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from versions import at


def layer(x, w):
    return jnp.tanh(x @ w) @ w.T


def main(x, w):
    return layer(x, w), (x + 1).sum(1)


ARGS = at((8, 16), "data", "model"), at((16, 32), "model", None)

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    module = jax.jit(main).trace(*ARGS).lower(lowering_platforms=("tpu",)).compiler_ir()
    with open(sys.argv[1] + "/begins.mlir", "w", encoding="ascii") as out:
        out.write(module.operation.get_asm(enable_debug_info=True).replace(here, ""))
