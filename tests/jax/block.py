"""Statements of a function of JAX, one after another, each traced as it is written.

What is chosen by comparison (positions, orders, signs) is chosen of exact values only:
floats are eighths at first, and `bits` counts how many they may need since; None is a value
that was rounded.  bf16 is `loose`: so is all that comes of it.
"""
import dataclasses
import math
import re

import jax
import jax.numpy as jnp

MOST_BITS = {"bfloat16": 6, "float16": 9}       # else of the 24 that f32 has:
MOST_BITS_F32 = 20
MOST_ELEMENTS = 1 << 12
MOST_RANK = 5


@dataclasses.dataclass
class Var:
    name: str
    aval: jax.ShapeDtypeStruct
    bits: int | None
    loose: bool = False
    varying: frozenset = frozenset()    # the axes along which devices of a manual region differ
    constant: bool = False              # of no argument

    @property
    def shape(self):
        return self.aval.shape

    @property
    def rank(self):
        return len(self.aval.shape)

    def is_float(self):
        return jnp.issubdtype(self.aval.dtype, jnp.floating)

    def is_integer(self):
        return jnp.issubdtype(self.aval.dtype, jnp.integer)

    def is_bool(self):
        return self.aval.dtype == jnp.bool_

    def is_exact(self):
        return not self.is_float() or self.bits is not None


class Block:
    """Of the program, or of a function in it; manual: the axes that it runs along, if any."""

    def __init__(self, program, args, depth=0, manual=()):
        self.program, self.vars, self.depth, self.manual = program, list(args), depth, manual
        self.random = program.random
        self.lines, self.finals = [], []        # [(names that it defines, text)]

    def pick(self, kind=None, least=0, most=4, exact=False):
        """A value, rather a late one; None if there is none."""
        fit = [v for v in self.vars if least <= v.rank <= most and (kind is None or kind(v))
               and (not exact or v.is_exact())]
        return self.random.choice(fit + fit[-3:]) if fit else None

    def like(self, x, kind=None):
        """A value of the same shape."""
        fit = [v for v in self.vars if v.shape == x.shape and (kind(v) if kind else v.aval.dtype == x.aval.dtype)]
        return self.random.choice(fit) if fit else x

    def index(self, rank, size):
        """An expression of integers inside a dim of that size; None if there is none of that rank."""
        if rank == 0 and self.random.random() < 0.5:
            return str(self.random.randrange(size))
        v = self.pick(Var.is_integer, rank, rank)
        return v and "(%s.astype(jnp.int32) %% %d)" % (v.name, size)

    def traced(self, text, used):
        """What it makes of these, as JAX says; None if it does not trace."""
        names = ", ".join(v.name for v in used)
        try:
            function = eval("lambda %s: %s" % (names, text), self.program.names)
            made = self.program.shapes(function, [v.aval for v in used], self.manual)
        except Exception as why:        # of explicit mode mostly: a sharding that is not known
            self.program.untraced.append("%s: %s" % (text, str(why).split("\n", maxsplit=1)[0]))
            return None
        return list(made) if isinstance(made, (tuple, list)) else [made]

    def write(self, text, bits=None, before=(), final=False, drop=(), add=()):
        """One more statement; its values, none if JAX refuses it.  bits: of exact operands."""
        used = [v for v in self.vars if re.search(r"\b%s\b" % v.name, text)]
        made = self.traced(text, used)
        if not made or any(math.prod(a.shape) > MOST_ELEMENTS or 0 in a.shape or len(a.shape) > MOST_RANK
                           for a in made):
            return []
        loose = any(v.loose for v in used) or any(a.dtype == jnp.bfloat16 for a in made)
        varying = frozenset(add).union(*[v.varying for v in used]) - frozenset(drop)
        new = []
        for a in made:
            most = MOST_BITS.get(str(a.dtype), MOST_BITS_F32)
            new.append(Var(self.program.fresh(), a, bits if bits is not None and bits <= most else None, loose,
                           varying, all(v.constant for v in used)))
        names = ", ".join(v.name for v in new)
        self.lines.append(({v.name for v in new}, "\n".join([*before, "%s = %s" % (names, text)])))
        if final:
            self.finals += [v.name for v in new]
        else:
            self.vars += new
        return new

    def define(self, args, n, returned, manual=None):
        """A function of n statements on such arguments: its name, its lines, its block."""
        block = Block(self.program, args, self.depth + 1, self.manual if manual is None else manual)
        block.grow(n)
        name = self.program.fresh("f")
        lines = ["def %s(%s):" % (name, ", ".join(v.name for v in args)), *block.ending(returned(block))]
        exec("\n".join(lines), self.program.names)
        return name, lines, block

    def ending(self, returned):
        """Its lines, indented, but those of which nothing comes: it returns this."""
        read, lines = returned, []
        for names, text in reversed(self.lines):
            if any(re.search(r"\b%s\b" % name, read) for name in names):
                read += " " + text
                lines = text.split("\n") + lines
        return ["    " + line for line in [*lines, "return " + returned]]

    def grow(self, n):
        """At least n more lines, where JAX takes that many of 4 n."""
        table = [s for s in self.program.statements if (not self.depth or not s.outer)
                 and (not self.manual or not s.whole)]
        for _ in range(4 * n):
            if len(self.lines) >= n:
                return
            self.random.choices(table, [s.weight for s in table])[0].write(self)
