"""Products of what is gathered or exchanged, with something element by element between, as they
are done in pieces.  A part of generate.py's Generator."""
import math

from program import FLOATS, INTEGERS, MOST_ELEMENTS, Placement, Value

MOVED = 0.12            # of the programs have some
SIMPLE = ["maximum(%h, %l)", "%h * %l", "abs(%h) + %l", "%h * %b", "%h + %b", "-%h"]


class MovedOps:
    def along(self, dims, axis, d):
        """Placed along the axis alone, or whole."""
        p = Placement(len(dims))
        p.open = [False] * len(dims)
        if d is not None and dims[d] % axis[1] == 0:
            p.axes[d].append(axis[0])
        return p

    def moved(self, x, axis, d):
        y = self.add(x.name, [x], x.dtype, x.dims)
        y.placement = self.along(x.dims, axis, d)
        return y

    def param(self, dtype, dims, placement):
        x = Value(self.name(), dtype, dims, placement)
        self.program.params.append(x)
        self.values.append(x)
        return x

    def between(self, h, axis):
        """One op, along all dims but the last element by element."""
        r = self.random
        kind = r.choice(["simple"] * 4 + ["transpose", "merge", "norm", "cast"])
        if kind == "transpose" and len(h.dims) == 3:
            dims = [h.dims[1], h.dims[0], h.dims[2]]
            return self.add("transpose(%s, (1, 0, 2))" % h.name, [h], h.dtype, dims)
        if kind == "merge" and len(h.dims) == 3:
            dims = [h.dims[0] * h.dims[1], h.dims[2]]
            return self.add("reshape(%s, [%d, %d])" % (h.name, *dims), [h], h.dtype, dims)
        if kind == "norm" and h.dtype == "f32":
            form = r.choice(["softmax(%s)", "rms_norm(%s)"])
            return self.add(form % h.name, [h], h.dtype, h.dims)
        if kind == "cast" and h.dtype in ("f32", "i32"):
            to = {"f32": "bf16", "i32": "i64"}[h.dtype]
            return self.add("%s(%s)" % (to, h.name), [h], to, h.dims)
        form, uses = r.choice(SIMPLE), [h]
        if "%b" in form:
            uses.append(self.param(h.dtype, r.choice([h.dims, h.dims[-1:]]), None))
        return self.add(form.replace("%h", h.name).replace("%b", uses[-1].name).replace(
            "%l", self.literal(h.dtype)), uses, h.dtype, h.dims)

    def op_moved(self):
        r = self.random
        axes = [(name, n) for name, n in self.automatic if n > 1]
        if not axes:
            return
        axis = r.choice(axes)
        rank, k = r.choice([2, 3, 3]), r.choice([2, 4, 6])
        dims = [axis[1] * r.choice([1, 2, 4]) for _ in range(rank - 1)] + [k]
        while math.prod(dims) > MOST_ELEMENTS:
            dims[dims.index(max(dims))] //= 2
        dtype = r.choice([d for d in self.dtypes if d in FLOATS + INTEGERS] + ["i32", "f32"])
        places = [None, *range(rank - 1)]
        x = self.param(dtype, dims, self.along(dims, axis, r.choice(places)))
        h = self.moved(x, axis, r.choice(places))
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            h = self.between(h, axis)
        batch = len(h.dims) == 3 and self.chance(0.5)
        n = axis[1] * r.choice([2, 4])
        wdims = [h.dims[0]] * batch + [h.dims[-1], n]
        if math.prod(h.dims[:-1]) * n > MOST_ELEMENTS or math.prod(wdims) > MOST_ELEMENTS:
            return
        w = self.param(h.dtype, wdims, self.along(wdims, axis, r.choice(
            [None, 0, len(wdims) - 2, len(wdims) - 1])))
        letters = "abk"[-len(h.dims):]
        text = "einsum(\"%s,%skn->%sn\", %s, %s)" % (
            letters, letters[0] * batch, letters[:-1], h.name, w.name)
        y = self.add(text, [h, w], h.dtype, h.dims[:-1] + [n])
        if self.chance(0.4):
            y = self.between(y, axis)
        if self.chance(0.7):
            self.moved(y, axis, r.choice([None, *range(len(y.dims))]))
