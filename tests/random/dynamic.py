"""Ops of random programs whose indices are known only at run time, orders,
and random numbers: a part of generate.py's Generator."""
import math

from program import (FLOATS, INDICES, INTEGERS, MOST_ELEMENTS, MOST_RANK, MOST_TERMS,
                     Placement, Value)

LARGEST = {"i4": 7, "u4": 15, "i8": 127, "u8": 255}  # trips that each can count


class DynamicOps:
    def scalar(self, kinds):
        """The name of a scalar, preferably one that differs in each trip."""
        fits = [x for x in self.values if x.dtype in kinds and not x.dims]
        if fits and self.chance(0.8):
            return self.random.choice(fits[-3:]).name
        return self.pick(kinds, dims=[]).name

    def element(self, x):
        """One of a tensor's, here and there looked up by another scalar."""
        words = [self.scalar(["i32"]) if self.chance(0.2) else
                 str(self.random.randrange(size)) for size in x.dims]
        return "%s[%s]" % (x.name, ", ".join(words))

    def index(self, n=1):
        """An integer scalar as text; it may lie outside of any dim."""
        kinds = ["i32"] if self.chance(0.8) else \
            [k for k in INDICES if n <= LARGEST.get(k, n)]
        x = self.element(self.pick(kinds, rank=1)) if self.chance(0.3) else \
            self.scalar(kinds)
        return self.random.choice(["%s", "%s", "%s", "%s + 1", "2 * %s",
                                   "%s - 1", "%s % 3"]).replace("%s", x)

    def run_time_part(self, dims):
        """What stands in the brackets, and the dims that it leaves."""
        words, left = [], []
        at = self.random.randrange(len(dims))
        for d, size in enumerate(dims):
            if d == at or self.chance(0.15):
                if self.chance(0.5):
                    words.append(self.index())
                    continue
                n = self.random.randint(1, size)
                i = self.index(n)
                words.append("%s:%s + %d" % (i, i, n))
                left.append(n)
            elif self.chance(0.15) and size > 1:
                low = self.random.randrange(size)
                high = self.random.randint(low + 1, size)
                words.append("%d:%d" % (low, high))
                left.append(high - low)
            else:
                words.append(":")
                left.append(size)
        while words[-1] == ":" and self.chance(0.6):
            words.pop()
        return ", ".join(words), left

    def pick_split(self):
        """Often placed right here: then what is read or written is split."""
        x = self.pick(rank=1)
        return self.placed(x) if self.chance(0.5) else x

    def op_index(self):
        x = self.pick_split()
        text, dims = self.run_time_part(x.dims)
        return self.add("%s[%s]" % (x.name, text), [x], x.dtype, dims)

    def starts(self, x):
        words = [self.index() if self.chance(0.6) else
                 str(self.random.randint(0, 3)) for _ in x.dims]
        return "(%s%s)" % (", ".join(words), "," if len(words) == 1 else "")

    def sizes_within(self, x):
        return [s if self.chance(0.5) else self.random.randint(1, s)
                for s in x.dims]

    def op_dynamic_slice(self):
        x = self.pick_split()
        sizes = self.sizes_within(x)
        words = ", ".join(map(str, sizes)) + ("," if len(sizes) == 1 else "")
        return self.add("dynamic_slice(%s, start=%s, size=(%s))" % (
            x.name, self.starts(x), words), [x], x.dtype, sizes)

    def op_dynamic_update(self):
        x = self.pick_split()
        y = self.pick([x.dtype], dims=self.sizes_within(x))
        return self.add("dynamic_update_slice(%s, %s, start=%s)" % (
            x.name, y.name, self.starts(x)), [x, y], x.dtype, x.dims)

    def op_scatter_add(self):
        x = self.pick(FLOATS + INTEGERS, rank=1)
        d, text = self.dim(x)
        idx = self.pick(["i32"] if self.chance(0.7) else INDICES)
        dims = x.dims[:d] + idx.dims + x.dims[d + 1:]
        if len(dims) > MOST_RANK or math.prod(dims) > MOST_ELEMENTS:
            return None
        updates = self.literal(x.dtype)
        operands = [x, idx]
        if self.chance(0.85):
            operands.append(self.pick([x.dtype], dims=dims))
            updates = operands[-1].name
        return self.add("scatter_add(%s, %s, %s, dim=%d)" % (
            x.name, idx.name, updates, text), operands, x.dtype, x.dims)

    def op_picked_product(self):
        """A product with one of many matrices."""
        x = self.pick(FLOATS + INTEGERS, rank=1)
        w = self.pick([x.dtype], dims=[self.size(5), x.dims[-1], self.size(8)])
        dims = x.dims[:-1] + w.dims[-1:]
        if math.prod(dims) * x.dims[-1] > MOST_TERMS or \
                math.prod(dims) > MOST_ELEMENTS:
            return None
        i = self.element(self.pick(["i32"], rank=1)) if self.chance(0.5) else \
            self.index()
        return self.add("matmul(%s, %s[%s, :, :])" % (x.name, w.name, i),
                        [x, w], x.dtype, dims)

    def op_sort(self):
        x = self.pick(FLOATS + INTEGERS, rank=1)
        name, dtype = self.random.choice([("sort", x.dtype), ("sort", x.dtype),
                                          ("argsort", "i32")])
        text = "" if self.chance(0.3) else ", dim=%d" % self.dim(x)[1]
        return self.add("%s(%s%s)" % (name, x.name, text), [x], dtype, x.dims)

    def op_top_k(self):
        x = self.pick(FLOATS + INTEGERS, rank=1)
        k = self.random.randint(1, x.dims[-1])
        dims = x.dims[:-1] + [k]
        return self.let([Value(self.name(), x.dtype, dims),
                         Value(self.name(), "i32", dims)],
                        "top_k(%s, %d)" % (x.name, k))

    def op_random(self):
        dtype, dims = self.dtype(FLOATS), self.shape(self.random.randint(0, 3))
        p = self.placement(dims) if self.chance(0.5) else Placement(len(dims))
        seed = str(self.random.randint(0, 9)) if self.chance(0.6) else \
            self.scalar(["i32", "u32"])
        return self.add("random.%s(%s, %s)" % (
            self.random.choice(["uniform", "normal"]),
            Value("", dtype, dims, p).type(), seed), [], dtype, dims)

    WEIGHTS = {
        op_index: 2, op_dynamic_slice: 1, op_dynamic_update: 1.5,
        op_scatter_add: 1.5, op_picked_product: 2,
        op_sort: 1.5, op_top_k: 0.7, op_random: 0.7}
