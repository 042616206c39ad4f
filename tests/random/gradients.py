#!/usr/bin/env python3
"""Random functions of floats: their gradients against differences, and sharded.

    gradients.py SHDC [--seed S] [--first I] [--interpret N] [--run N] [--dumps N] ...
    gradients.py SHDC --full         fresh seed: 10,000 interpreted, 100 compiled
    gradients.py --print [STAGE] --seed S --first I

Of program I of a seed, in f64, <J v, u> = <v, J^T u>: on the left are differences of the
function along v, on the right is what vjp, grad or value_and_grad give.  The program has a
mesh and placements; what its devices compute is compared with the whole tensors (--check).
Where a difference meets a kink, other inputs are drawn: what is wrong is so three times.
Others (exact) compute with whole numbers, and their devices what whole tensors give, bit
for bit.  Of some the dumps are read again, and all reports made (run.py).

A program is also text for jax.numpy (../xla/gradients.py).  TAP.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

import run
from lookups import Lookups

FULL = {"interpret": 10000, "run": 100, "exact": 2000, "dumps": 500, "reports": 500,
        "lookups": 1000}
DRAWS = 3               # of inputs, until the difference is what the gradient says
CLOSE = 1e-7            # for what is added up
TIMEOUT = 120
RESULTS = "off1: f64, off4: f64, says: f64, one: f64, four: f64, large: f64"
LARGE = 4.0             # values beyond it are made smaller
SHAPES = [(4, 6), (4, 6), (4, 6), (6, 4), (6,), (4,), (2, 3, 4), (4, 2)]

# shdc's text, jax.numpy's; {a}: the operand; its largest magnitude, of the operand's
ONE = [
    ("sin({a})", "jnp.sin({a})", lambda m: 1),
    ("cos({a})", "jnp.cos({a})", lambda m: 1),
    ("tanh({a})", "jnp.tanh({a})", lambda m: 1),
    ("sigmoid({a})", "jax.nn.sigmoid({a})", lambda m: 1),
    ("erf({a})", "jax.lax.erf({a})", lambda m: 1),
    ("exp(tanh({a}))", "jnp.exp(jnp.tanh({a}))", lambda m: 3),
    ("expm1(sin({a}))", "jnp.expm1(jnp.sin({a}))", lambda m: 2),
    ("log({a} * {a} + 1.0)", "jnp.log({a} * {a} + 1.0)", lambda m: m),
    ("log1p({a} * {a})", "jnp.log1p({a} * {a})", lambda m: m),
    ("sqrt({a} * {a} + 0.5)", "jnp.sqrt({a} * {a} + 0.5)", lambda m: m + 1),
    ("rsqrt({a} * {a} + 0.5)", "jax.lax.rsqrt({a} * {a} + 0.5)", lambda m: 2),
    ("gelu({a})", "jax.nn.gelu({a})", lambda m: m),
    ("gelu({a}, approximate=false)", "jax.nn.gelu({a}, approximate=False)", lambda m: m),
    ("silu({a})", "jax.nn.silu({a})", lambda m: m),
    ("(floor({a} * 3.0) * {a})", "(jnp.floor({a} * 3.0) * {a})", lambda m: 3 * m * m),
    ("where(isfinite({a}), {a}, 0.0)", "jnp.where(jnp.isfinite({a}), {a}, 0.0)", lambda m: m),
]
# ... which are exact on small whole numbers, and have ties and kinks there
EXACT_ONE = [
    ("-{a}", "-{a}", lambda m: m),
    ("abs({a})", "jnp.abs({a})", lambda m: m),
    ("relu({a})", "jax.nn.relu({a})", lambda m: m),
    ("square({a})", "jnp.square({a})", lambda m: m * m),
    ("clamp(-1.0, {a}, 1.0)", "jnp.clip({a}, -1.0, 1.0)", lambda m: 1),
    ("(sign({a}) * {a})", "(jnp.sign({a}) * {a})", lambda m: m),
    ("(round({a}) + {a})", "(jnp.round({a}) + {a})", lambda m: 2 * m),
]
EXACT_TWO = [
    ("({a} + {b})", "({a} + {b})", lambda m, n: m + n),
    ("({a} - {b})", "({a} - {b})", lambda m, n: m + n),
    ("({a} * {b})", "({a} * {b})", lambda m, n: m * n),
    ("maximum({a}, {b})", "jnp.maximum({a}, {b})", max),
    ("minimum({a}, {b})", "jnp.minimum({a}, {b})", max),
    ("where({a} > {b}, {a} * {a}, {b})", "jnp.where({a} > {b}, {a} * {a}, {b})",
     lambda m, n: max(m * m, n)),
    ("clamp({b}, {a}, 0.5)", "jnp.clip({a}, {b}, 0.5)", lambda m, n: max(m, n)),
]
TWO = [
    ("({a} / ({b} * {b} + 1.0))", "({a} / ({b} * {b} + 1.0))", lambda m, n: m),
    ("pow(abs({a}) + 0.5, sin({b}))", "jnp.power(jnp.abs({a}) + 0.5, jnp.sin({b}))",
     lambda m, n: m + 2),
    ("({a} % (abs({b}) + 0.7))", "jax.lax.rem({a}, jnp.abs({b}) + 0.7)", lambda m, n: m),
]
# Of one dim {d}, that stays
ALONG = [
    ("softmax({a}, dim={d})", "jax.nn.softmax({a}, axis={d})", lambda m, n: 1),
    ("log_softmax({a}, dim={d})", "jax.nn.log_softmax({a}, axis={d})", lambda m, n: 2 * m + n),
    ("rms_norm({a}, dim={d}, eps=0.1)", "rms_norm({a}, {d}, 0.1)", lambda m, n: n),
    ("layer_norm({a}, dim={d}, eps=0.1)", "layer_norm({a}, {d}, 0.1)", lambda m, n: n),
]
EXACT_ALONG = [
    ("cumsum({a}, dim={d})", "jnp.cumsum({a}, axis={d})", lambda m, n: m * n),
    ("sort({a}, dim={d})", "jnp.sort({a}, axis={d})", lambda m, n: m),
    ("flip({a}, dim={d})", "jnp.flip({a}, axis={d})", lambda m, n: m),
    ("roll({a}, 1, dim={d})", "jnp.roll({a}, 1, axis={d})", lambda m, n: m),
]
# ... that is combined
REDUCE = [
    ("mean", "jnp.mean", lambda m, n: m),
    ("var", "jnp.var", lambda m, n: m * m),
    ("logsumexp", "jax.nn.logsumexp", lambda m, n: m + n),
]
EXACT_REDUCE = [
    ("sum", "jnp.sum", lambda m, n: m * n),
    ("max", "jnp.max", lambda m, n: m),
    ("min", "jnp.min", lambda m, n: m),
    ("prod", "jnp.prod", lambda m, n: m ** min(n, 12)),
]


class Term:
    """An expression in both languages."""

    def __init__(self, shd, jnp, shape, bound):
        self.shd, self.jnp, self.shape, self.bound = shd, jnp, tuple(shape), bound


def spelled(shape):
    return "[%s]" % ", ".join(map(str, shape))


def python(shape):
    return "(%s)" % "".join("%d, " % n for n in shape)


def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n


class Function:
    """A body that grows: statements in both languages, and what is in scope."""

    def __init__(self, program, params, depth=0):
        self.program, self.draw, self.depth = program, program.draw, depth
        self.shd, self.jnp = [], []
        self.indent = 1
        self.scope = list(params)
        self.may_save = False

    def line(self, shd, jnp):
        self.shd.append("  " * self.indent + shd)
        if jnp:
            self.jnp.append("    " * self.indent + jnp)

    def bind(self, term, var=False):
        """As a let, perhaps placed; what is large is made smaller."""
        shd, jnp = term.shd, term.jnp
        bound = term.bound
        if bound > LARGE and not self.program.exact:
            shd, jnp, bound = "tanh(%s * 0.3)" % shd, "jnp.tanh(%s * 0.3)" % jnp, 1
        elif bound > 64:
            shd, jnp, bound = "clamp(-2.0, %s, 2.0)" % shd, "jnp.clip(%s, -2.0, 2.0)" % jnp, 2
        if self.may_save and self.draw.random() < 0.2:
            shd = "save(%s)" % shd
        name = self.program.fresh("v")
        at = self.program.placed(term.shape)
        self.line("%s %s%s = %s;" % ("var" if var else "let", name, at and ": " + at, shd),
                  "%s = %s" % (name, jnp))
        value = Term(name, name, term.shape, bound)
        self.scope.append(value)
        return value

    def any(self):
        recent = self.scope[-3:] if self.draw.random() < 0.5 else self.scope
        return self.draw.choice(recent)

    def like(self, shape):
        """A value of that shape."""
        same = [v for v in self.scope if v.shape == tuple(shape)]
        if same:
            return self.draw.choice(same[-4:])
        v = self.any()
        if size(v.shape) == size(shape):
            return Term("reshape(%s, %s)" % (v.shd, spelled(shape)),
                        "jnp.reshape(%s, %s)" % (v.jnp, python(shape)), shape, v.bound)
        if not v.shape:
            return Term("broadcast(%s, %s)" % (v.shd, spelled(shape)),
                        "jnp.broadcast_to(%s, %s)" % (v.jnp, python(shape)), shape, v.bound)
        what = "sum" if self.program.exact else "mean"
        return Term("broadcast(%s(%s), %s)" % (what, v.shd, spelled(shape)),
                    "jnp.broadcast_to(jnp.%s(%s), %s)" % (what, v.jnp, python(shape)), shape,
                    v.bound * (size(v.shape) if self.program.exact else 1))

    # ---- expressions

    def expression(self):
        ways = [self.one, self.one, self.two, self.two, self.two, self.along, self.reduced,
                self.moved, self.moved, self.product, self.product, self.looked_up]
        term = None
        while term is None:
            term = self.draw.choice(ways)()
        return term

    def table(self, plain, exact):
        return self.draw.choice(exact if self.program.exact else plain + exact)

    def one(self):
        shd, jnp, bound = self.table(ONE, EXACT_ONE)
        a = self.any()
        return Term(shd.format(a=a.shd), jnp.format(a=a.jnp), a.shape, bound(a.bound))

    def two(self):
        shd, jnp, bound = self.table(TWO, EXACT_TWO)
        a = self.any()
        b = self.like(a.shape)
        return Term(shd.format(a=a.shd, b=b.shd), jnp.format(a=a.jnp, b=b.jnp), a.shape,
                    bound(a.bound, b.bound))

    def along(self):
        a = self.any()
        if not a.shape:
            return None
        shd, jnp, bound = self.table(ALONG, EXACT_ALONG)
        d = self.draw.randrange(len(a.shape))
        return Term(shd.format(a=a.shd, d=d), jnp.format(a=a.jnp, d=d), a.shape,
                    bound(a.bound, a.shape[d]))

    def reduced(self):
        a = self.any()
        if not a.shape:
            return None
        shd, jnp, bound = self.table(REDUCE, EXACT_REDUCE)
        dims = sorted(self.draw.sample(range(len(a.shape)), self.draw.randint(1, len(a.shape))))
        keep = self.draw.random() < 0.5
        shape = [1 if d in dims else n for d, n in enumerate(a.shape) if keep or d not in dims]
        n = size(a.shape[d] for d in dims)
        return Term("%s(%s, dim=%s, keep=%s)" % (shd, a.shd, one_or_more(dims), str(keep).lower()),
                    "%s(%s, axis=%s, keepdims=%s)" % (jnp, a.jnp, python(dims), keep),
                    shape, bound(a.bound, n))

    def moved(self):
        a = self.any()
        rank = len(a.shape)
        if not rank:
            return None
        d = self.draw.randrange(rank)
        n = a.shape[d]
        which = self.draw.randrange(8)
        if which == 0:
            order = list(range(rank))
            self.draw.shuffle(order)
            return Term("transpose(%s, %s)" % (a.shd, python(order)),
                        "jnp.transpose(%s, %s)" % (a.jnp, python(order)),
                        [a.shape[i] for i in order], a.bound)
        if which == 1:
            total = size(a.shape)
            rows = self.draw.choice([r for r in range(1, total + 1) if total % r == 0])
            return Term("reshape(%s, [%d, %d])" % (a.shd, rows, total // rows),
                        "jnp.reshape(%s, (%d, %d))" % (a.jnp, rows, total // rows),
                        (rows, total // rows), a.bound)
        if which == 2:
            start, step = self.draw.randrange(n), self.draw.choice([1, 1, 2, 3])
            stop = self.draw.randint(start + 1, n)
            return self.indexed(a, d, "%d:%d:%d" % (start, stop, step),
                                len(range(start, stop, step)))
        if which == 3:
            return self.indexed(a, d, "::-1", n)
        if which == 4:
            b = self.like(a.shape)
            return Term("concat((%s, %s), dim=%d)" % (a.shd, b.shd, d),
                        "jnp.concatenate((%s, %s), axis=%d)" % (a.jnp, b.jnp, d),
                        a.shape[:d] + (2 * n,) + a.shape[d + 1:], max(a.bound, b.bound)) \
                if size(a.shape) < 64 else None
        if which == 5:
            edges = [(self.draw.randint(-1, 1) if n > 2 else 0, self.draw.randrange(3),
                      self.draw.choice([0, 0, 0, 1, 2])) for n in a.shape]
            text = ", ".join(map(str, edges))
            return Term("pad(%s, (%s,), value=0.5)" % (a.shd, text),
                        "jax.lax.pad(%s, 0.5, (%s,))" % (a.jnp, text),
                        [n + e[0] + e[1] + (n - 1) * e[2] for n, e in zip(a.shape, edges)],
                        max(a.bound, 0.5)) if size(a.shape) < 40 else None
        if which == 6:
            return Term("repeat(%s, 2, dim=%d)" % (a.shd, d),
                        "jnp.repeat(%s, 2, axis=%d)" % (a.jnp, d),
                        a.shape[:d] + (2 * n,) + a.shape[d + 1:], a.bound) \
                if size(a.shape) < 64 else None
        return self.indexed(a, d, str(self.draw.randrange(n)), None)

    def indexed(self, a, d, what, length):
        at = ", ".join([":"] * d + [what])
        shape = a.shape[:d] + (() if length is None else (length,)) + a.shape[d + 1:]
        return Term("%s[%s]" % (atom(a.shd), at), "%s[%s]" % (atom(a.jnp), at), shape, a.bound)

    def product(self):
        a = self.any()
        rank = len(a.shape)
        if rank not in (1, 2):
            return None
        letters = "ij"[:rank]
        theirs = self.draw.choice(["j", "i", "jk", "ij", "ki", "ikj"])
        theirs = "".join(c for c in theirs if c == "k" or c in letters)
        sizes = dict(zip(letters, a.shape), k=self.draw.choice([2, 3, 4]))
        if not theirs:
            return None
        b = self.like([sizes[c] for c in theirs])
        there = sorted(set(letters + theirs))
        out = [c for c in there if self.draw.random() < 0.6]
        self.draw.shuffle(out)
        text = '"%s,%s->%s"' % (letters, theirs, "".join(out))
        n = size(sizes[c] for c in there if c not in out)
        return Term("einsum(%s, %s, %s)" % (text, a.shd, b.shd),
                    "jnp.einsum(%s, %s, %s)" % (text, a.jnp, b.jnp),
                    [sizes[c] for c in out], a.bound * b.bound * n)

    def looked_up(self):
        a = self.any()
        rank = len(a.shape)
        if not rank:
            return None
        which, n = self.draw.randrange(5), a.shape[0]
        start = self.draw.randrange(-1, n + 2)
        if which == 0:      # rows, some of them twice or outside
            rows = "(iota(i32[%d]) * 2 + %d)" % (n, start)
            jrows = "(jnp.arange(%d) * 2 + %d)" % (n, start)
            return Term("take(%s, %s)" % (a.shd, rows),
                        "jnp.take(%s, jnp.clip(%s, 0, %d), axis=0)" % (a.jnp, jrows, n - 1),
                        a.shape, a.bound)
        if which == 1:
            b = self.like(a.shape)
            rows = "iota(i32[%d]) * 2 + %d" % (n, max(start, 0))
            jrows = "jnp.arange(%d) * 2 + %d" % (n, max(start, 0))
            return Term("scatter_add(%s, %s, %s)" % (a.shd, rows, b.shd),
                        "%s.at[%s].add(%s, mode='drop')" % (atom(a.jnp), jrows, b.jnp),
                        a.shape, a.bound + 2 * b.bound)
        if which == 2:
            wide = [self.draw.randint(1, s) for s in a.shape]
            starts = [self.draw.randrange(s) for s in a.shape]
            runtime = ["i32(0) + %d" % s for s in starts]
            return Term("dynamic_slice(%s, start=(%s,), size=%s)" % (
                            a.shd, ", ".join(runtime), python(wide)),
                        "jax.lax.dynamic_slice(%s, %s, %s)" % (a.jnp, python(starts),
                                                               python(wide)),
                        wide, a.bound)
        if which == 3:
            wide = [self.draw.randint(1, s) for s in a.shape]
            b = self.like(wide)
            starts = [self.draw.randrange(s) for s in a.shape]
            runtime = ["i32(0) + %d" % s for s in starts]
            return Term("dynamic_update_slice(%s, %s, start=(%s,))" % (
                            a.shd, b.shd, ", ".join(runtime)),
                        "jax.lax.dynamic_update_slice(%s, %s, %s)" % (a.jnp, b.jnp,
                                                                      python(starts)),
                        a.shape, max(a.bound, b.bound))
        k = self.draw.randint(1, a.shape[-1])
        return Term("top_k(%s, %d)[0]" % (a.shd, k), "jax.lax.top_k(%s, %d)[0]" % (a.jnp, k),
                    a.shape[:-1] + (k,), a.bound)

    # ---- statements

    def statement(self):
        plain = self.depth >= 2 or self.draw.random() < 0.6
        if plain:
            self.bind(self.expression())
            return
        self.draw.choice([self.loop, self.loop, self.scan, self.branch, self.part, self.call,
                          self.call, self.stopped, self.exchange])()

    def statements(self, n):
        for _ in range(n):
            self.statement()

    def body(self, n, var, more=()):
        """An indented block that assigns the var at its end."""
        scope, self.scope = self.scope, self.scope + list(more)
        self.indent += 1
        self.depth += 1
        self.statements(n)
        last = self.like(var.shape)
        shd, jnp = "%s + %s * 0.5" % (last.shd, var.shd), "%s + %s * 0.5" % (last.jnp, var.jnp)
        if self.program.exact:
            shd = "clamp(-2.0, %s, 2.0)" % shd
            jnp = "jnp.clip(%s, -2.0, 2.0)" % jnp
        else:
            shd, jnp = "tanh(%s)" % shd, "jnp.tanh(%s)" % jnp
        self.line("%s = %s;" % (var.shd, shd), "%s = %s" % (var.jnp, jnp))
        self.indent -= 1
        self.depth -= 1
        self.scope = scope

    def var(self):
        var = self.bind(self.any(), var=True)
        var.bound = max(var.bound, 2)
        return var

    def loop(self):
        var = self.var()
        i = self.program.fresh("i")
        first = self.draw.choice([0, 0, 1, 2])
        trips = self.draw.choice([0, 1, 2, 3, 3])
        if self.draw.random() < 0.3:
            trips = self.draw.randint(1, 2)
            self.line("for unroll %s in %d..%d {" % (i, first, first + trips),
                      "for %s in range(%d, %d):" % (i, first, first + trips))
            index = []
        else:
            self.line("for %s in %d..%d {" % (i, first, first + trips),
                      "for %s in range(%d, %d):" % (i, first, first + trips))
            rows = [v for v in self.scope if v.shape and v is not var]
            index = [Term("f64(%s)" % i, "(0.0 + %s)" % i, (), 5)]
            for v in rows[-2:]:
                index.append(Term("%s[%s]" % (v.shd, i),
                                  "%s[jnp.minimum(%s, %d)]" % (v.jnp, i, v.shape[0] - 1),
                                  v.shape[1:], v.bound))
        self.body(self.draw.randint(1, 3), var, index)
        self.line("}", None)

    def scan(self):
        over = [v for v in self.scope if v.shape]
        if not over:
            return
        over = self.draw.choice(over)
        var = self.var()
        row = self.program.fresh("r")
        self.line("for %s in %s {" % (row, over.shd), "for %s in %s:" % (row, over.jnp))
        self.body(self.draw.randint(1, 2), var, [Term(row, row, over.shape[1:], over.bound)])
        self.line("}", None)

    def branch(self):
        var = self.var()
        p = self.any()
        self.line("if sum(%s) > 0.25 {" % p.shd, "if jnp.sum(%s) > 0.25:" % p.jnp)
        self.body(self.draw.randint(1, 2), var)
        self.line("} else {", "else:")
        self.body(self.draw.randint(1, 2), var)
        self.line("}", None)

    def exchange(self):
        """In some rounds two vars change places, one of them through a checkpoint."""
        a = self.var()
        b = self.bind(self.like(a.shape), var=True)
        b.bound = max(b.bound, 2)
        kept = self.program.helper("checkpoint fn", a, b, 2, False, a.shape)[0]
        i, t = self.program.fresh("i"), self.program.fresh("t")
        small = ("clamp(-2.0, %s, 2.0)", "jnp.clip(%s, -2.0, 2.0)") if self.program.exact \
            else ("tanh(%s)", "jnp.tanh(%s)")
        self.line("for %s in 0..3 {" % i, "for %s in range(3):" % i)
        self.line("  if sum(%s) + f64(%s) > 0.25 {" % (b.shd, i),
                  "    if jnp.sum(%s) + %s > 0.25:" % (b.jnp, i))
        self.line("    let %s = %s;" % (t, a.shd), "        %s = %s" % (t, a.jnp))
        self.line("    %s = %s;" % (a.shd, b.shd), "        %s = %s" % (a.jnp, b.jnp))
        through = "%s(%s, %s)" % (kept, t, a.shd)
        self.line("    %s = %s;" % (b.shd, small[0] % through),
                  "        %s = %s" % (b.jnp, small[1] % through))
        self.line("  }", None)
        self.line("}", None)

    def part(self):
        """Of a var, which is assigned."""
        v = self.any()
        if not v.shape:
            return
        var = self.bind(v, var=True)
        at = self.draw.randrange(v.shape[0])
        row = self.like(v.shape[1:])
        self.line("%s[%d] = %s;" % (var.shd, at, row.shd),
                  "%s = %s.at[%d].set(%s)" % (var.jnp, var.jnp, at, row.jnp))
        var.bound = max(var.bound, row.bound)

    def stopped(self):
        """Differences do not stop there: of what does not change only."""
        a = self.any()
        self.bind(Term("(stop_gradient(floor(%s)) * %s)" % (a.shd, a.shd),
                       "(jax.lax.stop_gradient(jnp.floor(%s)) * %s)" % (a.jnp, a.jnp), a.shape,
                       (a.bound + 1) * a.bound))

    def call(self):
        a = self.any()
        b = self.like(a.shape)
        kind = self.draw.choice(["fn", "checkpoint fn", "checkpoint fn", "gradient", "grad",
                                 "value_and_grad", "vjp"])
        if self.depth > 1 or (self.program.exact and kind == "gradient"):
            kind = "fn"
        if kind == "gradient":
            self.program.ruled(self, a, b)
        elif kind in ("fn", "checkpoint fn"):
            name, shape, bound = self.program.helper(kind, a, b, self.depth + 1, False)
            args = "(%s, %s)" % (a.shd, b.shd)
            jargs = "(%s, %s)" % (a.jnp, b.jnp)
            self.bind(Term(name + args, name + jargs, shape, bound))
        else:
            self.differentiated(kind, a, b)

    def differentiated(self, kind, a, b):
        name, shape, _ = self.program.helper("fn", a, b, self.depth + 1, kind != "vjp")
        args = "(%s, %s)" % (a.shd, b.shd)
        jargs = "(%s, %s)" % (a.jnp, b.jnp)
        got = self.program.fresh("g"), self.program.fresh("g")
        if kind == "grad":
            shd = "let (%s, %s) = grad(%s)%s;" % (*got, name, args)
            jnp = "%s, %s = jax.grad(%s, argnums=(0, 1))%s" % (*got, name, jargs)
        elif kind == "value_and_grad":
            shd = "let (_, %s, %s) = value_and_grad(%s)%s;" % (*got, name, args)
            jnp = "_, (%s, %s) = jax.value_and_grad(%s, argnums=(0, 1))%s" % (*got, name, jargs)
        else:
            d = self.like(shape)
            shd = "let (%s, %s) = vjp(%s)%s(%s);" % (*got, name, args, d.shd)
            jnp = "%s, %s = jax.vjp(%s, %s)[1](%s)" % (*got, name, jargs[1:-1], d.jnp)
        self.line(shd, jnp)
        for g, of in zip(got, (a, b)):
            small = "clamp(-2.0, %s, 2.0)" if self.program.exact else "tanh(%s * 0.2)"
            jsmall = "jnp.clip(%s, -2.0, 2.0)" if self.program.exact else "jnp.tanh(%s * 0.2)"
            self.bind(Term(small % g, jsmall % g, of.shape, 2))


def one_or_more(dims):
    return str(dims[0]) if len(dims) == 1 else "(%s)" % ", ".join(map(str, dims))


def atom(text):
    return text if re.fullmatch(r"\w+", text) else "(%s)" % text


class Program:
    def __init__(self, seed, index, exact=False):
        self.draw = random.Random("%s/%s" % (seed, index))
        self.exact, self.names = exact, 0
        self.functions, self.jfunctions = [], []
        draw = self.draw
        self.mesh = draw.choice([{"X": 2}, {"X": 2, "Y": 2}, {"X": 2, "Y": 2}, {"X": 4, "Y": 2}])
        self.params = [Term("x%d" % i, "x%d" % i, draw.choice(SHAPES), 1)
                       for i in range(draw.randint(1, 3))]
        self.kind = draw.choice(["vjp", "vjp", "grad", "value_and_grad"])
        self.wrt = sorted(draw.sample(range(len(self.params)),
                                      draw.randint(1, len(self.params))))
        f = Function(self, self.params)
        f.statements(draw.randint(2, 7))
        self.results = [f.any() for _ in range(1 if self.kind == "grad" else draw.randint(1, 2))]
        if self.kind != "vjp":
            y = self.results[0]
            what = "sum" if exact else "mean"
            self.results[0] = Term("%s(%s)" % (what, y.shd), "jnp.%s(%s)" % (what, y.jnp), (), 1)
            self.results[0] = f.bind(self.results[0])
        self.define("fn", "f", self.params, f, self.results)
        self.cotangents = self.results if self.kind == "vjp" else []

    def fresh(self, letter):
        self.names += 1
        return "%s_%d" % (letter, self.names)

    def placement(self, shape):
        """Dims with axes, perhaps; some do not divide them."""
        axes = [a for a in self.mesh if self.draw.random() < 0.6]
        dims = [str(n) for n in shape]
        for axis in axes:
            uneven = self.draw.random() < 0.2
            fits = [d for d, n in enumerate(shape)
                    if (uneven or n % self.mesh[axis] == 0) and "@" not in dims[d]]
            if fits:
                d = self.draw.choice(fits)
                dims[d] += "@%s%s" % (axis, " pad" if shape[d] % self.mesh[axis] else "")
        return "[%s]" % ", ".join(dims)

    def placed(self, shape):
        if not shape or self.draw.random() < 0.75:
            return ""
        return self.placement(shape)

    def define(self, kind, name, params, f, results):
        said = kind if kind != "gradient" else "fn"
        self.functions.append("%s %s(%s) {\n%s\n  return %s;\n}\n" % (
            said, name, ", ".join("%s: f64%s" % (p.shd, spelled(p.shape)) for p in params),
            "\n".join(f.shd), ", ".join(r.shd for r in results)))
        back = [r.jnp for r in results]
        self.jfunctions.append("def %s(%s):\n%s\n    return %s\n" % (
            name, ", ".join(p.jnp for p in params), "\n".join(f.jnp),
            back[0] if len(back) == 1 else "(%s)" % ", ".join(back)))

    def helper(self, kind, a, b, depth, scalar, wanted=None):
        """(name, shape, bound) of a new function of two arguments like these, perhaps of a
        wanted shape."""
        name = self.fresh("h")
        params = [Term("a", "a", a.shape, a.bound), Term("b", "b", b.shape, b.bound)]
        f = Function(self, params, depth)
        f.may_save = kind == "checkpoint fn"
        f.statements(self.draw.randint(1, 4))
        y = f.any() if wanted is None else f.like(wanted)
        if scalar:
            what = "sum" if self.exact else "mean"
            y = Term("%s(%s)" % (what, y.shd), "jnp.%s(%s)" % (what, y.jnp), (), 9)
        y = f.bind(y)
        self.define(kind, name, params, f, [y])
        return name, y.shape, y.bound

    def ruled(self, f, a, b):
        """y = tanh(a b), which says itself how it changes."""
        name = self.fresh("h")
        self.functions.append(
            "fn %s_back(a, b, y, d) {\n  let e = d * (1.0 - y * y);\n  return e * b, e * a;\n}\n"
            "fn %s(a, b) gradient %s_back { return tanh(a * b); }\n" % (name, name, name))
        self.jfunctions.append("def %s(a, b):\n    return jnp.tanh(a * b)\n" % name)
        f.bind(Term("%s(%s, %s)" % (name, a.shd, b.shd), "%s(%s, %s)" % (name, a.jnp, b.jnp),
                    a.shape, 1))

    def gradient(self, args, cotangents):
        """The expression of the gradients; of value_and_grad with results before."""
        wrt = ", ".join(self.params[i].shd for i in self.wrt)
        text = "%s(f, wrt=(%s))(%s)" % (self.kind, wrt, ", ".join(args))
        return text + ("(%s)" % ", ".join(cotangents) if self.kind == "vjp" else "")

    def head(self):
        return "mesh [%s];\n" % ", ".join("%s=%d" % item for item in self.mesh.items())

    def typed(self, name, shape):
        return "%s: f64%s" % (name, self.placement(shape))

    def jax_text(self):
        return "\n".join(self.jfunctions)

    def shd_text(self):
        """For other inputs than those of main: a function f, whose gradients main gives."""
        params = [self.typed(p.shd, p.shape) for p in self.params]
        us = ["u%d" % i for i in range(len(self.cotangents))]
        params += [self.typed(u, r.shape) for u, r in zip(us, self.cotangents)]
        return "%s%sfn main(%s) {\n  return %s;\n}\n" % (
            self.head(), "".join(self.functions), ", ".join(params),
            self.gradient([p.shd for p in self.params], us))

    def text(self):
        """main gives what the gradient says of a direction, and two differences."""
        xs = [p.shd for p in self.params]
        vs = ["d%d" % i for i in self.wrt]
        us = ["u%d" % i for i in range(len(self.cotangents))]
        gs = ["g%d" % i for i in self.wrt]
        n = len(self.results)
        params = [self.typed(p.shd, p.shape) for p in self.params]
        params += [self.typed(v, self.params[i].shape) for v, i in zip(vs, self.wrt)]
        params += [self.typed(u, r.shape) for u, r in zip(us, self.cotangents)]
        names = ["_"] * (n if self.kind == "value_and_grad" else 0) + gs
        lines = ["let %s = %s;" % (tuple_of(names), self.gradient(xs, us))]

        def moved(by):
            return "f(%s)" % ", ".join("%s + %s * %s" % (x, by, "d%d" % i) if i in self.wrt else x
                                       for i, x in enumerate(xs))
        for k, by in enumerate(["1e-5", "-1e-5", "2e-5", "-2e-5", "0.0"]):
            ys = ["y%d_%d" % (k, i) if i == 0 or us else "_" for i in range(n)]
            lines.append("let %s = %s;" % (tuple_of(ys), moved(by)))
        lines.append("let says = %s;" % " + ".join("sum(%s * %s)" % p for p in zip(gs, vs)))
        for k, (name, e) in enumerate([("one", "2e-5"), ("two", "4e-5")]):
            each = ["sum(%s(y%d_%d - y%d_%d))" % ("u%d * " % i if us else "", 2 * k, i,
                                                  2 * k + 1, i)
                    for i in range(n if us else 1)]
            lines.append("let %s = (%s) / %s;" % (name, " + ".join(each), e))
        large = ["sum(abs(%s * %s))" % p for p in zip(gs, vs)]
        large += ["sum(abs(%sy4_%d))" % ("u%d * " % i if us else "", i)
                  for i in range(n if us else 1)]
        lines.append("let four = (4.0 * one - two) / 3.0;")
        lines.append("return abs(says - one), abs(says - four), says, one, four, %s;"
                     % " + ".join(large))
        return "%s%sfn main(%s) -> (%s) {\n  %s\n}\n" % (
            self.head(), "".join(self.functions), ", ".join(params), RESULTS,
            "\n  ".join(lines))


def tuple_of(names):
    return names[0] if len(names) == 1 else "(%s)" % ", ".join(names)


# ---- the comparison

class Checker(run.Checker):
    """Its stages are asked of these programs; `interpret` and `run` mean differences, too."""

    def interpret(self):
        return self.compared("interpret")

    def run(self):
        return self.compared("run")

    moved = 0           # programs that combine behind a loop what it adds up

    def exact(self):
        """What hangs on how sums compare is undecided by --check; here sums are exact."""
        status, out, err = self.call("--interpret", "p.shd", "--", "--iota", "--check",
                                     "--out", "many.safetensors")
        errors = re.findall(r"largest error ([^ ,]+)", out)
        open_ones = re.findall(r"^check \w+: undecided", out, flags=re.M)
        if status != 0 or not errors + open_ones or set(errors) - {"0"}:
            return run.failure("exact", status, err + out)
        return self.as_on_one() if open_ones else None

    def as_on_one(self):
        one = re.sub(r"=\d+", "=1", re.search(r"mesh \[(.*)\]", self.read("p.shd"))[1])
        status, out, err = self.call("--interpret", "--mesh", one.replace(" ", ""), "p.shd",
                                     "--", "--iota", "--out", "one.safetensors")
        if status != 0 or self.bits("one.safetensors") != self.bits("many.safetensors"):
            return run.failure("exact", status or "another on one device", err + out)
        return None

    def bits(self, name):
        with open("%s/%s" % (self.folder(), name), "rb") as f:
            return f.read()

    def lookups(self):
        status, out, err = self.call("--stop-after=partition", "p.shd")
        if status != 0:
            return run.failure("lookups", status, err)
        with self.lock:
            self.moved += bool(re.search(r"get-tuple-element\(%body.*unreduced=", out))
        why = self.exact() if "f64" in self.read("p.shd") else None
        return why or self.numbers("interpret", "--random", "1", "--check")[1]

    def read_again(self, text):
        """A dump has the line of an op, which is that of the function where what it makes
        was named by a let around a call: where the op became a loop's result, the line is
        the let's."""
        return re.sub(r"(get-tuple-element.*) source_line=\d+", r"\1", super().read_again(text))

    def numbers(self, stage, *arguments):
        """({name: number}, what went wrong)"""
        status, out, err = self.call("--" + stage, "p.shd", "--", *arguments)
        if status != 0:
            return None, run.failure(stage, status, err + out)
        found = re.findall(r"^(\w+) +f64\[\] +(\S+)", out, flags=re.M)
        return {name: float(v) for name, v in found}, None

    def compared(self, stage):
        told = ""
        for draw in range(1, DRAWS + 1):
            n, why = self.numbers(stage, "--random", str(draw))
            if why:
                return why
            if min(n["off1"], n["off4"]) <= CLOSE * max(n["large"], 1e-3):
                return self.numbers(stage, "--check")[1]
            told += "%s\n" % n
        return run.failure(stage, "differs", told)


class Gradients(Program):
    """main gives the gradients of a function of whole numbers."""

    def __init__(self, seed, index):
        super().__init__(seed, index, exact=True)

    text = Program.shd_text


MADE = {stage: Program for stage in FULL} | {"exact": Gradients, "lookups": Lookups}


def ask(checker, seed, stage, which, pool):
    """How many fail; tells of the first ones."""
    found = pool.map(lambda i: checker.check(MADE[stage](seed, i), stage), which)
    wrong = [(i, why) for i, why in zip(which, found) if why]
    few = stage == "lookups" and checker.moved < len(which) // 5
    print("%sok %d - %s: %d programs" % ("not " if wrong or few else "",
                                         1 + list(FULL).index(stage), stage, len(which)))
    for i, why in wrong[:10]:
        print("# --seed %s --first %d\n# %s" % (seed, i, "\n# ".join(
            why.detail.splitlines()[-8:])))
    if stage == "lookups" and which:
        print("# %d combine after a loop what it adds up" % checker.moved)
    return len(wrong) + few


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shdc", nargs="?")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    for stage, count in FULL.items():
        parser.add_argument("--" + stage, type=int, default=count // 20)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--print", nargs="?", const="interpret", choices=list(FULL))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    counts = {stage: getattr(args, stage) for stage in FULL}
    if args.print:
        print(MADE[args.print](args.seed, args.first).text())
        return 0
    if args.full:
        args.seed, counts = os.urandom(4).hex(), FULL
    print("# seed %s\n1..%d" % (args.seed, len(FULL)))
    checker = Checker(args.shdc)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        failed = [ask(checker, args.seed, stage, range(args.first, args.first + count), pool)
                  for stage, count in counts.items()]
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
