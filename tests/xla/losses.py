"""What training samples compute, once more in JAX, without what they do for devices.

A loss takes the parameters by name, and all that is given."""
import numpy as np
import jax
import jax.numpy as jnp


def rms_norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)[..., 0]


def attend(q, k, v, causal):
    scores = jnp.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tri(q.shape[1], dtype=bool), scores, -1e30)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores), v)


def heads(x, y, w, causal):
    q = jnp.einsum("btd,dhk->bthk", x, w[0])
    k, v = (jnp.einsum("bsd,dhk->bshk", y, w[i]) for i in (1, 2))
    return jnp.einsum("bthk,dhk->btd", attend(q, k, v, causal), w[3])


def feed_forward(x, w):
    return jax.nn.relu(x @ w[0]) @ w[1].T


def t5(p, given):
    """GBS is 14 of 16 rows."""
    sources, targets = (given[name].reshape(16, -1)[:14] for name in ("sources", "targets"))
    x = p["table"][sources]
    for w, ff, n in zip(p["enc_heads"], p["enc_ff"], p["enc_norms"]):
        a = rms_norm(x) * n[0]
        x = x + heads(a, a, w, False)
        x = x + feed_forward(rms_norm(x) * n[1], ff)
    encoded = rms_norm(x) * p["last"][0]
    y = p["table"][jnp.pad(targets[:, :-1], ((0, 0), (1, 0)))]
    for w, ff, n in zip(p["dec_heads"], p["dec_ff"], p["dec_norms"]):
        a = rms_norm(y) * n[0]
        y = y + heads(a, a, w[:4], True)
        y = y + heads(rms_norm(y) * n[1], encoded, w[4:], False)
        y = y + feed_forward(rms_norm(y) * n[2], ff)
    return jnp.mean(cross_entropy((rms_norm(y) * p["last"][1]) @ p["table"].T, targets))


def mixture(p, given):
    x = given["x"]
    share = jax.nn.softmax(x @ p["router"])
    best, which = jax.lax.top_k(share, 2)
    every = jnp.einsum("sef,efd->sed", jax.nn.relu(jnp.einsum("sd,edf->sef", x, p["Wi"])), p["Wo"])
    found = jnp.take_along_axis(every, which[..., None], axis=1)
    y = x + jnp.sum(found * (best / jnp.sum(best, axis=1, keepdims=True))[..., None], axis=1)
    count = jnp.bincount(which.reshape(-1), length=share.shape[1]) / which.size
    uneven = share.shape[1] * jnp.sum(count * jnp.mean(share, axis=0))
    return jnp.mean((y - given["wanted"]) ** 2) + 0.01 * uneven


def ring(p, given):
    q, k, v = (jnp.einsum("sd,dhk->shk", given["x"], p[name])[None] for name in ("Wq", "Wk", "Wv"))
    return jnp.mean((jnp.einsum("shk,hkd->sd", attend(q, k, v, True)[0], p["Wo"]) - given["wanted"]) ** 2)


def blocks(p, given):
    h = given["x"] + jax.nn.relu(given["x"] @ p["w1"]) @ p["w2"]
    return jnp.mean((h + jax.nn.relu(h @ p["v1"]) @ p["v2"] - given["wanted"]) ** 2)


def stack(p, given):
    h = given["x"]
    for wi, wo in zip(p["Wi"], p["Wo"]):
        h = h + jax.nn.relu(h @ wi) @ wo
    return jnp.mean((h - given["wanted"]) ** 2)


def digits(p, given):
    return jnp.mean(cross_entropy(jax.nn.relu(given["images"] / 16.0 @ p["W1"]) @ p["W2"],
                                  given["digits"].astype(np.int32)))


def characters(p, given):
    text = given["text"]
    x = p["embedding"][text[:, :-1]]
    back = jnp.arange(x.shape[1])[:, None] - jnp.arange(x.shape[1])
    count = p["qkv"].shape[3]
    slopes = 2.0 ** (-8 / count * (jnp.arange(count) + 1))
    for qkv, out, up, down in zip(*(p[name] for name in ("qkv", "out", "up", "down"))):
        q, k, v = jnp.einsum("btd,dchk->cbthk", rms_norm(x), qkv)
        near = jnp.einsum("bqhk,bshk->bhqs", q, k) / np.sqrt(q.shape[-1]) - slopes[:, None, None] * back
        weights = jax.nn.softmax(jnp.where(back >= 0, near, -1e9))
        x = x + jnp.einsum("bhqs,bshk,hkd->bqd", weights, v, out)
        x = x + jax.nn.gelu(rms_norm(x) @ up) @ down
    return jnp.mean(cross_entropy(rms_norm(x) @ p["embedding"].T, text[:, 1:]))


# Of samples that draw their batches: a step from a batch that is given.
STEPS = {
    "training/digits.shd": """
fn from_given(images: u8[BATCH@data, PIXELS], digits: u8[BATCH@data], W1: f32[PIXELS, HIDDEN@model],
              W2: f32[HIDDEN@model, CLASSES])
    -> (loss: f32, W1: f32[PIXELS, HIDDEN@model], W2: f32[HIDDEN@model, CLASSES]) {
  let (l, g1, g2) = value_and_grad(loss, wrt=(W1, W2))(images, digits, W1, W2);
  return l, W1 - g1, W2 - g2;
}
""",
    "training/characters.shd": """
fn from_given(text: i32[B@data, T + 1], embedding: Embedding, qkv: Qkv, out: Out, up: Up, down: Down)
    -> (loss: f32, embedding: Embedding, qkv: Qkv, out: Out, up: Up, down: Down) {
  let (l, a, b, c, d, e) = value_and_grad(loss, wrt=(embedding, qkv, out, up, down))(
    text, embedding, qkv, out, up, down);
  return l, embedding - a, qkv - b, out - c, up - d, down - e;
}
""",
}
