#!/usr/bin/env python3
"""Lowers a step whose lookup splits activations by width: rows.py FOLDER makes FOLDER/rows.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from jax import lax
from programs import at, mesh  # noqa: F401: for advice that is pasted


def layer(x, w):
    return x + jax.nn.relu(x @ w["up"]) @ w["down"], None


def loss(params, tokens):
    x = params["embed"][tokens]
    x, _ = lax.scan(jax.checkpoint(layer), x, params["layers"])
    return jnp.mean(x ** 2)


def step(params, tokens):
    return jax.value_and_grad(loss)(params, tokens)


ARGS = {
    "embed": at((32000, 1024), None, "data"),
    "layers": {"up": at((4, 1024, 4096), None, "data", "model"), "down": at((4, 4096, 1024), None, "model", "data")},
}, at((8192,), "data", dtype=jnp.int32)

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    lowered = jax.jit(step).trace(*ARGS).lower(lowering_platforms=("tpu",))
    with open(sys.argv[1] + "/rows.mlir", "w", encoding="ascii") as out:
        out.write(lowered.as_text(debug_info=True).replace(here, ""))
