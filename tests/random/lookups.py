"""Random training steps whose microbatches look rows of a table up.

The gradient of what is looked up in a loop is a scatter_add, or a slice that is added to,
in another loop, to a sum over its trips; where indices or what is done with the rows are
split, that sum is of parts, and is combined after the loop.  A program draws the mesh, where
table, indices and the rest are, how the loop is written, and what a trip does; some indices
are equal, some outside.  On whole numbers all of it is exact in f64.
"""
import random

MESHES = [{"X": 2}, {"X": 2}, {"X": 4}, {"X": 3}, {"X": 2, "Y": 2}, {"X": 2, "Y": 2},
          {"X": 4, "Y": 2}, {"X": 2, "Y": 3}, {"X": 2, "Y": 2, "Z": 2}]
# What a microbatch does to the sum of gradients.
ADDED = ["g + %(x)s"] * 4 + ["where(%(start)s < 3, g + %(x)s, g)", "g + (%(x)s - g) / 2.0",
                             "where(%(start)s < 3, g, g * 2.0 + %(x)s) - %(x)s"]
PLAIN = ["%s", "%s", "square(%s)", "relu(%s - 20.0)", "abs(%s) * 2.0", "(%s + 1.0)"]


class Lookups:
    def __init__(self, seed, index):
        self.draw = draw = random.Random("lookups %s/%s" % (seed, index))
        self.mesh = draw.choice(MESHES)
        self.dtype = draw.choice(["f64", "f64", "f64", "f32"])
        self.trips = draw.choice([1, 2, 2, 3, 3, 4])
        self.batch = draw.choice([4, 6, 8, 12])
        self.rows = draw.choice([4, 6, 8, 12, 7, 9])
        self.columns = draw.choice([2, 4, 6, 8, 5])
        self.groups = draw.choice([0, 0, 0, 2, 4])
        self.dim = draw.randrange(2) + (1 if self.groups else 0)
        self.names = 0
        self.functions = []
        axes = list(self.mesh)
        draw.shuffle(axes)
        # of the batch: what is looked up, and what becomes of it
        self.data = axes[:draw.choice([0, 1, 1, 1, 1, 1, 1, 2])]

    def fresh(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    # ---- types

    def table_dims(self):
        dims = [self.rows, self.columns]
        if self.dim - (1 if self.groups else 0):
            dims.reverse()
        return ([self.groups] if self.groups else []) + dims

    def typed(self, dtype, dims, at):
        """`at`: {dim: axes}"""
        words = []
        for d, n in enumerate(dims):
            axes = at.get(d, [])
            ways = 1
            for a in axes:
                ways *= self.mesh[a]
            where = "@" + axes[0] if len(axes) == 1 else "@(%s)" % ",".join(axes) if axes else ""
            words.append("%d%s%s" % (n, where, " pad" if n % ways else ""))
        return "%s[%s]" % (dtype, ", ".join(words))

    def somewhere(self, dims, most=0.5):
        at = {}
        for axis in self.mesh:
            if self.draw.random() < most:
                at.setdefault(self.draw.randrange(len(dims)), []).append(axis)
        return at

    def along_batch(self, dims, which):
        """As the batch is, or (now and then) elsewhere."""
        if self.draw.random() < 0.15:
            return self.somewhere(dims, 0.3)
        return {which: self.data} if self.data else {}

    # ---- a trip

    def result_dims(self):
        dims = self.table_dims()
        return dims[:self.dim] + [self.batch] + dims[self.dim + 1:]

    def spoiled(self, ids):
        """Indices, some of them equal, some outside."""
        times, low = self.draw.choice([1, 1, 2, 3]), self.draw.choice([0, 0, 1, 3])
        end = self.rows + low + self.draw.choice([0, 0, 2])
        return self.draw.choice([ids, "%s * %d %% %d - %d" % (ids, times, end, low)])

    def taken(self, table, ids):
        return "take(%s, %s, dim=%d)" % (table, self.spoiled(ids), self.dim)

    def sliced(self, table, start):
        """A few rows from a start that the run decides, spread over the batch."""
        dims = self.table_dims()
        size = dims[:self.dim] + [self.draw.randint(1, self.rows)] + dims[self.dim + 1:]
        starts = ["i32(0)"] * len(dims)
        starts[self.dim] = self.spoiled(start)
        part = "dynamic_slice(%s, start=(%s), size=(%s))" % (table, ", ".join(starts), words(size))
        return "broadcast(sum(%s, dim=%d, keep=true), [%s])" % (
            part, self.dim, words(self.result_dims()))

    def row(self, table, trip):
        """That of the trip's number, spread over the batch."""
        at = [":"] * self.dim + [trip, "new"]
        return "broadcast(%s[%s], [%s])" % (table, ", ".join(at), words(self.result_dims()))

    def term(self, x, t):
        x = self.draw.choice(PLAIN) % x
        if self.draw.random() < 0.3:
            letters = "abc"[:len(self.result_dims())]
            return 'sum(einsum("%s,%s->%s", %s, %s))' % (
                letters, letters, letters[self.dim], x, t)
        return "sum(%s * %s)" % (x, t)

    def tied(self, table, t):
        """The table in a product, too, as where what reads it and what is said with it are
        the same."""
        a = "abc"[:len(self.table_dims())]
        b = a[:self.dim] + "z" + a[self.dim + 1:]
        return 'sum(einsum("%s,%s->%sz", %s, %s))' % (a, b, a[self.dim], table, t)

    def trip(self, total, table, ids, t, start, trip, indent):
        """Statements that add to the total what one trip looks up."""
        def looked_up(ids=ids, start=start):
            ways = [self.taken(table, ids)] * 3 + [self.sliced(table, start)]
            return self.draw.choice(ways + ([self.row(table, trip)] if trip else []))

        pad = "  " * indent
        which = self.draw.randrange(8)
        add = "%s%s = %s + %s;" % (pad, total, total, "%s")
        if which == 0:          # twice
            return [add % self.term(looked_up(), t), add % self.term(looked_up(), t)]
        if which == 1:          # in a function, computed once more or not
            return [add % ("%s(%s, %s, %s, %s)" % (self.helper(), table, ids, t, start))]
        if which == 2:          # in a loop of its own
            j, n = self.fresh("j"), self.draw.randint(1, 3)
            again = looked_up("(%s + %s)" % (ids, j), "(%s + %s)" % (start, j))
            return ["%sfor %s in 0..%d {" % (pad, j, n), "  " + add % self.term(again, t),
                    pad + "}"]
        if which == 3:          # on a side
            return ["%sif %s < %d {" % (pad, start, self.draw.randint(1, 4)),
                    "  " + add % self.term(looked_up(), t), pad + "} else {",
                    "  " + add % (self.term(looked_up(), t) if self.draw.random() < 0.5
                                  else "1.0"), pad + "}"]
        if which == 4:
            return [add % self.term(looked_up(), t), add % self.tied(table, t)]
        if which == 5:          # one to the others
            x = self.fresh("x")
            return ["%slet %s = %s + %s;" % (pad, x, looked_up(), looked_up()),
                    add % self.term(x, t)]
        return [add % self.term(looked_up(), t)]

    def helper(self):
        name = self.fresh("h")
        kind = self.draw.choice(["fn", "checkpoint fn", "checkpoint fn"])
        x = self.draw.choice([self.taken("T", "ids"), self.taken("T", "ids"),
                              self.sliced("T", "s")])
        if kind != "fn" and self.draw.random() < 0.3:
            x = "save(%s)" % x
        self.functions.append("%s %s(T, ids, t, s) { return %s; }\n" % (
            kind, name, self.term(x, "t")))
        return name

    def loop(self, ids, t, start, body, indent):
        """`body(ids, t, start, trip, indent)` for each microbatch."""
        pad, i = "  " * indent, self.fresh("i")
        if self.draw.random() < 0.5:
            a, b, c = self.fresh("a"), self.fresh("b"), self.fresh("c")
            return ["%sfor (%s, %s, %s) in (%s, %s, %s) {" % (pad, a, b, c, ids, t, start),
                    *body(a, b, c, None, indent + 1), pad + "}"]
        return ["%sfor %s in 0..%d {" % (pad, i, self.trips),
                *body(*("%s[%s]" % (x, i) for x in (ids, t, start)), i, indent + 1), pad + "}"]

    # ---- the whole

    def loss(self, name, inside):
        """A function of T, ids, t and starts: with the loop in it, or of one microbatch."""
        def body(ids, t, start, trip, indent):
            return self.trip("total", "T", ids, t, start, trip, indent)
        lines = ["  var total = %s(0);" % self.dtype]
        lines += self.loop("ids", "t", "s", body, 1) if inside else body("ids", "t", "s", None, 1)
        more = [self.trips] if inside else []
        self.functions.append("fn %s(ids: i32[%s], t: %s[%s], s: i32[%s], T: %s[%s]) -> %s {\n"
                              "%s\n  return total;\n}\n" % (
                                  name, words(more + [self.batch]), self.dtype,
                                  words(more + self.result_dims()), words(more), self.dtype,
                                  words(self.table_dims()), self.dtype, "\n".join(lines)))

    def text(self):
        table = self.table_dims()
        inside = self.draw.random() < 0.5
        self.loss("loss", inside)
        if inside:
            lines = ["  let g = grad(loss, wrt=T)(ids, t, s, T);"]
        else:
            zeros = "zeros(%s)" % self.typed(self.dtype, table, {})
            lines = ["  var g%s = %s;" % (
                ": [%s]" % self.typed("", table, self.somewhere(table, 0.3))[1:-1]
                if self.draw.random() < 0.3 else "", zeros)]
            added = self.draw.choice(ADDED)
            lines += self.loop("ids", "t", "s", lambda a, b, c, _, indent: [
                "%sg = %s;" % ("  " * indent, added % {
                    "x": "grad(loss, wrt=T)(%s, %s, %s, T)" % (a, b, c), "start": c})], 1)
        at = self.somewhere(table, self.draw.choice([0, 0.5, 0.5]))
        home = at if self.draw.random() < 0.6 else self.somewhere(table)
        result = self.draw.choice(["g", "g", "T - g * 2.0"])
        params = [
            "ids: " + self.typed("i32", [self.trips, self.batch],
                                 self.along_batch([self.trips, self.batch], 1)),
            "t: " + self.typed(self.dtype, [self.trips] + self.result_dims(),
                               self.along_batch([self.trips] + self.result_dims(),
                                                self.dim + 1)),
            "s: i32[%d]" % self.trips, "T: " + self.typed(self.dtype, table, at)]
        return "mesh [%s];\n%sfn main(%s)\n    -> (g: %s) {\n%s\n  return %s;\n}\n" % (
            ", ".join("%s=%d" % item for item in self.mesh.items()), "".join(self.functions),
            ", ".join(params), self.typed(self.dtype, table, home), "\n".join(lines), result)


def words(dims):
    return ", ".join(map(str, dims))
