#!/usr/bin/env python3
"""Lowers a step of a function that is called with several sizes, and computed again, as
programs.py: called.py FOLDER makes FOLDER/called.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from programs import at, mesh  # noqa: F401: for advice that is pasted


def dense(x, w):
    return jnp.tanh(x @ w)


def loss(params, tokens):
    h = params["embed"][tokens]
    for w in params["layers"]:
        h = h + jax.checkpoint(dense)(dense(h, w["up"]), w["down"])
    return jnp.mean(h * h)


def step(params, tokens):
    return jax.grad(loss)(params, tokens)


ARGS = {
    "embed": at((32000, 1024), None, "data"),
    "layers": [{"up": at((1024, wide), "data", "model"), "down": at((wide, 1024), "model", "data")}
               for wide in (4096, 1024, 2048)],
}, at((8192,), "data", dtype=jnp.int32)

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    lowered = jax.jit(step).trace(*ARGS).lower(lowering_platforms=("tpu",))
    with open(sys.argv[1] + "/called.mlir", "w", encoding="ascii") as out:
        out.write(lowered.as_text(debug_info=True).replace(here, ""))
