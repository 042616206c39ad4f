#!/usr/bin/env python3
"""Lowers a step whose functions call its arguments otherwise: called_twice.py FOLDER makes FOLDER/called_twice.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from programs import at, mesh  # noqa: F401: for lines that are pasted


def dense(x, kernel):
    return x @ kernel


def loss(params, batch):
    h = jax.nn.relu(dense(batch, params["w1"]))
    return jnp.mean(dense(h, params["w2"]) ** 2)


def step(params, batch):
    e, g = jax.value_and_grad(loss)(params, batch)
    return e, jax.tree.map(lambda p, d: p - 0.1 * d, params, g)


ARGS = {"w1": at((64, 256), "data", "model"), "w2": at((256, 64), "model", "data")}, at((32, 64), "data", None)

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    lowered = jax.jit(step).trace(*ARGS).lower(lowering_platforms=("tpu",))
    with open(sys.argv[1] + "/called_twice.mlir", "w", encoding="ascii") as out:
        out.write(lowered.as_text(debug_info=True).replace(here, ""))
