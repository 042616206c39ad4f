"""A mixture of experts with masks and einsums, as in GShard: tokens go to the devices that have
their two experts, and back."""
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

from lowering import main, mesh_of, placed

mesh = mesh_of(expert=8)
GROUPS, TOKENS, WIDTH, HIDDEN, EXPERTS, CAPACITY = 8, 16, 32, 64, 8, 8


def route(x, router):
    """Of each token how much of which place of which expert: [G, T, E, C]."""
    gates = jax.nn.softmax(jnp.einsum("gtd,de->gte", x, router))
    dispatch = jnp.zeros((GROUPS, TOKENS, EXPERTS, CAPACITY))
    taken = jnp.zeros((GROUPS, 1, EXPERTS))
    for _ in range(2):
        best = jax.nn.one_hot(jnp.argmax(gates, -1), EXPERTS)
        place = jnp.cumsum(best, 1) - best + taken
        slots = jax.nn.one_hot(place.astype(jnp.int32), CAPACITY) * best[..., None]
        dispatch = dispatch + slots * jnp.sum(gates * best, -1)[..., None, None]
        taken = taken + jnp.sum(best, 1, keepdims=True)
        gates = gates * (1 - best)
    return dispatch


def along_first(x):
    """By groups, or by experts: without it weights of experts are gathered where tokens are."""
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P("expert")))


def experts(x, router, up, down):
    combine = along_first(route(x, router))
    dispatch = (combine > 0).astype(x.dtype)
    sent = along_first(jnp.einsum("gtec,gtd->egcd", dispatch, x))
    h = jax.nn.gelu(jnp.einsum("egcd,edf->egcf", sent, up))
    made = along_first(jnp.einsum("egcf,efd->egcd", h, down))
    return jnp.einsum("gtec,egcd->gtd", combine, made)


if __name__ == "__main__":
    main(experts, placed(mesh, (GROUPS, TOKENS, WIDTH), "expert", None, None),
         placed(mesh, (WIDTH, EXPERTS)),
         placed(mesh, (EXPERTS, WIDTH, HIDDEN), "expert", None, None),
         placed(mesh, (EXPERTS, HIDDEN, WIDTH), "expert", None, None))
