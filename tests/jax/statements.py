"""The statements of random JAX programs, a row each: how often, and where they may stand."""
import dataclasses
import math
import typing

import jax
import jax.numpy as jnp

from block import Var

DTYPES = ("float32", "bfloat16", "int32", "uint32", "int8", "uint8", "bool")
SMOOTH = ("jnp.tanh(%s)", "jnp.sin(jnp.clip(%s, -8, 8))", "jnp.cos(jnp.clip(%s, -8, 8))", "jnp.exp(-abs(%s))",
          "jnp.sqrt(abs(%s) + 0.5)", "jax.nn.sigmoid(%s)", "lax.rsqrt(1 + %s * %s)", "jnp.log1p(abs(%s))", "lax.erf(%s)", "jax.nn.gelu(%s)",
          "jax.nn.softplus(%s)", "jnp.arctan(%s)", "jnp.expm1(-abs(%s))", "1 / (1.5 + abs(%s))", "jnp.cbrt(%s + 3)",
          "jax.nn.silu(%s)")


def join(*bits):
    """What the largest needs; None if one was rounded."""
    return None if None in bits else max(bits)


def log2(n):
    return max(0, math.ceil(math.log2(n)))


def plus(bits, more):
    return None if bits is None else bits + more


def dims_of(block, x, least=1):
    """Some dims of x, in order."""
    n = block.random.randint(least, x.rank)
    return tuple(sorted(block.random.sample(range(x.rank), n)))


# ---- element by element

def smooth(block):
    x = block.pick(Var.is_float)
    if x:
        text = block.random.choice(SMOOTH)
        block.write(text.replace("%s", x.name))


def stepped(block):
    """Of exact values: what jumps."""
    x = block.pick(Var.is_float, exact=True)
    if x:
        block.write(block.random.choice(("jnp.floor(%s)", "jnp.ceil(%s)", "jnp.round(%s)", "jnp.sign(%s)",
                                         "jnp.trunc(%s)", "jnp.clip(%s, -0.5, 0.75)")) % x.name, x.bits)


def linear(block):
    x = block.pick(lambda v: not v.is_bool())
    if x:
        which = block.random.choice(("-%s", "abs(%s)", "%s + 1", "3 - %s", "%s * 2", "jax.nn.relu(%s)"))
        block.write(which % x.name, plus(x.bits, 1))


def binary(block):
    x = block.pick(lambda v: not v.is_bool())
    if not x:
        return
    y = block.like(x)
    op, bits = block.random.choice((("%s + %s", 1), ("%s - %s", 1), ("%s * %s", 0), ("jnp.maximum(%s, %s)", 0),
                                    ("jnp.minimum(%s, %s)", 0)))
    both = plus(join(x.bits, y.bits), bits)
    block.write(op % (x.name, y.name), plus(both, y.bits) if "*" in op and both is not None else both)


def outer_binary(block):
    """Of two shapes that are broadcast."""
    x = block.pick(Var.is_float, 1, 3)
    y = block.pick(Var.is_float, 1, 2)
    if not x or not y:
        return
    at = ", ".join([":"] * x.rank + ["None"] * y.rank)
    if y.shape == x.shape[x.rank - y.rank:] or y.shape == (x.shape[-1],):
        block.write("%s * %s" % (x.name, y.name), join(x.bits, y.bits) and x.bits + y.bits)
    else:
        block.write("%s[%s] + %s" % (x.name, at, y.name), plus(join(x.bits, y.bits), 1))


def integers(block):
    x = block.pick(Var.is_integer)
    if not x:
        return
    y = block.like(x).name
    width = 8 * x.aval.dtype.itemsize
    block.write(block.random.choice((
        "{x} & {y}", "{x} | {y}", "{x} ^ {y}", "~{x}", "{x} << ({y} & %d)" % (width - 1),
        "lax.shift_right_logical({x}, {y} & %d)" % (width - 1), "lax.shift_right_arithmetic({x}, {y} & %d)"
        % (width - 1), "{x} % (({y} & 7) + 1)", "{x} // (({y} & 7) + 1)", "lax.population_count({x})",
        "lax.clz({x})", "{x} * {y}", "{x} - {y}", "lax.rem({x}, ({y} & 3) + 2)")).format(x=x.name, y=y))


def compared(block):
    x = block.pick(exact=True)
    if x:
        y = block.like(x)
        if y.is_exact():
            op = block.random.choice(("<", "<=", ">", ">=", "==", "!="))
            block.write("%s %s %s" % (x.name, op, y.name))


def logic(block):
    x = block.pick(Var.is_bool)
    if x:
        y = block.like(x)
        block.write(block.random.choice(("{0} & {1}", "{0} | {1}", "~{0}", "{0} ^ {1}")).format(x.name, y.name))


def where(block):
    c = block.pick(Var.is_bool)
    x = c and block.pick(lambda v: v.shape == c.shape)
    if x:
        y = block.like(x)
        block.write("jnp.where(%s, %s, %s)" % (c.name, x.name, y.name), join(x.bits, y.bits))


def convert(block):
    x = block.pick()
    to = block.random.choice(DTYPES)
    if not x or (to in ("bool",) and not x.is_exact()):
        return
    text = x.name
    if x.is_float() and "int" in to:
        if not x.is_exact():
            return
        text = "jnp.clip(%s, %d, 100)" % (text, 0 if to[0] == "u" else -100)
    bits = 1 if x.is_bool() else x.bits
    if x.is_integer():
        bits = None if "float" in to else 5
        if to == "float32" and x.aval.dtype.itemsize == 1:
            bits = 8
    block.write("%s.astype(jnp.%s)" % (text, to), bits)


def few_bits(block):
    """Through a float of a byte, or an integer of half a one, and back."""
    x = block.pick(lambda v: str(v.aval.dtype) in ("float32", "int32", "uint32"), exact=True)
    if x and x.is_float():
        to = block.random.choice(("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"))
        most = 28 if "b11" in to else 400
        block.write("jnp.clip(%s, %d, %d).astype(jnp.%s).astype(jnp.float32)" % (x.name, -most, most, to), x.bits)
    elif x:
        to = "int4" if str(x.aval.dtype) == "int32" else "uint4"
        block.write("%s.astype(jnp.%s).astype(%s.dtype)" % (x.name, to, x.name), 5)


def complex_of(block):
    """A product, and how large it is, or one of its parts."""
    x = block.pick(lambda v: str(v.aval.dtype) == "float32")
    if x:
        y = block.like(x)
        form = block.random.choice(("jnp.abs(%s)", "(%s).real", "(%s).imag"))
        block.write(form % ("lax.complex(%s, %s) * lax.complex(%s, %s)" % (x.name, y.name, y.name, x.name)))


def bits_of(block):
    """Of floats only arguments: others may be -0."""
    x = block.pick(lambda v: str(v.aval.dtype) in ("int32", "uint32") or (str(v.aval.dtype) == "float32"
                                                                         and v in block.program.args))
    if x:
        to = block.random.choice(("int32", "uint32"))
        block.write("lax.bitcast_convert_type(%s, jnp.%s)" % (x.name, to))


# ---- shapes

def transpose(block):
    x = block.pick(None, 2)
    if x:
        order = list(range(x.rank))
        block.random.shuffle(order)
        block.write("jnp.transpose(%s, %s)" % (x.name, tuple(order)), x.bits)


def reshape(block):
    x = block.pick(None, 1)
    if not x:
        return
    dims = list(x.shape)
    at = block.random.randrange(len(dims))
    if len(dims) > 1 and block.random.random() < 0.5:
        at = block.random.randrange(len(dims) - 1)
        dims[at:at + 2] = [dims[at] * dims[at + 1]]
    elif dims[at] % 2 == 0:
        dims[at:at + 1] = block.random.choice(([2, dims[at] // 2], [dims[at] // 2, 2]))
    else:
        dims.insert(at, 1)
    block.write("%s.reshape(%s)" % (x.name, tuple(dims)), x.bits)


def broadcast(block):
    x = block.pick(None, 0, 3)
    if x:
        n = block.random.choice((2, 4, 8))
        at = block.random.randrange(x.rank + 1)
        block.write("jnp.broadcast_to(jnp.expand_dims(%s, %d), %s)"
                    % (x.name, at, x.shape[:at] + (n,) + x.shape[at:]), x.bits)


def sliced(block):
    x = block.pick(None, 1)
    if not x:
        return
    d = block.random.randrange(x.rank)
    n = x.shape[d]
    first = block.random.randrange(n)
    part = block.random.choice(("%d:" % first, ":%d" % max(1, first), "::-1", "%d::2" % min(first, 1), ":-1",
                                str(first)))
    block.write("%s[%s]" % (x.name, ", ".join([":"] * d + [part])), x.bits)


def joined(block):
    x = block.pick(None, 1)
    if not x:
        return
    y = block.like(x)
    d = block.random.randrange(x.rank)
    which = block.random.choice(("jnp.concatenate([%s, %s], %d)", "jnp.stack([%s, %s], %d)"))
    block.write(which % (x.name, y.name, d), join(x.bits, y.bits))


def moved(block):
    x = block.pick(None, 1)
    if not x:
        return
    d = block.random.randrange(x.rank)
    by = block.random.choice((1, -1, 2, 3))
    block.write(block.random.choice(("jnp.roll({0}, {2}, {1})", "jnp.flip({0}, {1})", "jnp.repeat({0}, 2, {1})",
                                     "jnp.swapaxes({0}, 0, {1})")).format(x.name, d, by), x.bits)


def padded(block):
    x = block.pick(None, 1, 3)
    if x and not x.is_bool():
        config = [block.random.choice(((0, 0, 0), (1, 0, 0), (0, 3, 0), (2, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 1, 1)))
                  for _ in x.shape]     # what is cut and padded at once is so in steps here
        zero = "jnp.zeros((), %s.dtype)" % x.name
        block.write("lax.pad(%s, %s, %r)" % (x.name, zero, config), x.bits)


# ---- sums

def reduced(block):
    x = block.pick(None, 1)
    if not x:
        return
    dims = dims_of(block, x)
    n = math.prod(x.shape[d] for d in dims)
    if x.is_bool():
        block.write("jnp.%s(%s, %s)" % (block.random.choice(("any", "all", "sum")), x.name, dims))
        return
    op = block.random.choice(("sum", "sum", "max", "min", "mean"))
    if op == "mean" and not x.is_float():
        op = "sum"
    bits = plus(x.bits, log2(n)) if op in ("sum", "mean") else x.bits
    keep = block.random.choice((", keepdims=True", ""))
    block.write("jnp.%s(%s, %s%s)" % (op, x.name, dims, keep), bits)


def normalized(block):
    x = block.pick(Var.is_float, 1)
    if x:
        d = block.random.randrange(x.rank)
        which = ("jax.nn.softmax({0}, {1})", "jax.nn.logsumexp({0}, {1})", "jax.nn.standardize({0}, {1}, epsilon=1.0)",
                 "jnp.var({0}, {1})", "jax.nn.log_softmax({0}, {1})")       # differences of what is rounded last
        block.write(block.random.choice(which[:2] if x.loose else which).format(x.name, d))


def positions(block):
    x = block.pick(lambda v: not v.is_bool(), 1, exact=True)
    if x:
        op = block.random.choice(("argmax", "argmin", "argsort"))
        block.write("jnp.%s(%s, %d)" % (op, x.name, block.random.randrange(x.rank)))


def einsum(block):
    """Letters of the second that have the size of one of the first may be that."""
    x = block.pick(Var.is_float, 1, 3)
    y = x and block.pick(lambda v: v.aval.dtype == x.aval.dtype, 1, 3)
    if not y:
        return
    first = "abc"[:x.rank]
    second, shared = "", {}
    for d, size in enumerate(y.shape):
        fit = [c for c, n in zip(first, x.shape) if n == size and c not in shared]
        letter = block.random.choice(fit) if fit and block.random.random() < 0.8 else "xyz"[d]
        if letter in first:
            shared[letter] = size
        second += letter
    left = [c for c in dict.fromkeys(first + second) if c not in shared or block.random.random() < 0.3]
    block.random.shuffle(left)
    summed = math.prod(n for c, n in zip(first + second, x.shape + y.shape) if c not in left)
    bits = None if join(x.bits, y.bits) is None else x.bits + y.bits + log2(summed)
    block.write("jnp.einsum('%s,%s->%s', %s, %s)" % (first, second, "".join(left), x.name, y.name), bits)


def product(block):
    """A projection by constants that are random: a weight."""
    x = block.pick(lambda v: v.aval.dtype == jnp.float32, 2)
    if x:
        n = block.random.choice((4, 8, 16))
        seed = block.random.randrange(1000)
        block.write("%s @ jax.random.normal(jax.random.key(%d), (%d, %d))" % (x.name, seed, x.shape[-1], n))


def sorted_values(block):
    x = block.pick(lambda v: not v.is_bool(), 1)
    if x:
        d = block.random.randrange(x.rank)
        block.write(block.random.choice(("jnp.sort(%s, %d)", "jnp.sort(%s, %d, descending=True)"))
                    % (x.name, d), x.bits)


def sorted_along(block):
    """One tensor in the order of another."""
    x = block.pick(lambda v: not v.is_bool(), 1, exact=True)
    if x:
        y = block.like(x, lambda v: v.is_exact() or v.is_float())
        block.write("lax.sort((%s, %s), dimension=%d, num_keys=1)[1]"
                    % (x.name, y.name, block.random.randrange(x.rank)), y.bits)


def running(block):
    x = block.pick(lambda v: not v.is_bool() and not v.loose, 1)
    if x:
        d = block.random.randrange(x.rank)
        reverse = block.random.choice((", reverse=True", ""))
        kind, bits = block.random.choice((("cumsum", plus(x.bits, log2(x.shape[d]))), ("cummax", x.bits), ("cummin", x.bits)))
        block.write("lax.%s(%s, %d%s)" % (kind, x.name, d, reverse), bits)


def largest(block):
    x = block.pick(lambda v: v.aval.dtype == jnp.float32, 1, exact=True)
    if x:
        block.write("lax.top_k(%s, %d)[%d]" % (x.name, max(1, x.shape[-1] // 2), block.random.randrange(2)), x.bits)


# ---- at positions

def take(block):
    x = block.pick(None, 1, 3)
    if not x:
        return
    d = block.random.randrange(x.rank)
    i = block.index(block.random.choice((0, 1, 1, 2)), x.shape[d])
    if i:
        mode = block.random.choice(("", ", mode='clip'", ", mode='wrap'"))
        block.write("jnp.take(%s, %s, %d%s)" % (x.name, i, d, mode), x.bits)


def take_outside(block):
    """What is outside is NaN, or the least number: not to be used again."""
    x = block.pick(None, 1, 3)
    i = x and block.pick(lambda v: v.aval.dtype == jnp.int32, 1, 1)
    if i:
        block.write("%s[%s]" % (x.name, i.name), None, final=not block.depth)


def take_along(block):
    x = block.pick(None, 1, 3)
    if not x:
        return
    d = block.random.randrange(x.rank)
    i = block.pick(lambda v: v.is_integer() and v.rank == x.rank
                   and all(a == b for k, (a, b) in enumerate(zip(v.shape, x.shape)) if k != d), 1)
    if i:
        block.write("jnp.take_along_axis(%s, %s.astype(jnp.int32) %% %d, %d)" % (x.name, i.name, x.shape[d], d), x.bits)


def at_two(block):
    x = block.pick(None, 2, 3)
    i = x and block.index(1, x.shape[0])
    j = i and block.pick(Var.is_integer, 1, 1)
    if j:
        block.write("%s[%s, %s %% %d]" % (x.name, i, j.name, x.shape[1]), x.bits)


def rows_of_batch(block):
    """A gather with batch dims."""
    x = block.pick(None, 2, 3)
    i = x and block.pick(lambda v: v.is_integer() and v.rank in (1, 2) and v.shape[0] == x.shape[0], 1, 2)
    if i:
        block.write("jax.vmap(lambda a, i: a[i])(%s, %s.astype(jnp.int32) %% %d)" % (x.name, i.name, x.shape[1]), x.bits)


def dynamic_slice(block):
    x = block.pick(None, 1, 3)
    if not x:
        return
    starts = [block.index(0, n) or "0" for n in x.shape]
    sizes = [block.random.randint(1, n) for n in x.shape]
    if block.random.random() < 0.5:
        block.write("lax.dynamic_slice(%s, (%s,), %s)" % (x.name, ", ".join(starts), tuple(sizes)), x.bits)
        return
    part = "%s[%s]" % (x.name, ", ".join(":%d" % n for n in sizes))
    block.write("lax.dynamic_update_slice(%s, %s, (%s,))" % (x.name, part, ", ".join(starts)), x.bits)


def updated(block):
    """x.at[i].add(y): of y as many as there are indices."""
    x = block.pick(lambda v: not v.is_bool(), 1, 3)
    if not x:
        return
    how = block.random.choice(("add", "add", "set", "max", "min", "mul"))
    if block.random.random() < 0.4:
        i = block.index(0, x.shape[0])
        if i:
            value = block.random.choice(("%s[0]" % x.name, "2"))
            more = 2 if how in ("add", "mul") else 0
            block.write("%s.at[%s].%s(%s)" % (x.name, i, how, value),
                        plus(x.bits, more) if value == "2" or how != "mul" else None)
        return
    i = block.pick(lambda v: v.aval.dtype == jnp.int32, 1, 1)
    if i:
        outside = block.random.choice(("", " %% %d" % x.shape[0]))
        value = "2" if how == "mul" else "%s[np.arange(%d) %% %d]" % (x.name, i.shape[0], x.shape[0])
        block.write("%s.at[%s%s].%s(%s)" % (x.name, i.name, outside, how, value),
                    plus(x.bits, log2(i.shape[0]) + 1) if how == "add" else None if how == "mul" else x.bits)


def updated_batch(block):
    """A scatter with batch dims."""
    x = block.pick(lambda v: not v.is_bool(), 2, 3)
    i = x and block.pick(lambda v: v.is_integer() and v.rank == 1 and v.shape[0] == x.shape[0], 1, 1)
    if i:
        how = block.random.choice(("add", "add", "set", "max"))
        block.write("jax.vmap(lambda a, i: a.at[i].%s(a[0]))(%s, %s.astype(jnp.int32))" % (how, x.name, i.name),
                    plus(x.bits, 1))


# ---- what is there from the start

def made(block):
    n, m = block.random.choice((4, 8, 16)), block.random.choice((4, 8))
    seed = block.random.randrange(1000)
    text, bits = block.random.choice((
        ("jnp.arange(%d)" % n, None), ("jnp.arange(%d, dtype=jnp.float32)" % n, 5), ("jnp.eye(%d)" % n, 1),
        ("jnp.tril(jnp.ones((%d, %d)))" % (n, m), 1), ("np.arange(%d, dtype=np.float32).reshape(%d, %d) / 4"
                                                       % (n * m, n, m), 8),
        ("jax.random.uniform(jax.random.key(%d), (%d, %d))" % (seed, n, m), None),
        ("jax.random.randint(jax.random.key(%d), (%d,), 0, 20)" % (seed, n), None),
        ("np.arange(%d) * 7 %% 5" % n, None)))
    block.write("jnp.asarray(%s)" % text, bits)


# ---- placements

def placed(block):
    x = block.pick(None, 1)
    if not x:
        return
    program = block.program
    spec = program.spec(x.shape)
    if program.explicit:
        block.write("jax.sharding.reshard(%s, %s)" % (x.name, spec), x.bits)
    else:
        if block.random.random() < 0.2:
            spec = spec.replace("None", "P.UNCONSTRAINED")
        block.write("lax.with_sharding_constraint(%s, NamedSharding(mesh, %s))" % (x.name, spec), x.bits)


# ---- functions in functions

def parameter(block, v, aval=None):
    return Var(block.program.fresh("p"), v.aval if aval is None else aval, None if v.is_float() else v.bits, v.loose, v.varying)


def without_first(v):
    """The type of its rows, placed as they are where that is part of the type."""
    sharding = v.aval.sharding
    if sharding is not None:
        sharding = sharding.update(spec=jax.sharding.PartitionSpec(*sharding.spec[1:]))
    return jax.ShapeDtypeStruct(v.shape[1:], v.aval.dtype, sharding=sharding)


def last_like(block, x):
    """What the block made last of that type."""
    fit = [v for v in block.vars if v.shape == x.shape and v.aval.dtype == x.aval.dtype]
    return fit[-1]


def scan(block):
    c = block.pick(Var.is_float, 0, 3)
    xs = block.pick(None, 1, 3)
    if not c or not xs:
        return
    args = [parameter(block, c), parameter(block, xs, without_first(xs))]

    def returned(body):
        carry = last_like(body, args[0])
        text = "jnp.tanh(%s)" % carry.name if carry is not args[0] else "%s * 0.5" % carry.name
        return "%s, %s" % (text, body.pick().name)
    f, lines, body = block.define(args, block.random.randint(1, 4), returned)
    remat = block.random.choice(("%s", "jax.checkpoint(%s)")) % f
    reverse = block.random.choice(("", ", reverse=True"))
    new = block.write("lax.scan(%s, %s, %s%s)" % (remat, c.name, xs.name, reverse), before=lines)
    loosen(new, body)


def loosen(new, body):
    for v in new:
        v.loose |= any(b.loose for b in body.vars)


def loop(block):
    c = block.pick(Var.is_float, 0, 3)
    if not c:
        return
    i = Var(block.program.fresh("p"), jax.ShapeDtypeStruct((), jnp.int32), 5)
    args = [i, parameter(block, c)]
    f, lines, body = block.define(args, block.random.randint(1, 3),
                                  lambda body: "jnp.sin(jnp.clip(%s, -8, 8))" % last_like(body, args[1]).name)
    if block.random.random() < 0.6:
        loosen(block.write("lax.fori_loop(0, %d, %s, %s)" % (block.random.randint(1, 4), f, c.name), before=lines), body)
    else:
        loosen(block.write("lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, %s(*s)), (0, %s))[1]"
                           % (f, c.name), before=lines), body)


def branches(block):
    x = block.pick(Var.is_float, 0, 3)
    which = block.pick(Var.is_integer, 0, 0) or block.pick(lambda v: v.aval.dtype == jnp.int32, 1, 1)
    if not x or not which:
        return
    args, all_lines, names, bodies = [parameter(block, x)], [], [], []
    for _ in range(block.random.choice((2, 2, 3))):
        f, lines, body = block.define(args, block.random.randint(1, 3), lambda body: last_like(body, args[0]).name)
        all_lines += lines
        names.append(f)
        bodies.append(body)
    i = which.name + "[0]" * which.rank
    text = "lax.cond(%s %% 2 == 0, %s, %s)" % (i, ", ".join(names), x.name) if len(names) == 2 else \
        "lax.switch(%s %% 3, [%s], %s)" % (i, ", ".join(names), x.name)
    new = block.write(text, before=all_lines)
    for body in bodies:
        loosen(new, body)


def called(block):
    """A function of its own: called, or of each row."""
    x = block.pick(None, 1, 3)
    if not x:
        return
    rows = block.random.random() < 0.5
    args = [parameter(block, x, without_first(x) if rows else None)]
    f, lines, body = block.define(args, block.random.randint(1, 4), lambda body: body.vars[-1].name)
    how = block.random.choice(("jax.vmap(%s)", "lambda a: lax.map(%s, a)")) if rows else "jax.jit(%s)"
    loosen(block.write("(%s)(%s)" % (how % f, x.name), before=lines), body)


def gradient(block):
    x = block.pick(lambda v: v.aval.dtype == jnp.float32, 1, 3)
    if not x:
        return
    args = [parameter(block, x)]

    def returned(body):
        y = body.pick(Var.is_float)
        return "jnp.sum(jnp.log1p(jnp.square(%s.astype(jnp.float32))))" % y.name
    f, lines, body = block.define(args, block.random.randint(1, 5), returned)
    f = block.random.choice(("%s", "jax.checkpoint(%s)")) % f
    loosen(block.write("jax.grad(%s)(%s)" % (f, x.name), before=lines), body)


# ---- manual regions

def manual(block):
    """All axes, or some; what differs between devices is put together, or summed."""
    program = block.program
    axes = sorted(program.axes)
    if len(axes) > 1 and not program.explicit and block.random.random() < 0.3:
        axes = [block.random.choice(axes)]
    inputs = [v for v in (block.pick(None, 1, 3) for _ in range(2)) if v]
    if not inputs:
        return
    args, specs = [], []
    for v in inputs:
        spec = eval(program.spec(v.shape, axes), program.names)
        shape = [n // math.prod(program.axes[a] for a in axes_of(part)) for n, part in zip(v.shape, spec)]
        args.append(parameter(block, v, jax.ShapeDtypeStruct(tuple(shape), v.aval.dtype)))
        args[-1].varying = frozenset(a for part in spec for a in axes_of(part))
        specs.append("P(%s)" % ", ".join(repr(part) for part in spec))
    out = []

    def returned(body):
        y = body.vars[-1]
        left = sorted(y.varying)
        placed_dims = [[] for _ in y.shape]
        for a in left[:]:
            if placed_dims and body.random.random() < 0.8:
                body.random.choice(placed_dims).append(a)
                left.remove(a)
        out.append("P(%s)" % ", ".join(repr(tuple(d)) for d in placed_dims))
        return "lax.psum(%s.astype(jnp.float32), %r)" % (y.name, tuple(left)) if left else y.name
    f, lines, body = block.define(args, block.random.randint(2, 5), returned, manual=tuple(axes))
    new = block.write("jax.shard_map(%s, mesh=mesh, in_specs=(%s,), out_specs=%s, axis_names={%s}, check_vma=False)(%s)" % (
        f, ", ".join(specs), out[0], ", ".join(map(repr, axes)), ", ".join(v.name for v in inputs)), before=lines)
    loosen(new, body)


def axes_of(part):
    return () if part is None else (part,) if isinstance(part, str) else tuple(part)


def collective(block):
    """Along an axis of the manual region that the block is in."""
    if not block.manual:
        return
    # XLA's CPU back end ends itself on sums of few bits in explicit mode
    x = block.pick(lambda v: not v.is_bool() and (not block.program.explicit or v.aval.dtype.itemsize == 4), 1)
    if not x:
        return
    axis = block.random.choice(block.manual)
    n = block.program.axes[axis]
    d = block.random.randrange(x.rank)
    kind = block.random.choice(("psum", "pmax", "pmean", "all_gather", "psum_scatter", "all_to_all", "ppermute", "index"))
    if kind in ("psum", "pmax"):
        block.write("lax.%s(%s, %r)" % (kind, x.name, axis), plus(x.bits, log2(n)), drop={axis})
    elif kind == "pmean" and x.is_float():
        block.write("lax.pmean(%s, %r)" % (x.name, axis), plus(x.bits, log2(n)), drop={axis})
    elif kind == "all_gather":
        tiled = block.random.choice(("True", "False"))
        block.write("lax.all_gather(%s, %r, axis=%d, tiled=%s)" % (x.name, axis, d, tiled), x.bits, drop={axis})
    elif kind == "psum_scatter" and x.shape[d] % n == 0:
        block.write("lax.psum_scatter(%s, %r, scatter_dimension=%d, tiled=True)" % (x.name, axis, d),
                    plus(x.bits, log2(n)), add={axis})
    elif kind == "all_to_all" and x.shape[d] % n == 0:
        block.write("lax.all_to_all(%s, %r, %d, %d, tiled=True)"
                    % (x.name, axis, d, block.random.randrange(x.rank)), x.bits, add={axis})
    elif kind == "ppermute":
        by = block.random.choice((1, n - 1))
        pairs = [(i, (i + by) % n) for i in range(n if block.random.random() < 0.7 else n - 1)]
        block.write("lax.ppermute(%s, %r, %r)" % (x.name, axis, pairs), x.bits, add={axis})
    elif kind == "index":
        block.write("%s + lax.axis_index(%r).astype(%s.dtype)" % (x.name, axis, x.name), plus(x.bits, 3), add={axis})


@dataclasses.dataclass
class Statement:
    weight: float
    write: typing.Callable
    outer: bool = False         # not in functions in the program
    whole: bool = False         # not in manual regions


STATEMENTS = [
    Statement(3, smooth), Statement(1, stepped), Statement(2, linear), Statement(3, binary),
    Statement(2, outer_binary), Statement(2, integers), Statement(2, compared), Statement(1, logic),
    Statement(3, where), Statement(2, convert), Statement(1, few_bits), Statement(1, complex_of), Statement(0.5, bits_of),
    Statement(1.5, transpose), Statement(1.5, reshape), Statement(1.5, broadcast), Statement(2, sliced),
    Statement(1.5, joined), Statement(1, moved), Statement(1, padded),
    Statement(3, reduced), Statement(1.5, normalized), Statement(1, positions), Statement(5, einsum),
    Statement(1.5, product), Statement(1, sorted_values), Statement(0.7, sorted_along), Statement(1, running, outer=True),
    Statement(0.5, largest),
    Statement(1.5, take), Statement(0.5, take_outside), Statement(1, take_along), Statement(0.7, at_two),
    Statement(0.7, rows_of_batch), Statement(1.5, dynamic_slice), Statement(1.5, updated),
    Statement(0.7, updated_batch), Statement(0.7, made), Statement(3, placed, whole=True),
    Statement(1.5, scan, outer=True), Statement(1, loop, outer=True), Statement(1, branches, outer=True),
    Statement(1, called, outer=True), Statement(2, gradient, outer=True), Statement(1.5, manual, outer=True),
    Statement(10, collective),
]
