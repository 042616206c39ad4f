"""A training step of a small Llama: RMS norms, rotated queries and keys, grouped heads, SwiGLU;
bf16 with f32 master weights, scan and remat, AdamW; fully sharded by tensor parallel."""
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

from lowering import main, mesh_of, placed

mesh = mesh_of(fsdp=4, tp=2)
VOCABULARY, LAYERS, BATCH, LENGTH, WIDTH, HEADS, GROUPS, HEAD, HIDDEN = 64, 2, 8, 16, 32, 4, 2, 8, 64


def rows(x):
    """Of activations each device has rows, forward and backward, whatever weights are split by."""
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P("fsdp", None, None)))


def rms(x, scale):
    y = x.astype(jnp.float32)
    y = y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5)
    return y.astype(x.dtype) * scale


def rotated(x):
    half = HEAD // 2
    angle = jnp.arange(LENGTH)[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    sin, cos = jnp.sin(angle)[:, None].astype(x.dtype), jnp.cos(angle)[:, None].astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def attention(x, w):
    q = rotated(jnp.einsum("btd,dhk->bthk", x, w["wq"]))
    k = rotated(jnp.einsum("btd,dgk->btgk", x, w["wk"]))
    v = jnp.einsum("btd,dgk->btgk", x, w["wv"])
    q = q.reshape(BATCH, LENGTH, GROUPS, HEADS // GROUPS, HEAD)
    scores = jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(jnp.float32) / HEAD ** 0.5
    seen = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), -1).astype(x.dtype)
    out = jnp.einsum("bgrts,bsgk->btgrk", weights, v).reshape(BATCH, LENGTH, HEADS, HEAD)
    return jnp.einsum("bthk,hkd->btd", out, w["wo"])


def layer(x, w):
    x = x + attention(rms(x, w["norm1"]), w)
    y = rms(x, w["norm2"])
    return rows(x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]), None


def loss(params, tokens, targets):
    params = jax.tree.map(lambda w: w.astype(jnp.bfloat16), params)
    x = rows(params["embed"][tokens])
    x, _ = lax.scan(jax.checkpoint(layer), x, params["layers"])
    logits = (x @ params["head"]).astype(jnp.float32)
    scores = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.sum(scores * jax.nn.one_hot(targets, VOCABULARY), -1))


def step(params, m, v, tokens, targets):
    error, grads = jax.value_and_grad(loss)(params, tokens, targets)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, grads)
    params = jax.tree.map(lambda w, m, v: w - 1e-3 * (m / (jnp.sqrt(v) + 1e-3) + 0.1 * w), params, m, v)
    return error, params, m, v


def stacked(*shape_and_spec):
    shape, spec = shape_and_spec[:len(shape_and_spec) // 2], shape_and_spec[len(shape_and_spec) // 2:]
    return placed(mesh, (LAYERS, *shape), None, *spec)


weights = {
    "embed": placed(mesh, (VOCABULARY, WIDTH), "tp", "fsdp"),
    "head": placed(mesh, (WIDTH, VOCABULARY), "fsdp", "tp"),
    "layers": {
        "wq": stacked(WIDTH, HEADS, HEAD, "fsdp", "tp", None),
        "wk": stacked(WIDTH, GROUPS, HEAD, "fsdp", "tp", None),
        "wv": stacked(WIDTH, GROUPS, HEAD, "fsdp", "tp", None),
        "wo": stacked(HEADS, HEAD, WIDTH, "tp", None, "fsdp"),
        "gate": stacked(WIDTH, HIDDEN, "fsdp", "tp"),
        "up": stacked(WIDTH, HIDDEN, "fsdp", "tp"),
        "down": stacked(HIDDEN, WIDTH, "tp", "fsdp"),
        "norm1": stacked(WIDTH, None),
        "norm2": stacked(WIDTH, None),
    },
}

if __name__ == "__main__":
    ids = placed(mesh, (BATCH, LENGTH), "fsdp", None, dtype=jnp.int32)
    main(step, weights, weights, weights, ids, ids, donate=(0, 1, 2))
