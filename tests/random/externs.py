"""Calls of C functions in random programs: a part of generate.py's Generator.

The functions are those of tests/externs.c, declared with rules that keep some
dims whole.
"""
import math

from program import MOST_ELEMENTS, MOST_TERMS, Value


class ExternOps:
    def letters(self, rank):
        """A letter for each dim, now and then _: kept whole."""
        return ["_" if self.chance(0.2) else "abcdefgh"[d] for d in range(rank)]

    def declare(self, symbol, params, results, rule):
        """The name of the function, declared once for each rule."""
        name = symbol + "_" + "".join(
            c if c.isalpha() else {"_": "0", ",": "_"}.get(c, "") for c in rule)
        self.program.externs[name] = (
            'extern fn %s(%s) -> (%s)\n  = "%s" in "libtest_externs.so" '
            'rule "%s";' % (name, params, results, symbol, rule))
        return name

    def type_of(self, dtype, n):
        return "%s[%s]" % (dtype, ", ".join("n%d" % i for i in range(n)))

    def op_pointwise_extern(self):
        scale = self.chance(0.6)
        x = self.pick(["f32"] if scale else ["i32"], rank=1)
        rank = len(x.dims)
        dims = "".join(self.letters(rank))
        type_ = self.type_of(x.dtype, rank)
        if not scale:
            name = self.declare("halvings", "x: " + type_, type_,
                                "%s->%s" % (dims, dims))
            return self.add("%s(%s)" % (name, x.name), [x], "i32", x.dims)
        name = self.declare("scaled", "x: %s, by: f32" % type_, type_,
                            "%s,->%s" % (dims, dims))
        by = self.scalar(["f32"]) if self.chance(0.5) else "0.5"
        return self.add("%s(%s, %s)" % (name, x.name, by), [x], "f32", x.dims)

    def op_product_extern(self):
        dtype = self.random.choice(["f32", "i32"])
        x = self.pick([dtype], dims=[self.size(), self.size(12)])
        y = self.pick([dtype], dims=[x.dims[1], self.size(12)])
        dims = [x.dims[0], y.dims[1]]
        if math.prod(dims) > MOST_ELEMENTS or \
                math.prod(dims) * x.dims[1] > MOST_TERMS:
            return None
        i, k, j = self.letters(3)
        name = self.declare(
            "product" if dtype == "f32" else "integers",
            "x: %s[i, k], y: %s[k, j]" % (dtype, dtype), dtype + "[i, j]",
            "%s%s,%s%s->%s%s" % (i, k, k, j, i, j))
        return self.add("%s(%s, %s)" % (name, x.name, y.name), [x, y], dtype,
                        dims)

    def op_extremes_extern(self):
        x = self.pick(["f32"], dims=[self.size(), self.size()])
        i = self.letters(1)[0]
        name = self.declare("extremes", "x: f32[i, k]",
                            "low: f32[i], high: f32[i]",
                            "%s_->%s,%s" % (i, i, i))
        parts = [Value(self.name(), "f32", x.dims[:1]) for _ in range(2)]
        return self.let(parts, "%s(%s)" % (name, x.name))

    def op_total_extern(self):
        x = self.pick(["f64"], rank=1)
        rank = len(x.dims)
        name = self.declare("total", "x: " + self.type_of("f64", rank), "f64",
                            "%s->" % "".join(self.letters(rank)))
        return self.add("%s(%s)" % (name, x.name), [x], "f64", [])

    WEIGHTS = {op_pointwise_extern: 0.6, op_product_extern: 0.5,
               op_extremes_extern: 0.3, op_total_extern: 0.3}
