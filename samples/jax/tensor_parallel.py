"""Transformer layers, scanned and rematerialised, their gradients; heads and the hidden
width along one axis, the batch along another."""
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

from lowering import main, mesh_of, placed

mesh = mesh_of(data=2, model=4)
LAYERS, BATCH, LENGTH, WIDTH, HEADS, HEAD, HIDDEN = 4, 4, 16, 32, 4, 8, 64


def normal(x):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)


def attention(x, w):
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, w[name]) for name in ("wq", "wk", "wv"))
    scores = jnp.einsum("bthk,bshk->bhts", q, k) / HEAD ** 0.5
    seen = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), -1)
    return jnp.einsum("bhts,bshk,hkd->btd", weights, v, w["wo"])


def layer(x, w):
    x = x + attention(normal(x), w)
    h = jax.nn.gelu(normal(x) @ w["up"])
    x = x + h @ w["down"]
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None, None))), None


def loss(layers, x):
    y, _ = lax.scan(jax.checkpoint(layer), x, layers)
    return jnp.mean(y ** 2)


def gradients(layers, x):
    return jax.value_and_grad(loss)(layers, x)


weights = {
    **{name: placed(mesh, (LAYERS, WIDTH, HEADS, HEAD), None, None, "model", None) for name in ("wq", "wk", "wv")},
    "wo": placed(mesh, (LAYERS, HEADS, HEAD, WIDTH), None, "model", None, None),
    "up": placed(mesh, (LAYERS, WIDTH, HIDDEN), None, None, "model"),
    "down": placed(mesh, (LAYERS, HIDDEN, WIDTH), None, "model", None),
}

if __name__ == "__main__":
    main(gradients, weights, placed(mesh, (BATCH, LENGTH, WIDTH), "data", None, None))
