"""Reads .shd text into Python tuples, for reference.py.

Written from the language reference alone, and lenient: programs that come
here have been accepted by the compiler.

    expression  ("number", n) ("string", s) ("name", n) ("tuple", items)
                ("call", name, arguments, {name: argument})
                ("index", base, items) ("one", sign, a) ("two", sign, a, b)
                ("type", dtype or None, dims)
    index item  an expression, ("slice", a, b, step), ("new",), ("dots",)
    dim         (size or None, [axis, ...]) of what is written at @
    statement   ("let", targets, expression) ("assign", target, expression)
                ("for", unrolled, targets, low or tensors, high or None, body)
                ("while", condition, body) ("if", condition, body, other)
                ("return", [expression, ...])
"""
import re

DTYPES = {"f8e5m2", "f8e4m3", "f8e3m4", "f8e4m3fn", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3b11fnuz", "bf16", "f16", "f32", "f64", "i4", "u4", "i8", "i16", "i32", "i64", "u8", "u16", "u32",
          "u64", "pred"}
TOKEN = re.compile(r"""(?:\s|//[^\n]*|/\*.*?\*/)*(?:
    (?P<number>\d[\d_]*\.\d+(?:[eE][+-]?\d+)?|\d[\d_]*[eE][+-]?\d+|\d[\d_]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<sign>\.\.\.|\.\.|->|<=|>=|==|!=|&&|\|\||[-+*/%<>!=@?:;,.(){}\[\]])
  | (?P<end>\Z))""", re.X | re.S)
LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"],
          ["*", "/", "%"]]


class Function:
    """mode: None, "explicit", "manual" or "extern"; axes: of manual(X, Y)."""

    def __init__(self, mode, axes, name, params, results):
        self.mode, self.axes, self.name = mode, axes, name
        self.params, self.results = params, results     # (name, type or None)
        self.body, self.symbol = [], None


class Reader:
    def __init__(self, text):
        self.tokens, at = [], 0
        while not self.tokens or self.tokens[-1][0] != "end":
            m = TOKEN.match(text, at)
            if not m:
                raise SyntaxError(text[at:at + 20])
            self.tokens.append((m.lastgroup, m.group(m.lastgroup)))
            at = m.end()
        self.at = 0
        self.mesh, self.dims, self.types, self.functions = {}, [], {}, {}
        self.imports = []

    # ---- tokens

    def peek(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, *words):
        if self.tokens[self.at][0] != "string" and self.peek() in words:
            return self.next()
        return None

    def want(self, word):
        if self.next() != word:
            raise SyntaxError("%s, not %s" % (word, " ".join(
                t for _, t in self.tokens[self.at - 1:self.at + 6])))

    def several(self, one, end, separator=","):
        """What one() reads, up to `end`; a separator may stand before it."""
        found = []
        while not self.accept(end):
            found.append(one())
            if not self.accept(separator):
                self.want(end)
                break
        return found

    # ---- expressions

    def expression(self, level=0):
        if level == len(LEVELS):
            return self.signed()
        a = self.expression(level + 1)
        while True:
            sign = self.accept(*LEVELS[level])
            if not sign:
                return a
            a = ("two", sign, a, self.expression(level + 1))

    def signed(self):
        sign = self.accept("-", "!")
        if sign:
            return ("one", sign, self.signed())
        return self.indexed(self.primary())

    def indexed(self, a):
        while self.accept("["):
            a = ("index", a, self.several(self.index_item, "]"))
        return a

    def index_item(self):
        if self.accept("..."):
            return ("dots",)
        if self.peek() == "new" and self.peek(1) in ",]":
            self.next()
            return ("new",)
        parts = [None, None, None]
        for i in range(3):
            if self.peek() not in (":", ",", "]"):
                parts[i] = self.expression()
            if not self.accept(":"):
                return ("slice", *parts) if i else parts[0]
        return ("slice", *parts)

    def primary(self):
        kind, text = self.tokens[self.at]
        if kind == "number":
            self.next()
            text = text.replace("_", "")
            return ("number", int(text) if text.isdigit() else float(text))
        if kind == "string":
            self.next()
            return ("string", text[1:-1])
        if self.accept("("):
            a = self.expression()
            if self.accept(")"):
                return a
            self.want(",")
            return ("tuple", [a] + self.several(self.expression, ")"))
        if text == "[" or text in DTYPES and self.peek(1) != "(":
            return self.type()
        return self.named()

    def named(self):
        name = self.next()
        if name in ("true", "false", "inf", "nan"):
            return ("number", {"true": True, "false": False}.get(name) if
                    name in ("true", "false") else float(name))
        while self.peek() == "." and self.peek(2) == "(":
            self.next()
            name += "." + self.next()
        if not self.accept("("):
            return ("name", name)
        args, named = [], {}
        for key, value in self.several(self.argument, ")"):
            if key:
                named[key] = value
            else:
                args.append(value)
        return ("call", name, args, named)

    def argument(self):
        if self.peek(1) == "=" and self.tokens[self.at][0] == "word":
            key = self.next()
            self.next()
            return key, self.expression()
        return None, self.expression()

    # ---- types

    def axis(self):
        if self.accept("?"):
            return None
        name = self.next()
        if not self.accept(":"):
            return name
        self.want("(")
        self.next()
        self.want(")")
        self.next()
        return name + ":"       # a part; never in what is manual

    def dim(self):
        size, axes = self.expression(), []
        if self.accept("@"):
            axes = self.several(self.axis, ")") if self.accept("(") else \
                [self.axis()]
        if self.accept("!"):
            self.next()
        self.accept("pad")
        return None if size == ("name", "_") else size, [a for a in axes if a]

    def type(self):
        """A type, a list of dims, or the name of a type."""
        dtype = self.next() if self.peek() in DTYPES else None
        if not dtype and self.peek() != "[":
            found = ("name", self.next())
        else:
            dims = self.several(self.dim, "]") if self.accept("[") else []
            found = ("type", dtype, dims)
        if self.peek() == "@" and self.peek(1) == "?":
            self.at += 2
        while self.accept("replicated", "unreduced"):
            if self.accept("("):
                self.several(self.axis, ")")
        return found

    # ---- statements

    def target(self):
        if self.accept("("):
            return self.several(self.target, ")")
        name = self.next()
        if self.accept(":"):
            self.type()
        return name

    def body(self):
        self.want("{")
        statements = []
        while not self.accept("}"):
            s = self.statement()
            if s:
                statements.append(s)
        return statements

    def statement(self):
        word = self.peek()
        if word in ("for", "while", "if"):
            self.next()
            return getattr(self, word + "_statement")()
        if word == "expect":
            while not self.accept(";"):
                self.next()
            return None
        if word in ("let", "var"):
            self.next()
            left = self.target()
        elif word == "return":
            self.next()
            return ("return", self.several(self.expression, ";"))
        else:
            left = self.indexed(("name", self.next()))
        self.want("=")
        right = self.expression()
        self.want(";")
        return ("let" if word in ("let", "var") else "assign", left, right)

    def for_statement(self):
        unrolled = bool(self.accept("unroll"))
        targets = [self.target()]
        while self.accept(","):
            targets.append(self.target())
        self.want("in")
        low, high = self.expression(), None
        if self.accept(".."):
            high = self.expression()
        return ("for", unrolled, targets, low, high, self.body())

    def while_statement(self):
        return ("while", self.expression(), self.body())

    def if_statement(self):
        condition, body, other = self.expression(), self.body(), []
        if self.accept("else"):
            other = [self.if_statement()] if self.accept("if") else self.body()
        return ("if", condition, body, other)

    # ---- declarations

    def parameter(self):
        name = self.next()
        return name, self.type() if self.accept(":") else None

    def result(self):
        if self.peek(1) == ":":
            return self.parameter()
        return None, self.type()

    def function(self, mode):
        axes = None
        if mode == "manual" and self.accept("("):
            axes = self.several(self.axis, ")")
        self.want("fn")
        name = self.next()
        self.want("(")
        params, results = self.several(self.parameter, ")"), []
        if self.accept("->"):
            results = self.several(self.result, ")") if self.accept("(") \
                else [self.result()]
        if self.accept("same"):     # what it is the same as is of no use here
            self.want("as")
            self.next()
        f = Function(mode, axes, name, params, results)
        self.functions[name] = f
        if mode == "extern":
            self.want("=")
            f.symbol = self.next()[1:-1]
            while not self.accept(";"):
                self.next()
        else:
            f.body = self.body()

    def declared(self):
        name = self.next()
        self.want("=")
        return name, self.expression()

    def mesh_declaration(self):
        self.want("[")
        for name, size in self.several(self.declared, "]"):
            self.mesh[name] = size
        if self.accept("on"):
            self.next()
        self.want(";")

    def program(self):
        while self.tokens[self.at][0] != "end":
            word = self.next()
            if word == "mesh":
                self.mesh_declaration()
            elif word == "dim":
                self.dims += self.several(self.declared, ";")
            elif word == "type":
                name = self.next()
                self.want("=")
                self.types[name] = self.type()
                self.want(";")
            elif word == "import":
                self.imports.append(self.next()[1:-1])
                self.want(";")
            elif word == "fn":
                self.at -= 1
                self.function(None)
            else:
                self.function(word)
        return self


def read_program(text):
    return Reader(text).program()
