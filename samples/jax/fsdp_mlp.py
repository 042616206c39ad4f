"""A training step of an MLP, fully sharded: batch, weights and AdamW's state along one axis."""
import jax
import jax.numpy as jnp

from lowering import main, mesh_of, placed

mesh = mesh_of(fsdp=8)
BATCH, IN, HIDDEN, OUT = 64, 32, 128, 16


def predict(params, x):
    h = jax.nn.relu(x @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


def loss(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def adamw(w, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return w - 1e-3 * (m / (jnp.sqrt(v) + 1e-6) + 0.01 * w), m, v


def step(params, m, v, x, y):
    error, grads = jax.value_and_grad(loss)(params, x, y)
    new = {name: adamw(params[name], grads[name], m[name], v[name]) for name in params}
    return error, *({name: new[name][i] for name in new} for i in range(3))


weights = {
    "w1": placed(mesh, (IN, HIDDEN), None, "fsdp"),
    "b1": placed(mesh, (HIDDEN,), "fsdp"),
    "w2": placed(mesh, (HIDDEN, OUT), "fsdp", None),
    "b2": placed(mesh, (OUT,), "fsdp"),
}

if __name__ == "__main__":
    main(step, weights, weights, weights, placed(mesh, (BATCH, IN), "fsdp", None),
         placed(mesh, (BATCH, OUT), "fsdp", None), donate=(0, 1, 2))
