"""One token more: attention over a cache of keys and values, which the step writes into."""
import jax
import jax.numpy as jnp
from jax import lax

from lowering import main, mesh_of, placed

mesh = mesh_of(data=2, model=4)
BATCH, LENGTH, WIDTH, HEADS, HEAD, VOCABULARY = 8, 32, 32, 4, 8, 64


def step(params, cache, token, position):
    x = params["embed"][token]
    q, k, v = (jnp.einsum("bd,dhk->bhk", x, params[name]) for name in ("wq", "wk", "wv"))
    keys = lax.dynamic_update_slice(cache["k"], k[:, None], (0, position, 0, 0))
    values = lax.dynamic_update_slice(cache["v"], v[:, None], (0, position, 0, 0))
    scores = jnp.einsum("bhk,bthk->bht", q, keys) / HEAD ** 0.5
    seen = jnp.where(jnp.arange(LENGTH) <= position, scores, -1e9)
    y = jnp.einsum("bht,bthk,hkd->bd", jax.nn.softmax(seen), values, params["wo"])
    return jnp.argmax((x + y) @ params["embed"].T, -1), {"k": keys, "v": values}


weights = {
    "embed": placed(mesh, (VOCABULARY, WIDTH), "model", None),
    **{name: placed(mesh, (WIDTH, HEADS, HEAD), None, "model", None) for name in ("wq", "wk", "wv")},
    "wo": placed(mesh, (HEADS, HEAD, WIDTH), "model", None, None),
}
caches = {name: placed(mesh, (BATCH, LENGTH, HEADS, HEAD), "data", None, "model", None) for name in ("k", "v")}

if __name__ == "__main__":
    main(step, weights, caches, placed(mesh, (BATCH,), "data", dtype=jnp.int32),
         placed(mesh, (), dtype=jnp.int32), donate=(1,))
