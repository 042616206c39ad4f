"""A program as parameters and statements, printed as .shd text.

Kept apart from its text so that it can be made smaller (shrink.py): each
statement knows the types of its results, so that a statement can become a
parameter, and its uses by name.
"""
import re

BYTES = ["f8e5m2", "f8e4m3", "f8e3m4", "f8e4m3fn", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3b11fnuz"]
NARROW = ["bf16", "f16"] + BYTES
FLOATS = 6 * ["f32", "bf16", "f16", "f64"] + BYTES     # as often as they are chosen
INDICES = ["i32", "i64", "i8", "u8", "u32", "i16", "u16", "i4", "u4"]
INTEGERS = INDICES + ["u64"]
MOST_ELEMENTS = 1536
MOST_TERMS = 20000
MOST_RANK = 5
NAME = re.compile(r"\bv\d+\b")


class Placement:
    """What stands at the dims of a type, and after it."""

    def __init__(self, rank):
        self.axes = [[] for _ in range(rank)]
        self.open = [False] * rank
        self.priority = [None] * rank
        self.pad = [False] * rank       # its axes do not divide it
        self.all_open = False           # @? after the type
        self.whole = False              # replicated along every other axis
        self.replicated = []
        self.unreduced = []
        self.combiner = "add"

    def dim_text(self, d, size):
        words = self.axes[d] + (["?"] if self.open[d] else [])
        text = str(size)
        if len(words) > 1:
            text += "@(%s)" % ", ".join(words)
        elif words:
            text += "@" + words[0]
        if self.priority[d] is not None:
            text += "!%d" % self.priority[d]
        return text + " pad" if self.pad[d] else text

    def dims_text(self, dims):
        return "[%s]" % ", ".join(map(self.dim_text, range(len(dims)), dims))

    def tail(self):
        text = " @?" if self.all_open else ""
        if self.whole:
            text += " replicated"
        if self.replicated:
            text += " replicated(%s)" % ", ".join(self.replicated)
        if self.unreduced:
            text += " unreduced(%s%s)" % (
                ", ".join(self.unreduced),
                "" if self.combiner == "add" else ", " + self.combiner)
        return text


class Value:
    def __init__(self, name, dtype, dims, placement=None):
        self.name, self.dtype, self.dims = name, dtype, list(dims)
        self.placement = placement

    def type(self, sizes=str):
        dims = [sizes(d) for d in self.dims]
        p = self.placement or Placement(len(dims))
        if not dims:
            return self.dtype + p.tail()
        return self.dtype + p.dims_text(dims) + p.tail()


class Statement:
    """let VALUES = TEXT;"""

    def __init__(self, values, text, uses):
        self.values, self.text, self.uses = values, text, uses
        self.inline = False

    def target(self, x):
        if x.placement is None:
            return x.name
        if x.dims:
            return "%s: %s%s" % (x.name, x.placement.dims_text(x.dims),
                                 x.placement.tail())
        return "%s: %s%s" % (x.name, x.dtype, x.placement.tail())

    def lines(self, rewrite):
        left = ", ".join(map(self.target, self.values))
        if len(self.values) > 1:
            left = "(%s)" % left
        return ["let %s = %s;" % (left, rewrite(self.text))]

    def known(self):
        """The values that it and what is in it name."""
        return self.values

    def walk(self):
        yield self

    def change(self, function):
        """Its texts, and those in it, become function(text)."""
        self.text = function(self.text)
        self.uses = [function(n) for n in self.uses]


class Assign(Statement):
    """TARGET = TEXT; where the target is a var or a part of one."""

    def __init__(self, left, text, fixed=False):
        Statement.__init__(self, [], text, [])
        self.left = left
        self.fixed = fixed      # without it the loop would not end

    def lines(self, rewrite):
        return ["%s = %s;" % (rewrite(self.left), rewrite(self.text))]

    def change(self, function):
        self.left, self.text = function(self.left), function(self.text)


class Block(Statement):
    """Vars, and the loop or the branches that assign them.

    bodies: (what stands before the brace, statements); None before it when
    there is no brace.  variables: what a loop binds anew for each trip.
    """

    def __init__(self, values, inits, bodies, variables=()):
        self.values, self.inits, self.bodies = values, inits, bodies
        self.variables = list(variables)
        self.text, self.inline = None, False

    def lines(self, rewrite):
        lines = ["var %s = %s;" % (self.target(x), rewrite(init))
                 for x, init in zip(self.values, self.inits)]
        closing = ""
        for head, body in self.bodies:
            inside = [line for s in body for line in s.lines(rewrite)]
            if head is None:
                lines += inside
                continue
            lines.append("%s%s {" % (closing, rewrite(head)))
            lines += ["  " + line for line in inside]
            closing = "} "
        return lines + [closing.strip()] if closing else lines

    def known(self):
        return self.values + self.variables

    def walk(self):
        yield self
        for _, body in self.bodies:
            for s in body:
                yield from s.walk()

    @property
    def uses(self):
        names = [n for line in self.lines(str) for n in NAME.findall(line)]
        own = {x.name for s in self.walk() for x in s.known()}
        return [n for n in dict.fromkeys(names) if n not in own]

    def change(self, function):
        self.inits = list(map(function, self.inits))
        self.bodies = [(head and function(head), body)
                       for head, body in self.bodies]
        for _, body in self.bodies:
            for s in body:
                s.change(function)


class Program:
    def __init__(self, mesh):
        self.mesh = mesh
        self.params, self.statements = [], []
        self.results, self.result_names = [], []
        self.functions = []     # of their own, as text
        self.externs = {}       # declarations, by name
        self.typed_results = False
        self.helper = None      # (first, end, how its parameters are typed)
        self.named_dims = False
        self.named_types = False

    # ---- shape

    def drop_unused(self):
        used = {r.name for r in self.results}
        for s in self.statements:
            used.update(s.uses)
        self.params = [p for p in self.params if p.name in used]

    def use_counts(self):
        counts = {}
        for s in self.statements:
            for line in s.lines(str) if s.text is None else [s.text]:
                for name in NAME.findall(line):
                    counts[name] = counts.get(name, 0) + 1
        for r in self.results:
            counts[r.name] = counts.get(r.name, 0) + 2
        return counts

    def walk(self):
        """Every statement, also in loops and branches."""
        for s in self.statements:
            yield from s.walk()

    # ---- text

    def size_word(self, size):
        return "N%d" % size if self.named_dims and int(size) > 2 else str(size)

    def inlined(self):
        """Texts of the lets that are written at their only use instead."""
        counts, texts = self.use_counts(), {}
        edges = set(self.helper[:2]) if self.helper else set()
        for i, s in enumerate(self.statements):
            x = s.values[0]
            alone = len(s.values) == 1 and counts.get(x.name) == 1
            inside = not self.helper
            if s.inline and alone and inside and s.text is not None \
                    and x.placement is None and i not in edges:
                texts[x.name] = "(%s)" % s.text
        # A var changes: what reads it may not move past the change.
        changed = {x.name for s in self.statements if s.text is None
                   for x in s.values}
        return {n: t for n, t in texts.items()
                if not changed & set(NAME.findall(t))}

    def helper_lines(self, rewrite):
        first, end, form = self.helper
        body = self.statements[first:end]
        made = {x.name: x for s in body for x in s.values}
        known = {x.name: x for x in self.params}
        known.update((x.name, x) for s in self.statements for x in s.values)
        free = [n for n in dict.fromkeys(n for s in body for n in s.uses)
                if n not in made]
        later = {n for s in self.statements[end:] for n in s.uses}
        later |= {r.name for r in self.results}
        out = [n for n in made if n in later]
        if not out:
            return None, None
        params, bound = [], {}
        for i, n in enumerate(free):
            x = Value(n, known[n].dtype, known[n].dims)
            if form == "untyped" or form == "mixed" and i % 2:
                params.append(n)
            elif form == "typed":
                params.append("%s: %s" % (n, x.type()))
            else:
                for d in x.dims:
                    bound.setdefault(d, "n%d" % d)
                params.append("%s: %s" % (n, x.type(lambda d: bound[d])))
        lines = ["fn helper(%s) {" % ", ".join(params)]
        for s in body:
            lines += ["  " + line for line in s.lines(rewrite)]
        lines += ["  return %s;" % ", ".join(out), "}", ""]
        left = out[0] if len(out) == 1 else "(%s)" % ", ".join(out)
        return lines, ["let %s = helper(%s);" % (left, ", ".join(free))]

    def result_type(self):
        if not self.typed_results:
            return ""
        words = []
        for r, name in zip(self.results, self.result_names):
            words.append((name + ": " if name else "") + r.type(self.size_word))
        if len(words) == 1 and not self.result_names[0]:
            return " -> " + words[0]
        return " -> (%s)" % ", ".join(words)

    def text(self):
        texts = self.inlined()

        def rewrite(text):
            return NAME.sub(lambda m: rewrite(texts[m.group()])
                            if m.group() in texts else m.group(), text)

        lines = ["mesh [%s];" % ", ".join("%s=%d" % a for a in self.mesh)]
        head = None
        if self.helper:
            head, call = self.helper_lines(rewrite)
        if self.named_dims:
            sizes = sorted({d for x in self.params + self.results
                            for d in x.dims if d > 2})
            if sizes:
                lines.append("dim %s;" % ", ".join(
                    "N%d = %d" % (d, d) for d in sizes))
        lines.append("")
        types = {x.name: x.type(self.size_word) for x in self.params}
        if self.named_types:
            for i, x in enumerate(self.params):
                lines.insert(-1, "type T%d = %s;" % (i, types[x.name]))
                types[x.name] = "T%d" % i
        lines += head or []
        lines += self.functions
        params = ["%s: %s" % (x.name, types[x.name]) for x in self.params]
        lines.append("fn main(%s)%s {" % (",\n        ".join(params),
                                          self.result_type()))
        for i, s in enumerate(self.statements):
            if head and self.helper[0] <= i < self.helper[1]:
                if i == self.helper[0]:
                    lines += ["  " + line for line in call]
            elif s.values[0].name not in texts:
                lines += ["  " + line for line in s.lines(rewrite)]
        lines.append("  return %s;" % ", ".join(r.name for r in self.results))
        lines.append("}")
        text = "\n".join(lines) + "\n"
        return text + "".join(x + "\n" for name, x in
                              self.externs.items() if name + "(" in text)
