#!/usr/bin/env python3
"""Lowers a step whose operands XLA moves otherwise: moved.py FOLDER makes FOLDER/moved.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from programs import at, mesh  # noqa: F401: for lines that are pasted


def step(x, w):
    u = (x @ w.T) @ w
    return u, jnp.sort(x, 0) + x[::-1]


ARGS = at((256, 128), "data", "model"), at((64, 128), "data", "model")

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    lowered = jax.jit(step).trace(*ARGS).lower(lowering_platforms=("tpu",))
    with open(sys.argv[1] + "/moved.mlir", "w", encoding="ascii") as out:
        out.write(lowered.as_text(debug_info=True).replace(here, ""))
