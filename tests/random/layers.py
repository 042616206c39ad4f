"""Loops through stacks of weights, as trips are pipelined: each weight is placed anew, so
it may be gathered, sums are only carried on.  A weight may be carried, too.  A part of
generate.py's Generator."""
from program import MOST_ELEMENTS, Assign, Block, Value

LAYERS = 0.12           # of the programs have some
MOST_TRIPS = 9


class LayerOps:
    def layer(self, h, w, sums, i):
        """Statements of a trip."""
        g = self.placed(w) if self.chance(0.8) else w
        if self.chance(0.3):
            self.make_ops(1)
        form = self.random.choice(["%h + %g", "%h - %g", "maximum(%h, %g)", "%h * %l + %g",
                                   "%h + flip(%g, 0)"])
        if len(h.dims) == 2 and h.dims[0] == h.dims[1] and self.chance(0.6):
            form = "matmul(%h, %g)"
        u = self.add(form.replace("%h", h.name).replace("%g", g.name).replace(
            "%l", self.literal(h.dtype)), [h, g], h.dtype, h.dims)
        if self.chance(0.3):
            u = self.placed(u)
        for total, stack in sums:
            e = self.product(self.random.choice([h, u]), self.random.choice([g, u]),
                             total.dims)
            self.program.statements.append(Assign(total.name, "%s + %s" % (
                total.name, e.name)))
            if stack:
                self.program.statements.append(Assign("%s[%s]" % (stack.name, i.name), e.name))
        self.program.statements.append(Assign(h.name, u.name))

    def product(self, a, b, dims):
        """Summed over the first dim, which may be split; mostly placed."""
        text = "einsum(\"a%s,a%s->%s\", %s, %s)" % (
            *(("b", "c", "bc") if len(dims) == 2 else ("", "", "")), a.name, b.name)
        e = self.add(text, [a, b], a.dtype, dims)
        return self.placed(e) if self.chance(0.7) else e

    def weight_of(self, v, stack, i):
        """A weight of what is carried, and what makes the next of it."""
        at = "%s[%s]" % (v.name, i.name) if stack else v.name
        w = self.add(at, [v, i] if stack else [v], v.dtype, v.dims[stack:])
        form = self.random.choice(["flip(%w, 0)", "%w - %l", "maximum(%w, %l)"])
        return w, Assign(at, form.replace("%w", w.name).replace("%l", self.literal(v.dtype)))

    def op_layers(self):
        r = self.random
        trips, rank = r.randint(2, MOST_TRIPS), r.choice([1, 2, 2])
        most = max(1, int((MOST_ELEMENTS // trips) ** (1 / rank)))
        n = self.size(most)
        dims = [n] * rank if self.chance(0.6) else [n] + [self.size(most)] * (rank - 1)
        dtype = self.dtype([d for d in self.dtypes if d != "pred"])
        ws = [self.fresh(dtype, [trips] + dims) for _ in range(r.choice([1, 1, 2]))]
        inits = [self.fresh(dtype, dims).name]
        h, sums = self.a_var(dtype, dims), []
        carried = [h]
        for _ in range(r.choice([0, 1, 1, 2])):
            shape = dims[1:] * 2
            stack = self.chance(0.5)
            sums.append((self.a_var(dtype, shape),
                         self.a_var(dtype, [trips] + shape) if stack else None))
            for y in sums[-1][:1 + stack]:
                carried.append(y)
                inits.append("zeros(%s)" % Value("", dtype, y.dims).type())
        own, stack = None, self.chance(0.6)
        if self.chance(0.4):
            own = self.a_var(dtype, [trips] * stack + dims)
            carried.append(own)
            inits.append(self.fresh(dtype, own.dims).name)
        i = Value(self.name(), "i32", [])
        parts = [Value(self.name(), dtype, dims) for _ in ws]
        p, values, vars_ = self.program, self.values, self.vars
        outside, params = p.statements, len(p.params)
        p.statements = []
        self.values = values + carried + [i] + parts
        self.vars = vars_ + carried
        self.depth += 1
        weights, last = list(parts), []
        if own:
            w, change = self.weight_of(own, stack, i)
            weights.append(w)
            (p.statements if self.chance(0.5) else last).append(change)
        for w in weights:
            self.layer(h, w, sums, i)
            sums = []
        p.statements += last
        made, p.statements = p.statements, outside
        self.values = values + p.params[params:]
        self.vars = vars_
        self.depth -= 1
        names, stacks = (", ".join(x.name for x in xs) for xs in (parts, ws))
        if len(ws) > 1:
            names, stacks = "(%s)" % names, "(%s)" % stacks
        return self.add_block(Block(carried, inits, [
            ("for %s, %s in %s" % (i.name, names, stacks), made)], [i] + parts))
