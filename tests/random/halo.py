"""Rolls, pads, joins, slices and reverses along dims that are split, whose
results can be split alike: a part of generate.py's Generator."""
import math

from program import MOST_ELEMENTS, Placement, Value


class HaloOps:
    def split(self, dtype, dims, d, axes):
        """A parameter with one dim split over these axes, the others whole."""
        x = Value(self.name(), dtype, dims, Placement(len(dims)))
        x.placement.axes[d] = list(axes)
        self.program.params.append(x)
        self.values.append(x)
        return x

    # Each: text and size of a result that as many ways divide, or None.

    def halo_slice(self, x, d, ways, _):
        step = self.random.choice([1, 1, 1, 2, 3])
        counts = [n for n in range(ways, x.dims[d] + 1, ways)
                  if (n - 1) * step < x.dims[d]]
        if not counts:
            return None
        n = self.random.choice(counts)
        span = (n - 1) * step + 1
        low = self.random.randint(0, x.dims[d] - span)
        words = [":"] * d + ["%d:%d" % (low, low + span)]
        if step > 1:
            words[d] += ":%d" % step
        return "%s[%s]" % (x.name, ", ".join(words)), n

    def halo_pad(self, x, d, ways, _):
        more = ways * self.random.randint(1, 2)
        low = self.random.randint(0, more)
        words = ["(0, 0)"] * len(x.dims)
        words[d] = "(%d, %d)" % (low, more - low)
        value = "true" if x.dtype == "pred" else self.literal(x.dtype)
        return "pad(%s, (%s,), value=%s)" % (
            x.name, ", ".join(words), value), x.dims[d] + more

    def halo_spread(self, x, d, ways, _):
        """Elements apart, so many around them or cut that the result can be split."""
        step, low = self.random.randint(2, 4), self.random.randint(-3, 4)
        size = low + (x.dims[d] - 1) * step + 1
        high = self.random.randint(-2, 1) * ways - size % ways
        if size + high < 1 or x.dims[d] <= max(0, -(low // step)) + max(0, -(high // step)):
            return None
        words = ["(0, 0)"] * len(x.dims)
        words[d] = "(%d, %d, %d)" % (low, high, step - 1)
        value = "true" if x.dtype == "pred" else self.literal(x.dtype)
        return "pad(%s, (%s,), value=%s)" % (x.name, ", ".join(words), value), size + high

    def halo_join(self, x, d, ways, axes):
        dims = list(x.dims)
        dims[d] = ways * self.random.randint(1, 2)
        pair = [x.name, self.split(x.dtype, dims, d, axes).name]
        self.random.shuffle(pair)
        return "concat((%s), dim=%d)" % (
            ", ".join(pair), d), x.dims[d] + dims[d]

    def halo_roll(self, x, d, *_):
        return "roll(%s, %d, dim=%d)" % (
            x.name, self.random.randint(1, 2 * x.dims[d]), d), x.dims[d]

    def halo_flip(self, x, d, *_):
        return "flip(%s, dim=%d)" % (x.name, d), x.dims[d]

    def op_halo(self):
        """One, or several after each other."""
        pieces = [p for p in self.pieces() if p[1] > 1]
        if not pieces:
            return None
        pieces = pieces[:1 if self.chance(0.7) else 2]
        axes = [name for name, _ in pieces]
        ways = math.prod(size for _, size in pieces)
        dims = self.shape(self.random.choice([1, 2, 2, 3]))
        d = self.random.randrange(len(dims))
        dims[d] = ways * self.random.randint(1, max(1, 24 // ways))
        if math.prod(dims) > MOST_ELEMENTS:
            return None
        x = self.split(self.dtype(), dims, d, axes)
        for _ in range(self.random.choice([1, 1, 2, 3])):
            made = self.random.choice([
                self.halo_slice, self.halo_slice, self.halo_pad, self.halo_spread,
                self.halo_join, self.halo_roll, self.halo_flip])(
                    x, d, ways, axes)
            if made is None:
                continue
            dims = x.dims[:d] + [made[1]] + x.dims[d + 1:]
            if math.prod(dims) > MOST_ELEMENTS:
                break
            x = self.add(made[0], [x], x.dtype, dims)
        return x

    WEIGHTS = {op_halo: 3}
