#!/usr/bin/env python3
"""Lowers what advice is asked of, as programs.py: advice.py FOLDER makes FOLDER/advice.mlir."""
import os
import sys

import jax
import jax.numpy as jnp
from programs import at, mesh  # noqa: F401: for advice that is pasted


def both(x, w, y, v):
    h = x @ w
    return jax.nn.relu(h), jnp.sort(y, 0) @ v


ARGS = at((16, 64), "data", "model"), at((64, 256), "model", None), at((16, 64), "data"), at((64, 32))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__)) + "/"
    lowered = jax.jit(both).trace(*ARGS).lower(lowering_platforms=("tpu",))
    with open(sys.argv[1] + "/advice.mlir", "w", encoding="ascii") as out:
        out.write(lowered.as_text(debug_info=True).replace(here, ""))
