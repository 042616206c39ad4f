#!/usr/bin/env python3
"""Random programs that the compiler has to accept.

    generate.py --seed S [--first I] [--count N] [--out DIR]

Program I of seed S is always the same text.  Without --out they are printed,
each under a comment with its seed; with it they are written as S-I.shd.

A program is kept as parameters and statements (program.py), not as text, so
that a failing one can be made smaller.  Sizes are picked so that the mesh
often divides them; everything else is drawn without looking at what the
compiler finds easy.
"""
import argparse
import itertools
import math
import os
import random

from control import ControlOps
from dynamic import DynamicOps
from externs import ExternOps
from halo import HaloOps
from layers import LAYERS, LayerOps
from manual import ManualOps
from moved import MOVED, MovedOps
from program import (BYTES, FLOATS, INDICES, INTEGERS, MOST_ELEMENTS, MOST_RANK, MOST_TERMS,
                     NAME, NARROW, Placement, Program, Statement, Value)

MESHES = [[1], [2], [3], [4], [5], [6], [8], [12], [16], [1, 2], [2, 2],
          [2, 3], [2, 4], [4, 2], [3, 2], [3, 5], [5, 2], [6, 2], [4, 4],
          [8, 2], [2, 2, 2], [1, 4, 2], [2, 3, 2], [2, 2, 4], [2, 1, 3],
          [5, 1, 3], [4, 2, 2], [2, 2, 2, 2]]
AXES = ["X", "Y", "Z", "W"]
PRODUCTS = ["matmul(%(x)s, %(w)s)", "sum(%(x)s[:, :, new] * %(w)s[new, :, :], dim=1)",
            "sum(%(x)s[:, new, :] * transpose(%(w)s)[new, :, :], dim=-1)",
            "sum(%(w)s[:, new, :] * transpose(%(x)s)[:, :, new], dim=0)"]
UNEVEN = 0.15           # of the programs have dims that their axes do not divide
MANY = 0.05             # have up to MOST_AXES, those added of size 1
MOST_AXES = 16


def shape(dims):
    return "[%s]" % ", ".join(map(str, dims))


def ints(values):
    values = list(values)
    if len(values) == 1:
        return "(%d,)" % values[0]
    return "(%s)" % ", ".join(map(str, values))


class Generator(ControlOps, DynamicOps, ExternOps, HaloOps, LayerOps, ManualOps, MovedOps):
    def __init__(self, seed, index):
        self.random = random.Random("%s/%s" % (seed, index))
        sizes = self.random.choice(MESHES)
        names = self.random.sample(AXES, len(sizes))
        self.program = Program(self.with_ones(list(zip(names, sizes)),
                                              seed, index))
        self.sizes = self.size_pool(sizes)
        # Drawn apart: the other programs are as they were without these.
        self.apart = random.Random("uneven %s/%s" % (seed, index))
        self.uneven = self.apart.random() < UNEVEN
        self.layers = random.Random("layers %s/%s" % (seed, index)).random() < LAYERS
        self.moves = random.Random("moved %s/%s" % (seed, index)).random() < MOVED
        if self.uneven:
            self.sizes += [5, 7, 9, 11, 13]
        self.dtypes = self.dtype_pool()
        self.busy = self.random.choice([0.15, 0.4, 0.7])
        self.cut = self.random.choice([0.05, 0.05, 0.05, 0.5])
        self.weights = dict(self.WEIGHTS)
        for op in self.random.sample(list(self.weights), 3):
            self.weights[op] *= 6
        self.values = []
        self.vars = []          # what may be assigned here
        self.depth = 0          # of loops and branches
        self.count = 0
        self.local = False      # in a manual function
        self.manual = []        # what that is manual along
        self.meeting = []       # ... and what its callers are, too
        self.automatic = self.program.mesh      # what may be placed along

    # ---- what to draw from

    @staticmethod
    def with_ones(mesh, seed, index):
        apart = random.Random("axes %s/%s" % (seed, index))
        if apart.random() < MANY:
            for i in range(apart.randrange(1, MOST_AXES + 1 - len(mesh))):
                mesh.insert(apart.randrange(len(mesh) + 1), ("One%d" % i, 1))
        return mesh

    def size_pool(self, axes):
        pool = [1, 2, 3, 4]
        for n in range(1, len(axes) + 1):
            for some in itertools.combinations(axes, n):
                ways = math.prod(some)
                pool += [ways, 2 * ways] if ways <= 12 else [ways]
        return [s for s in pool if s <= 24]

    def dtype_pool(self):
        r = self.random
        main = r.choice([FLOATS, FLOATS, INTEGERS])
        pool = r.choices(main, k=2) + [r.choice(FLOATS + INTEGERS)]
        return pool + [r.choice(FLOATS), r.choice(INTEGERS), "pred"]

    def chance(self, p):
        return self.random.random() < p

    def size(self, most=24):
        return self.random.choice([s for s in self.sizes if s <= most])

    def shape(self, rank=None):
        if rank is None:
            rank = self.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        dims = []
        for _ in range(rank):
            dims.append(self.size(max(1, MOST_ELEMENTS // math.prod(dims))))
        return dims

    def dtype(self, kinds=None):
        pool = self.dtypes[:3] * 3 + self.dtypes
        if kinds is not None:
            pool = [d for d in pool if d in kinds] or kinds
        return self.random.choice(pool)

    def dim(self, x):
        """A dim, sometimes counted from the end: (index, text)."""
        d = self.random.randrange(len(x.dims))
        return d, d - len(x.dims) if self.chance(0.2) else d

    def literal(self, dtype):
        if dtype == "pred":
            return self.random.choice(["true", "false"])
        if dtype in FLOATS:
            return self.random.choice(
                ["0.5", "2.0", "-1.5", "3", "0.25", "1e-2", "1.0"])
        return self.random.choice(
            ["1", "2", "3", "7"] + ([] if dtype[0] == "u" else ["-1", "-3"]))

    # ---- placements

    def pieces(self):
        """Every axis once, some of them as two parts."""
        found = []
        for name, size in self.automatic:
            cuts = [k for k in range(2, size) if size % k == 0]
            if cuts and self.chance(self.cut):
                k = self.random.choice(cuts)
                found.append(("%s:(1)%d" % (name, k), k))
                found.append(("%s:(%d)%d" % (name, k, size // k), size // k))
            else:
                found.append((name, size))
        self.random.shuffle(found)
        return found

    def placement(self, dims, partial=None):
        return self.place(Placement(len(dims)), dims, partial)

    def place(self, p, dims, partial=None):
        """Axes that are the compiler's, after those that are there."""
        if not self.automatic:
            return p
        ways, spare = [1] * len(dims), []
        for name, size in self.pieces():
            fits = [d for d in range(len(dims))
                    if dims[d] % (ways[d] * size) == 0]
            even = self.automatic is not self.program.mesh      # parts are
            if self.uneven and not even and self.apart.random() < 0.5:
                fits = [d for d in range(len(dims)) if dims[d] > 1]
            if fits and self.chance(self.busy):
                d = self.random.choice(fits)
                p.axes[d].append(name)
                ways[d] *= size
            else:
                spare.append(name)
        for d in range(len(dims)):
            p.pad[d] = dims[d] % ways[d] != 0
            p.open[d] = self.chance(0.25)
            if p.axes[d] and self.chance(0.1):
                p.priority[d] = self.random.randrange(3)
        if spare and self.chance(0.08):
            p.replicated = self.some(spare)
        elif self.chance(0.03):
            p.whole = True
        elif dims and self.chance(0.05):
            p.all_open = True
        if partial and spare and self.chance(0.12):
            p.unreduced = self.some(spare)
            p.combiner = self.random.choice(partial)
        return p

    def some(self, pieces):
        """One, now and then more, of them, taken out."""
        n = 1 if self.chance(0.75) else self.random.randint(1, len(pieces))
        return [pieces.pop() for _ in range(n)]

    def combiners(self, dtype):
        if dtype == "pred":
            return ["and", "or"]
        return ["add", "add", "add", "max", "min"]

    # ---- values

    def name(self):
        self.count += 1
        return "%s%d" % ("w" if self.local else "v", self.count)

    def fresh(self, dtype, dims):
        """A new parameter, or now and then a tensor from nothing."""
        if self.local:
            return self.leaf("full" if dtype == "pred" or not dims else
                             self.random.choice(["ones", "iota"]), dtype, dims)
        if self.chance(0.1) and dtype != "pred":
            kind = self.random.choice(["zeros", "ones", "full", "iota"])
            if kind != "iota" or dims:
                return self.leaf(kind, dtype, dims)
        p = self.placement(dims, self.combiners(dtype))
        x = Value(self.name(), dtype, dims, p if self.chance(0.7) else None)
        if x.placement is None and self.chance(0.5):
            x.placement = Placement(len(dims))
            x.placement.open = [True] * len(dims)
        self.program.params.append(x)
        self.values.append(x)
        return x

    def leaf(self, kind, dtype, dims):
        p = self.placement(dims) if self.chance(0.3) else Placement(len(dims))
        text = dtype + p.dims_text(dims) + p.tail()
        if kind == "full":
            text += ", " + self.literal(dtype)
        if kind == "iota" and self.chance(0.7):
            text += ", dim=%d" % self.random.randrange(len(dims))
        return self.add("%s(%s)" % (kind, text), [], dtype, dims)

    def pick(self, kinds=None, rank=None, dims=None):
        """A value of one of the dtypes, of at least this rank or these dims."""
        fits = [x for x in self.values
                if (kinds is None or x.dtype in kinds)
                and (rank is None or len(x.dims) >= rank)
                and (dims is None or x.dims == list(dims))]
        if fits and self.chance(0.85):
            newest = self.random.choices(fits, range(1, len(fits) + 1))[0]
            return newest
        if dims is None:
            dims = self.shape(None if not rank else
                              self.random.randint(rank, max(rank, 3)))
        return self.fresh(self.dtype(kinds), list(dims))

    def add(self, text, operands, dtype, dims):
        x = Value(self.name(), dtype, list(dims))
        if self.chance(0.12 * self.busy + 0.03):
            x.placement = self.placement(x.dims)
        return self.let([x], text)

    def let(self, values, text):
        self.program.statements.append(
            Statement(values, text, NAME.findall(text)))
        self.values += values
        return values[0]

    def broadcastable(self, x):
        """A value that broadcasts with x to the shape of x."""
        if self.chance(0.5):
            return self.pick([x.dtype], dims=x.dims)
        keep = self.random.randint(0, len(x.dims))
        dims = [d if self.chance(0.7) else 1 for d in x.dims[len(x.dims) - keep:]]
        return self.pick([x.dtype], dims=dims)

    # ---- one method an op; None when it does not apply

    def op_unary(self):
        name = self.random.choice([
            "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos",
            "tanh", "sigmoid", "erf", "floor", "ceil", "round", "silu",
            "gelu", "abs", "neg", "sign", "square", "relu", "isfinite"])
        numbers = FLOATS + INTEGERS
        kinds = {"abs": numbers, "neg": numbers, "sign": numbers,
                 "square": numbers, "relu": numbers}.get(name, FLOATS)
        x = self.pick(kinds)
        text = x.name
        if name in ("log", "sqrt", "rsqrt") and self.chance(0.8):
            text = "abs(%s) + 0.5" % text
        if name == "gelu" and self.chance(0.5):
            text += ", approximate=false"
        dtype = "pred" if name == "isfinite" else x.dtype
        return self.add("%s(%s)" % (name, text), [x], dtype, x.dims)

    def op_minus(self):
        x = self.pick(FLOATS + INTEGERS)
        return self.add("-" + x.name, [x], x.dtype, x.dims)

    def op_binary(self):
        x = self.pick(FLOATS + INTEGERS)
        y = self.broadcastable(x)
        form = self.random.choice(
            ["%s + %s", "%s - %s", "%s * %s", "%s * %s", "%s + %s", "%s / %s",
             "maximum(%s, %s)", "minimum(%s, %s)", "%s %% %s", "pow(%s, %s)"])
        pair = [x, y] if self.chance(0.7) else [y, x]
        if form.startswith("pow") and x.dtype in INTEGERS:
            # XLA's CPU back end looks at six bits of an exponent only.
            form = "pow(%s, %s %% 7)"
        elif form.startswith("pow") and x.dtype in BYTES:
            # On so few digits no sample may show that an exponent need not be whole.
            form = "pow(abs(%s), %s)"
        return self.add(form % (pair[0].name, pair[1].name), pair, x.dtype,
                        x.dims)

    def op_literal(self):
        x = self.pick(FLOATS + INTEGERS)
        form = self.random.choice(["%s + %s", "%s * %s", "%s - %s", "%s / %s",
                                   "maximum(%s, %s)", "minimum(%s, %s)"])
        number = self.literal(x.dtype)
        most = {"i4": 7, "u4": 15, "f8e3m4": 15, "f8e4m3b11fnuz": 30}.get(x.dtype, 127)     # also an i8
        if x.dims and x.dims[0] <= most and self.chance(0.2):
            number = self.random.choice(["size(%s, 0)", "%s(size(%s, 0))"])
            number = number % ((x.name,) if number[0] == "s" else
                               (x.dtype, x.name))
        elif x.dtype in FLOATS and self.chance(0.1):
            axis, size = self.program.mesh[0][:2]
            number = self.random.choice(["exp(0.5)", "sqrt(2)", "(1 - 3) / 4.0", "-(2 + 1)",
                                         "axis_size(%s)" % axis if size <= most else "1.5"])
        pair = (x.name, number)
        if self.chance(0.3) and "/" not in form:
            pair = pair[::-1]
        return self.add(form % pair, [x], x.dtype, x.dims)

    def op_compare(self):
        x = self.pick(FLOATS + INTEGERS)
        y = self.broadcastable(x)
        sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        return self.add("%s %s %s" % (x.name, sign, y.name), [x, y], "pred",
                        x.dims)

    def op_logic(self):
        x = self.pick(["pred"])
        if self.chance(0.25):
            return self.add("!" + x.name, [x], "pred", x.dims)
        y = self.broadcastable(x)
        form = self.random.choice(["%s && %s", "%s || %s"])
        return self.add(form % (x.name, y.name), [x, y], "pred", x.dims)

    def op_where(self):
        x = self.pick()
        y = self.broadcastable(x)
        p = self.pick(["pred"], dims=x.dims if self.chance(0.6) else
                      self.broadcastable(x).dims)
        if x.dtype != "pred" and self.chance(0.3):
            other = self.literal(x.dtype)
            if x.dtype in FLOATS and self.chance(0.6):
                other = self.random.choice(["inf", "-inf", "nan"])
            return self.add("where(%s, %s, %s)" % (p.name, x.name, other),
                            [p, x], x.dtype, x.dims)
        return self.add("where(%s, %s, %s)" % (p.name, x.name, y.name),
                        [p, x, y], x.dtype, x.dims)

    def op_clamp(self):
        x = self.pick(FLOATS + INTEGERS)
        low, high = ("1", "5") if x.dtype[0] == "u" else ("-1", "2")
        if self.chance(0.3):
            y = self.broadcastable(x)
            return self.add("clamp(%s, %s, %s)" % (low, x.name, y.name),
                            [x, y], x.dtype, x.dims)
        return self.add("clamp(%s, %s, %s)" % (low, x.name, high), [x],
                        x.dtype, x.dims)

    def op_cast(self):
        x = self.pick()
        to = self.dtype()
        return self.add("%s(%s)" % (to, x.name), [x], to, x.dims)

    def op_reduce(self):
        name = self.random.choice(["sum", "sum", "sum", "mean", "prod", "max",
                                   "min", "any", "all", "var", "logsumexp"])
        kinds = {"any": ["pred"], "all": ["pred"], "mean": FLOATS,
                 "var": FLOATS, "logsumexp": FLOATS,
                 "sum": FLOATS + INTEGERS + ["pred"]}
        x = self.pick(kinds.get(name, FLOATS + INTEGERS), rank=1)
        n = self.random.randint(1, len(x.dims))
        dims = sorted(self.random.sample(range(len(x.dims)), n))
        text = ", dim=" + ints(dims)
        if n == 1 and self.chance(0.8):
            text = ", dim=%d" % (dims[0] - self.random.choice([0, len(x.dims)]))
        if n == len(x.dims) and self.chance(0.5):
            text = ""
        if self.chance(0.3):
            text += ", keep=true"
            left = [1 if d in dims else s for d, s in enumerate(x.dims)]
        else:
            left = [s for d, s in enumerate(x.dims) if d not in dims]
        dtype = "i32" if (name, x.dtype) == ("sum", "pred") else x.dtype
        return self.add("%s(%s%s)" % (name, x.name, text), [x], dtype, left)

    def op_arg(self):
        x = self.pick(FLOATS + INTEGERS, rank=1)
        d, text = self.dim(x)
        return self.add("%s(%s, dim=%d)" % (
            self.random.choice(["argmax", "argmin"]), x.name, text), [x],
            "i32", x.dims[:d] + x.dims[d + 1:])

    def op_along(self):
        name = self.random.choice(["softmax", "log_softmax", "rms_norm",
                                   "layer_norm", "cumsum"])
        kinds = FLOATS + INTEGERS if name == "cumsum" else FLOATS
        x = self.pick(kinds, rank=1)
        text = ", dim=%d" % self.dim(x)[1]
        if name != "cumsum" and self.chance(0.4):
            text = ""
        elif name != "cumsum" and len(x.dims) > 1 and self.chance(0.3):
            text = ", dim=(%d, %d)" % tuple(self.random.sample(
                range(len(x.dims)), 2))
        if name.endswith("norm") and self.chance(0.3):
            text += ", eps=1e-3"
        return self.add("%s(%s%s)" % (name, x.name, text), [x], x.dtype,
                        x.dims)

    def any_shape(self, count):
        """Dims of so many elements, whatever they are made of."""
        dims = []
        while count > 1 and len(dims) < 3:
            cuts = [k for k in range(2, count + 1) if count % k == 0]
            dims.append(self.random.choice(cuts))
            count //= dims[-1]
        return dims + [count] if count > 1 else dims

    def op_reshape(self):
        x = self.pick()
        if self.chance(0.25):
            dims = self.any_shape(math.prod(x.dims))
            return self.add("reshape(%s, %s)" % (
                x.name, self.sizes_text(x, dims)), [x], x.dtype, dims)
        dims, factors = [], []
        for size in x.dims:
            cuts = [k for k in range(1, size + 1) if size % k == 0]
            k = self.random.choice(cuts) if self.chance(0.6) else size
            factors += [k, size // k] if k < size else [size]
        for f in factors:
            if dims and self.chance(0.4):
                dims[-1] *= f
            else:
                dims.append(f)
        if self.chance(0.15):
            dims.insert(self.random.randint(0, len(dims)), 1)
        if len(dims) > MOST_RANK:
            return None
        return self.add("reshape(%s, %s)" % (x.name, self.sizes_text(x, dims)),
                        [x], x.dtype, dims)

    def sizes_text(self, x, dims):
        """Dims as an argument; some say size(x, d) instead of a number."""
        words = []
        for d in dims:
            same = [i for i, s in enumerate(x.dims) if s == d]
            words.append("size(%s, %d)" % (x.name, self.random.choice(same))
                         if same and self.chance(0.1) else str(d))
        return "[%s]" % ", ".join(words)

    def op_transpose(self):
        x = self.pick(rank=1)
        order = list(range(len(x.dims)))
        self.random.shuffle(order)
        return self.add("transpose(%s, %s)" % (x.name, ints(order)), [x],
                        x.dtype, [x.dims[d] for d in order])

    def op_broadcast(self):
        x = self.pick()
        dims = [self.size(6) if d == 1 else d for d in x.dims]
        if self.chance(0.6):
            dims = self.shape(1) + dims
        if len(dims) > MOST_RANK or math.prod(dims) > MOST_ELEMENTS:
            return None
        return self.add("broadcast(%s, %s)" % (x.name, shape(dims)), [x],
                        x.dtype, dims)

    def op_concat(self):
        x = self.pick(rank=1)
        d, text = self.dim(x)
        parts, total = [x], x.dims[d]
        for _ in range(self.random.randint(1, 2)):
            dims = list(x.dims)
            if self.chance(0.4):
                dims[d] = self.size(8)
            parts.append(self.pick([x.dtype], dims=dims))
            total += dims[d]
        dims = x.dims[:d] + [total] + x.dims[d + 1:]
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        return self.add("concat((%s), dim=%d)" % (", ".join(
            p.name for p in parts), text), parts, x.dtype, dims)

    def op_stack(self):
        x = self.pick()
        n = self.random.randint(1, 3)
        if len(x.dims) + 1 > MOST_RANK or math.prod(x.dims) * n > MOST_ELEMENTS:
            return None
        parts = [x] + [self.pick([x.dtype], dims=x.dims) for _ in range(n - 1)]
        d = self.random.randint(0, len(x.dims))
        return self.add("stack((%s%s), dim=%d)" % (
            ", ".join(p.name for p in parts), "," if n == 1 else "", d), parts,
            x.dtype, x.dims[:d] + [n] + x.dims[d:])

    def op_split(self):
        x = self.pick(rank=1)
        d, text = self.dim(x)
        cuts = [k for k in range(2, 5) if x.dims[d] % k == 0]
        if not cuts:
            return None
        n = self.random.choice(cuts)
        dims = x.dims[:d] + [x.dims[d] // n] + x.dims[d + 1:]
        parts = [Value(self.name(), x.dtype, dims) for _ in range(n)]
        return self.let(parts, "split(%s, %d, dim=%d)" % (x.name, n, text))

    def op_repeat(self):
        x = self.pick(rank=1)
        d, text = self.dim(x)
        n = self.random.randint(1, 3)
        dims = x.dims[:d] + [x.dims[d] * n] + x.dims[d + 1:]
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        return self.add("repeat(%s, %d, dim=%d)" % (x.name, n, text), [x],
                        x.dtype, dims)

    def spread(self, size, width):
        """(lo, hi, between) that leaves an element, or what it was."""
        low, high = self.random.randint(-4, 4), self.random.randint(-4, 4)
        step = self.random.randint(1, 3) + 1
        left = size - max(0, -(low // step)) - max(0, -(high // step))
        return (low, high, step - 1) if left > 0 else width

    def op_pad(self):
        x = self.pick(rank=1)
        widths = [(self.random.choice([0, 0, 1, 2, 4]),
                   self.random.choice([0, 0, 1, 3])) for _ in x.dims]
        if self.chance(0.3):
            shifts = [self.random.randint(1 - s, s - 1) for s in x.dims]
            widths = [(n, -n) if self.chance(0.6) else w for n, w in zip(shifts, widths)]
        widths = [self.spread(s, w) if self.chance(0.2) else w for s, w in zip(x.dims, widths)]
        dims = [s + sum(w[:2]) + (s - 1) * sum(w[2:]) for s, w in zip(x.dims, widths)]
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        text = ", ".join(map(str, widths))
        text += "," if len(widths) == 1 else ""
        value = ", value=" + self.literal(x.dtype)
        if x.dtype == "pred":
            value = ", value=true"
        elif self.chance(0.5):
            value = ""
        return self.add("pad(%s, (%s)%s)" % (x.name, text, value), [x],
                        x.dtype, dims)

    def op_roll(self):
        x = self.pick(rank=1)
        return self.add("roll(%s, %d, dim=%d)" % (
            x.name, self.random.randint(-5, 9), self.dim(x)[1]), [x], x.dtype,
            x.dims)

    def op_flip(self):
        x = self.pick(rank=1)
        return self.add("flip(%s, dim=%d)" % (x.name, self.dim(x)[1]), [x],
                        x.dtype, x.dims)

    def slice_of(self, size):
        """(text, result size or None when the dim goes)"""
        kind = self.random.choice(["all", "all", "range", "half", "step",
                                   "back", "at", "least"])
        if kind == "range":
            low = self.random.randrange(size)
            high = self.random.randint(low + 1, size)
            text = "%s:%s" % (low - size if self.chance(0.2) else low,
                              "" if high == size and self.chance(0.5) else high)
            return text, high - low
        if kind == "half" and size % 2 == 0:
            return (":%d" % (size // 2) if self.chance(0.5) else
                    "%d:" % (size // 2)), size // 2
        if kind == "step":
            step = self.random.randint(2, 3)
            low = self.random.randrange(min(size, 2))
            return "%s::%d" % (low or "", step), len(range(low, size, step))
        if kind == "back":
            step = self.random.choice([1, 1, 2])
            return "::-%d" % step, len(range(0, size, step))
        if kind == "at":
            i = self.random.randrange(size)
            return str(i - size if self.chance(0.3) else i), None
        if kind == "least" and size > 1:
            return ":-1", size - 1
        return ":", size

    def op_slice(self):
        x = self.pick(rank=1)
        words, dims = [], []
        left = len(x.dims) if self.chance(0.7) else \
            self.random.randrange(len(x.dims))
        for size in x.dims[:left]:
            text, result = self.slice_of(size)
            words.append(text)
            if result is not None:
                dims.append(result)
            if self.chance(0.08):
                words.append("new")
                dims.append(1)
        if left < len(x.dims):
            dims += x.dims[left:]
            words.append("...")
        elif self.chance(0.1):
            words.insert(0, "...")
        if len(dims) > MOST_RANK:
            return None
        return self.add("%s[%s]" % (x.name, ", ".join(words)), [x], x.dtype,
                        dims)

    def op_take(self):
        x = self.pick(rank=1)
        d, text = self.dim(x)
        idx = self.pick(["i32"] if self.chance(0.7) else INDICES)
        dims = x.dims[:d] + idx.dims + x.dims[d + 1:]
        if len(dims) > MOST_RANK or math.prod(dims) > MOST_ELEMENTS:
            return None
        return self.add("take(%s, %s, dim=%d)" % (x.name, idx.name, text),
                        [x, idx], x.dtype, dims)

    def op_one_hot(self):
        idx = self.pick(INDICES)
        n = self.size(8)
        if len(idx.dims) + 1 > MOST_RANK or \
                math.prod(idx.dims) * n > MOST_ELEMENTS:
            return None
        dtype = self.dtype(FLOATS + INTEGERS)
        text = "" if dtype == "f32" and self.chance(0.5) else ", dtype=" + dtype
        return self.add("one_hot(%s, %d%s)" % (idx.name, n, text), [idx], dtype,
                        idx.dims + [n])

    def op_leaf(self):
        kind = self.random.choice(["zeros", "ones", "full", "iota", "iota"])
        dtype = self.dtype(FLOATS + INTEGERS)
        return self.leaf(kind, dtype, self.shape(self.random.randint(1, 3)))

    def einsum_operand(self, dtype, letters, first):
        """(value, its letters); letters grows by what it brings."""
        used = {}
        if first or self.chance(0.5):
            x = self.pick([dtype])
            words = ""
            for size in x.dims:
                known = [a for a, s in letters.items() if s == size
                         and (a not in words or self.chance(0.15))]
                a = self.random.choice(known) if known and self.chance(0.75) \
                    else chr(ord("a") + len(letters))
                letters[a] = size
                used[a] = size
                words += a
            return x, words
        words = "".join(self.random.sample(sorted(letters), self.random.randint(
            0, min(3, len(letters)))))
        if self.chance(0.6):
            a = chr(ord("a") + len(letters))
            letters[a] = self.size(12)
            words += a
        dims = [letters[a] for a in words]
        if math.prod(dims) > MOST_ELEMENTS or len(dims) > MOST_RANK:
            return None, ""
        return self.pick([dtype], dims=dims), words

    def op_einsum(self):
        dtype = self.dtype(FLOATS + INTEGERS)
        letters, operands, words = {}, [], []
        for i in range(self.random.choice([1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 10])):
            x, word = self.einsum_operand(dtype, letters, i == 0)
            if x is None:
                return None
            operands.append(x)
            words.append(word)
        out = [a for a in letters if self.chance(0.6)]
        self.random.shuffle(out)
        out = out[:4]
        dims = [letters[a] for a in out]
        if math.prod(letters.values()) > MOST_TERMS or \
                math.prod(dims) > MOST_ELEMENTS:
            return None
        text = 'einsum("%s->%s", %s' % (",".join(words), "".join(out),
                                        ", ".join(x.name for x in operands))
        result = dtype
        if dtype in NARROW and self.chance(0.3):
            result = "f32"
            text += ", dtype=f32"
        if self.chance(0.08):
            p = self.placement(dims)
            text += ", out=" + p.dims_text(dims) + p.tail()
        return self.add(text + ")", operands, result, dims)

    def op_batched(self):
        """An einsum with '...'."""
        x = self.pick(FLOATS + INTEGERS, rank=2)
        y = self.pick([x.dtype], dims=[x.dims[-1], self.size(8)])
        batch = x.dims[:-2]
        if self.chance(0.5) and len(y.dims) + len(batch) <= MOST_RANK:
            theirs = [d if self.chance(0.7) else 1 for d in batch]
            y = self.pick([x.dtype], dims=theirs + y.dims)
        dims = batch + [x.dims[-2], y.dims[-1]]
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        form, dims = self.random.choice(
            [("...ij,...jk->...ik", dims), ("...ij,...jk->ki...",
                                            dims[-1:] + dims[-2:-1] + batch),
             ("...ij,...jk->...", batch)])
        return self.add('einsum("%s", %s, %s)' % (form, x.name, y.name), [x, y],
                        x.dtype, dims)

    def op_matmul(self):
        x = self.pick(FLOATS + INTEGERS, rank=1)
        other = [self.size(8)] if self.chance(0.8) else []
        batch = x.dims[:-2] if self.chance(0.4) and other else []
        theirs = [d if self.chance(0.8) else 1 for d in batch]
        y = self.pick([x.dtype], dims=theirs + [x.dims[-1]] + other)
        dims = x.dims[:-1] + other
        if math.prod(dims) * x.dims[-1] > MOST_TERMS or \
                math.prod(dims) > MOST_ELEMENTS:
            return None
        return self.add("matmul(%s, %s)" % (x.name, y.name), [x, y], x.dtype,
                        dims)

    def op_sum_of_products(self):
        """Partial sums added to partial sums, also of what is multiplied element by
        element."""
        dtype = self.dtype(FLOATS + INTEGERS)
        m, n = self.size(8), self.size(8)
        operands, terms = [], []
        for _ in range(self.random.randint(2, 4)):
            k = self.size(12)
            x, w = self.pick([dtype], dims=[m, k]), self.pick([dtype], dims=[k, n])
            operands += [x, w]
            form = self.random.choice(PRODUCTS) if m * k * n <= MOST_ELEMENTS else PRODUCTS[0]
            terms.append(form % {"x": x.name, "w": w.name})
        if self.chance(0.2):
            operands.append(self.pick([dtype], dims=[m, n]))
            terms.insert(self.random.randint(0, len(terms)), operands[-1].name)
        return self.add(" + ".join(terms), operands, dtype, [m, n])

    def op_reshard(self):
        x = self.pick()
        p = self.placement(x.dims, self.combiners(x.dtype))
        p.open = [False] * len(x.dims)
        return self.add("reshard(%s, %s%s)" % (
            x.name, p.dims_text(x.dims), p.tail()), [x], x.dtype, x.dims)

    def op_placed(self):
        return self.placed(self.pick())

    def placed(self, x):
        y = self.add(x.name, [x], x.dtype, x.dims)
        y.placement = self.placement(x.dims, self.combiners(x.dtype))
        return y

    def op_shard_like(self):
        x = self.pick(rank=1)
        y = self.pick([x.dtype], dims=x.dims)
        return self.add("shard_like(%s, %s)" % (x.name, y.name), [x, y],
                        x.dtype, x.dims)

    def op_barrier(self):
        x = self.pick()
        return self.add("barrier(%s)" % x.name, [x], x.dtype, x.dims)

    def op_fence(self):
        """Of several a tuple: some are taken apart, of some one is used."""
        parts = [self.pick() for _ in range(self.random.choice([1, 1, 2, 3]))]
        text = "fence(%s)" % ", ".join(x.name for x in parts)
        if len(parts) > 1 and self.chance(0.3):
            i = self.random.randrange(len(parts))
            return self.add("%s[%d]" % (text, i), parts, parts[i].dtype, parts[i].dims)
        return self.let([Value(self.name(), x.dtype, list(x.dims)) for x in parts], text)

    WEIGHTS = {
        op_unary: 5, op_minus: 1, op_binary: 6, op_literal: 2, op_compare: 1.5,
        op_logic: 1, op_where: 1.5, op_clamp: 1, op_cast: 2, op_reduce: 6,
        op_arg: 1, op_along: 3, op_reshape: 5, op_transpose: 3,
        op_broadcast: 1.5, op_concat: 1.5, op_stack: 1, op_split: 1.2,
        op_repeat: 1, op_pad: 1, op_roll: 1, op_flip: 1, op_slice: 3,
        op_take: 1.5, op_one_hot: 0.7, op_leaf: 0.7, op_einsum: 8,
        op_batched: 1.5, op_matmul: 2.5, op_sum_of_products: 1,
        op_reshard: 1.5, op_placed: 1.5,
        op_shard_like: 0.7, op_barrier: 0.5, op_fence: 0.7}
    WEIGHTS.update(ControlOps.WEIGHTS)
    WEIGHTS.update(DynamicOps.WEIGHTS)
    WEIGHTS.update(ExternOps.WEIGHTS)
    WEIGHTS.update(HaloOps.WEIGHTS)
    WEIGHTS.update(ManualOps.WEIGHTS)
    # What a manual function may do on one device.
    LOCAL = dict(WEIGHTS)
    for op in (*ControlOps.WEIGHTS, *HaloOps.WEIGHTS, *ManualOps.WEIGHTS,
               op_reshard, op_placed, op_shard_like, op_barrier,
               DynamicOps.op_random):
        del LOCAL[op]
    LOCAL = list(LOCAL)
    # ... and one that is manual along some axes only, along the others.
    PLACING = [op_reshard, op_placed, op_shard_like, op_barrier]

    # ---- the whole

    def finish(self):
        """Results: what nothing uses, and now and then something else."""
        p = self.program
        used = {name for s in p.statements for name in s.uses}
        ends = [x for x in self.values if x.name not in used]
        made = {x.name for s in p.statements for x in s.values}
        chosen = [x for x in ends if x.name in made][-4:] or ends[-1:]
        if self.chance(0.15):
            chosen.append(self.random.choice(self.values))
        named = self.chance(0.3)
        for i, x in enumerate(dict.fromkeys(chosen)):
            q = self.placement(x.dims, self.combiners(x.dtype)) \
                if self.chance(0.4) else None
            p.results.append(Value(x.name, x.dtype, x.dims, q))
            p.result_names.append("r%d" % i if named else None)
        p.typed_results = named or any(r.placement for r in p.results) \
            or self.chance(0.3)

    def repeat(self):
        """Statements once more under other names, which later ones use now and then;
        and what is made of them as a result, too."""
        names, statements = {}, []

        def either():
            chosen = {}     # one of the names for all that a statement says
            return lambda text: NAME.sub(lambda m: chosen.setdefault(
                m.group(), self.random.choice(names.get(m.group(), [m.group()]))), text)

        for s in self.program.statements:
            s.change(either())
            statements.append(s)
            if type(s) is not Statement or not self.chance(0.7):
                continue
            again = [Value(self.name(), x.dtype, x.dims, x.placement)
                     for x in s.values]
            statements.append(Statement(again, s.text, list(s.uses)))
            statements[-1].change(either())
            for x, y in zip(s.values, again):
                names[x.name] = [x.name, y.name]
        p = self.program
        p.statements = statements
        for r, name in list(zip(p.results, p.result_names)):
            for twin in names.get(r.name, [])[1:]:
                p.results.append(Value(twin, r.dtype, r.dims, r.placement))
                p.result_names.append(name and name + "_again")

    def dress(self):
        """Ways of saying the same: inlined lets, helpers, named dims."""
        p = self.program
        if self.chance(0.25):
            self.repeat()
        for s in p.statements:
            s.inline = self.chance(0.15)
        if len(p.statements) > 2 and self.chance(0.25):
            i = self.random.randrange(len(p.statements) - 1)
            j = self.random.randint(i + 1, min(len(p.statements), i + 4))
            p.helper = (i, j, self.random.choice(
                ["untyped", "typed", "sizes", "mixed"]))
        if self.chance(0.2):
            p.named_dims = True
        if self.chance(0.15):
            p.named_types = True
        p.drop_unused()

    def make_ops(self, wanted):
        if self.local:
            self.make_local_ops(wanted)
            return
        ops, weights = zip(*self.weights.items())
        made = 0
        while made < wanted:
            made += self.random.choices(ops, weights)[0](self) is not None

    def make(self):
        for _ in range(self.random.randint(1, 2)):
            self.fresh(self.dtype(), self.shape())
        self.make_ops(self.random.choice(
            [1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
        if self.layers:
            self.op_layers()
        if self.moves:
            self.op_moved()
        self.finish()
        self.dress()
        return self.program


def generate(seed, index):
    return Generator(seed, index).make()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--out")
    args = parser.parse_args()
    for i in range(args.first, args.first + args.count):
        text = "// seed %s, program %d\n%s" % (args.seed, i,
                                               generate(args.seed, i).text())
        if args.out:
            os.makedirs(args.out, exist_ok=True)
            with open("%s/%s-%d.shd" % (args.out, args.seed, i), "w") as f:
                f.write(text)
        else:
            print(text)


if __name__ == "__main__":
    main()
