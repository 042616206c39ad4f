"""Manual functions in random programs: a part of generate.py's Generator.

The body is made by the ops that have no placement, on what one device has, and
by collectives, in loops and branches that all devices go through together.
Results are split over every axis but those that a last psum,
pmax or pmin makes them the same along: so that they are right whatever varies.
Where some axes are left to the compiler, functions may be called in the body that
are manual along some of those.
"""
import math

from control import ControlOps
from program import FLOATS, MOST_ELEMENTS, MOST_RANK, Placement, Value


class ManualOps:
    def shuffled(self):
        """The axes that the function is manual along."""
        return self.some_order(self.manual)

    def some_order(self, axes):
        return self.random.sample(axes, len(axes))

    def some_of(self, axes):
        """Some axes as [(name, size)], in any order."""
        axes = self.some_order(axes)
        return axes[:self.random.choice([1, 1, 2, len(axes)])]

    def some_axes(self):
        """Some that devices may meet along."""
        return self.some_of(self.meeting)

    def axes_text(self, axes):
        names = [name for name, _ in axes]
        return names[0] if len(names) == 1 else "(%s)" % ", ".join(names)

    # ---- collectives on a device's tensor

    def meet(self, x, axes):
        """The same on all devices along the axes."""
        name = self.random.choice(
            ["psum", "pmax", "pmin"] + ["pmean"] * (x.dtype in FLOATS))
        dtype = "i32" if name == "psum" and x.dtype == "pred" else x.dtype
        text = "%s(%s, %s)" % (name, x.name, self.axes_text(axes))
        if self.chance(0.1):
            text = "uniform(%s, %s)" % (text, self.axes_text(self.some_order(axes)))
        return self.add(text, [x], dtype, x.dims)

    def op_meet(self):
        return self.meet(self.pick(), self.some_axes())

    def op_gather(self):
        x, axes = self.pick(rank=1), self.some_axes()
        d, text = self.dim(x)
        dims = list(x.dims)
        dims[d] *= math.prod(size for _, size in axes)
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        return self.add("all_gather(%s, %s, dim=%d)" % (
            x.name, self.axes_text(axes), text), [x], x.dtype, dims)

    def op_scatter(self):
        x, axes = self.pick(rank=1), self.some_axes()
        d, text = self.dim(x)
        ways = math.prod(size for _, size in axes)
        if x.dims[d] % ways:
            return None
        dims = list(x.dims)
        dims[d] //= ways
        dtype = "i32" if x.dtype == "pred" else x.dtype
        return self.add("psum_scatter(%s, %s, dim=%d)" % (
            x.name, self.axes_text(axes), text), [x], dtype, dims)

    def op_exchange(self):
        x, axes = self.pick(rank=1), self.some_axes()
        (d, split), (k, concat) = self.dim(x), self.dim(x)
        ways = math.prod(size for _, size in axes)
        if x.dims[d] % ways or len(x.dims) == MOST_RANK:
            return None
        dims = list(x.dims)
        dims[d] //= ways
        dims[k] *= ways
        return self.add("all_to_all(%s, %s, split=%d, concat=%d)" % (
            x.name, self.axes_text(axes), split, concat), [x], x.dtype, dims)

    def op_permute(self):
        x, axes = self.pick(), self.some_axes()
        n = math.prod(size for _, size in axes)
        how = "shift=%d" % self.random.randint(-n, n)
        if self.chance(0.4):
            count = self.random.randint(1, n)
            pairs = zip(self.random.sample(range(n), count),
                        self.random.sample(range(n), count))
            how = "perm=(%s,)" % ", ".join("(%d, %d)" % p for p in pairs)
        return self.add("ppermute(%s, %s, %s)" % (
            x.name, self.axes_text(axes), how), [x], x.dtype, x.dims)

    def op_ragged(self):
        """Member i sends table[i, k] rows to k, who has them in the order of
        the senders; between them are rows that stay."""
        x, axes = self.pick(rank=1), self.some_axes()
        n, rows = math.prod(size for _, size in axes), x.dims[0]
        most, gap = self.random.randint(1, min(rows, 3)), self.random.randint(0, 1)
        text = self.axes_text(axes)
        into = self.pick([x.dtype], dims=[n * (most + gap)] + x.dims[1:])
        a, b, c, d = (self.random.randint(0, 5) for _ in "abcd")
        table = self.add("(iota(i32[%d, %d], dim=0) * %d + iota(i32[%d, %d], dim=1) * %d + %d) %% %d" % (
            n, n, a, n, n, b, c, most + 1), [], "i32", [n, n])
        me = self.add("axis_index(%s)" % text, [], "i32", [])
        to = self.add("cumsum(%s + %d, dim=0) - %s" % (table.name, gap, table.name),
                      [table], "i32", [n, n])
        starts = self.add("iota(i32[%d]) * %d %% %d" % (n, d, rows - most + 1),
                          [], "i32", [n])
        t, i = table.name, me.name
        return self.add("ragged_all_to_all(%s, %s, %s, %s[%s], %s[%s], %s[:, %s], %s)" % (
            x.name, into.name, starts.name, t, i, to.name, i, t, i, text),
            [x, into, table, me, to, starts], x.dtype, into.dims)

    def op_axis_index(self):
        axes = self.axes_text(self.some_axes())
        return self.add("axis_index(%s)" % axes, [], "i32", [])

    COLLECTIVES = [op_meet, op_gather, op_scatter, op_exchange, op_permute,
                   op_ragged, op_axis_index]

    # ---- signatures

    def spec(self, dims, axes, needed):
        """Axes at dims that they divide; all of them if needed (dims are
        those of a device then, and become those of the whole)."""
        p, ways = Placement(len(dims)), [1] * len(dims)
        for name, size in axes:
            fits = [d for d in range(len(dims))
                    if needed or dims[d] % (ways[d] * size) == 0]
            if fits and (needed or self.chance(0.6)):
                d = self.random.choice(fits)
                p.axes[d].append(name)
                ways[d] *= size
        return p, ways

    def shard(self, x):
        """A parameter's whole and local value."""
        axes = self.shuffled()
        p, ways = self.spec(x.dims, axes, False)
        dims = [d // w for d, w in zip(x.dims, ways)]
        self.place(p, dims, self.combiners(x.dtype))
        name = self.name()
        return Value(name, x.dtype, x.dims, p), Value(name, x.dtype, dims)

    def result(self, x):
        """What a local value is as a result; NULL if it is too large."""
        axes = self.shuffled()
        met = axes[:self.random.choice([0, 0, 1, len(axes)])]
        if not x.dims:
            met = axes
        if met:
            x = self.meet(x, met)
        p, ways = self.spec(x.dims, axes[len(met):], True)
        dims = [d * w for d, w in zip(x.dims, ways)]
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        self.place(p, x.dims, self.combiners(x.dtype))
        return x.name, Value("", x.dtype, dims, p)

    # ---- the function and its call

    def make_local_ops(self, wanted):
        for _ in range(wanted):
            ops = self.COLLECTIVES if self.chance(0.5) else self.LOCAL
            if self.automatic and self.chance(0.4):
                ops = self.PLACING + [ManualOps.op_nested] * len(self.PLACING)
            if self.chance(0.2):
                ops = list(ControlOps.WEIGHTS)
            self.random.choice(ops)(self)

    def device_body(self, params):
        """(lines, names and whole values of the results)."""
        values, statements = self.values, self.program.statements
        vars_, depth = self.vars, self.depth
        self.values, self.program.statements = params, []
        self.vars, self.depth = [], 0
        self.make_local_ops(self.random.randint(1, 5))
        ends = self.random.sample(self.values, min(2, len(self.values)))
        results = [self.result(x) for x in ends]
        lines = ["  " + line for s in self.program.statements
                 for line in s.lines(str)]
        self.values, self.program.statements = values, statements
        self.vars, self.depth = vars_, depth
        return lines, [r for r in results if r]

    def op_manual(self):
        if self.local:
            return None
        self.meeting = []
        axes = list(self.program.mesh)
        if self.chance(0.5):
            axes = self.some_of(axes)
        return self.manual_call(axes, len(axes) < len(self.program.mesh) or
                                self.chance(0.3))

    def op_nested(self):
        if not self.automatic:
            return None
        return self.manual_call(self.some_of(self.automatic), True)

    def manual_call(self, axes, named):
        """One along these axes, and those that its callers are manual along."""
        args = [self.pick() for _ in range(self.random.randint(1, 3))]
        known = list(self.program.functions)
        before = self.local, self.manual, self.meeting, self.automatic
        self.local, self.manual = True, axes
        self.meeting = self.meeting + axes
        self.automatic = [a for a in self.program.mesh if a not in self.meeting]
        params = [self.shard(x) for x in args]
        lines, results = self.device_body([local for _, local in params])
        self.local, self.manual, self.meeting, self.automatic = before
        if not results:     # and nobody calls what was called in it
            self.program.functions = [f for f in self.program.functions
                                      if f in known or f[:6] != "manual"]
            return None
        name = "manual%d" % (len(self.program.functions) + 1)
        some = "(%s)" % ", ".join(n for n, _ in axes) if named else ""
        head = "manual%s fn %s(%s)\n    -> (%s) {" % (
            some, name, ", ".join("%s: %s" % (w.name, w.type()) for w, _ in params),
            ", ".join("r%d: %s" % (i, v.type())
                      for i, (_, v) in enumerate(results)))
        self.program.functions.append("\n".join([head] + lines + [
            "  return %s;" % ", ".join(n for n, _ in results), "}", ""]))
        made = [Value(self.name(), v.dtype, v.dims) for _, v in results]
        return self.let(made, "%s(%s)" % (
            name, ", ".join(x.name for x in args)))

    WEIGHTS = {op_manual: 1.5}
