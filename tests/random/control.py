"""Loops, branches and vars of random programs: a part of generate.py's
Generator.  Every loop ends: what it counts by is assigned nowhere else."""
from program import MOST_ELEMENTS, Assign, Block, Statement, Value

MOST_DEPTH = 2


class ControlOps:
    # ---- what is carried

    def some_vars(self, most=3):
        """Vars with what they start from: (values, texts)."""
        values, inits = [], []
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3])):
            x = self.pick()
            init = x.name
            if x.dtype != "pred" and self.chance(0.15):
                init = "zeros(%s)" % Value("", x.dtype, x.dims).type()
            values.append(self.a_var(x.dtype, x.dims))
            inits.append(init)
        return values[:most], inits[:most]

    def a_var(self, dtype, dims):
        x = Value(self.name(), dtype, dims)
        if self.chance(0.3):
            x.placement = self.placement(x.dims)
        return x

    def new_value_for(self, x):
        """An expression of the type of x."""
        same = [y for y in self.values if y.name != x.name
                and (y.dtype, y.dims) == (x.dtype, x.dims)]
        if not same or self.chance(0.1):
            return self.mixed(x, self.pick())
        y = self.random.choices(same, range(1, len(same) + 1))[0].name
        if x.dtype == "pred":
            form = self.random.choice(["%y", "%x && %y", "%x || !%y"])
        else:
            form = self.random.choice(["%y", "%y", "%x + %y", "%x + %y",
                                       "%x - %y", "maximum(%x, %y)",
                                       "where(%x < %y, %x, %y)",
                                       "%x * %l + %y"])
        return form.replace("%x", x.name).replace("%y", y).replace(
            "%l", self.literal(x.dtype))

    def mixed(self, x, y):
        """x, and one number of another value."""
        how = ["any", "all"] if y.dtype == "pred" else ["sum", "max", "min"]
        number = y.name if not y.dims else "%s(%s)" % (
            self.random.choice(how), y.name)
        if x.dtype == "pred":
            return "%s || pred(%s)" % (x.name, number)
        return "%s + %s(%s)" % (x.name, x.dtype, number)

    def assignment(self, x):
        if x.dims and self.chance(0.3):
            part, dims = self.run_time_part(x.dims)
            text = self.literal(x.dtype) if self.chance(0.2) else \
                self.pick([x.dtype], dims=dims).name
            return Assign("%s[%s]" % (x.name, part), text)
        return Assign(x.name, self.new_value_for(x))

    def op_assign(self):
        if not self.vars:
            return None
        x = self.random.choice(self.vars)
        self.program.statements.append(self.assignment(x))
        return x

    # ---- bodies

    def body(self, variables, carried, more=None):
        """Statements that see the variables and may assign what is carried.

        more(made) adds to them, knowing what values they made.
        """
        p, values, vars_ = self.program, self.values, self.vars
        outside, params = p.statements, len(p.params)
        p.statements = []
        self.values = values + carried + variables
        self.vars = vars_ + carried
        self.depth += 1
        self.make_ops(self.random.randint(1, 3))
        for x in carried:
            if self.chance(0.85) or x is carried[-1]:
                p.statements.append(self.assignment(x))
        if more:
            more([x for s in p.statements for x in s.values])
        made, p.statements = p.statements, outside
        self.values = values + p.params[params:]
        self.vars = vars_
        self.depth -= 1
        return made

    def add_block(self, block):
        self.program.statements.append(block)
        self.values += block.values
        return block.values[0]

    def loop(self, head, variables, trips=None):
        """A loop; with an index and known trips it may fill a tensor."""
        values, inits = self.some_vars()
        sums = []

        def accumulate(made):
            made = [x for x in made if x.dtype != "pred"]
            if made and self.chance(0.35):
                x = self.random.choice(made)
                y = self.a_var(x.dtype, x.dims)
                sums.append((y, "zeros(%s)" % Value("", x.dtype,
                                                    x.dims).type()))
                self.program.statements.append(
                    Assign(y.name, "%s + %s" % (y.name, x.name)))
            if made and trips and self.chance(0.35):
                self.collect(self.random.choice(made), variables[0], trips,
                             sums)

        body = self.body(variables, values, accumulate)
        values += [y for y, _ in sums]
        inits += [init for _, init in sums]
        return self.add_block(Block(values, inits, [(head, body)], variables))

    def collect(self, x, i, trips, sums):
        dims = [trips] + x.dims
        count = trips
        for size in x.dims:
            count *= size
        if count > MOST_ELEMENTS:
            return
        y = self.a_var(x.dtype, dims)
        sums.append((y, "zeros(%s)" % Value("", x.dtype, dims).type()))
        self.program.statements.append(
            Assign("%s[%s]" % (y.name, i.name), x.name))

    def op_for(self):
        if self.depth >= MOST_DEPTH:
            return None
        i = Value(self.name(), "i32", [])
        trips = self.random.choice([0, 1, 2, 2, 3, 3, 4])
        if self.chance(0.65):
            low = self.random.choice([0, 0, 0, 0, 1, 2])
            head = "for %s in %d..%d" % (i.name, low, low + trips)
            return self.loop(head, [i], trips if low == 0 else None)
        n = self.agreed(self.scalar(["i32"]), "%s")
        bounds = self.random.choice(["0..clamp(0, %s, 3)", "%s..%s + 2",
                                     "clamp(-1, %s, 2)..2"])
        return self.loop("for %s in %s" % (i.name, bounds.replace("%s", n)),
                         [i])

    def op_scan(self):
        if self.depth >= MOST_DEPTH:
            return None
        x = self.pick(rank=1)
        trips = x.dims[0]
        if trips > 6:
            return None
        scanned = [x]
        if self.chance(0.3):
            fits = [y for y in self.values if y.dims[:1] == [trips]]
            scanned.append(self.random.choice(fits))
        parts = [Value(self.name(), y.dtype, y.dims[1:]) for y in scanned]
        names = ", ".join(y.name for y in parts)
        tensors = ", ".join(y.name for y in scanned)
        if len(parts) > 1:
            names, tensors = "(%s)" % names, "(%s)" % tensors
        if self.chance(0.2):
            return self.loop("for unroll %s in %s" % (names, tensors), parts)
        if self.chance(0.5):
            return self.loop("for %s in %s" % (names, tensors), parts)
        i = Value(self.name(), "i32", [])
        return self.loop("for %s, %s in %s" % (i.name, names, tensors),
                         [i] + parts, trips)

    def op_unroll(self):
        """The index is a number here; one statement makes a value of it."""
        if self.depth >= MOST_DEPTH:
            return None
        self.count += 1
        k, trips = "k%d" % self.count, self.random.randint(1, 3)
        values, inits = self.some_vars(2)
        i = Value(self.name(), "i32", [])
        body = self.body([i], values)
        body = [Statement([i], "i32(%s)" % k, [])] + body
        x = self.random.choice(values)
        if x.dims and x.dtype != "pred" and x.dims[0] >= trips:
            body.append(Assign("%s[%s]" % (x.name, k), self.literal(x.dtype)))
        over = "0..%d" % trips if self.chance(0.6) else \
            ["(0,)", "(1, 0)", "(0, 2, 1)"][trips - 1]
        head = "for unroll %s in %s" % (k, over)
        return self.add_block(Block(values, inits, [(head, body)]))

    def op_while(self):
        if self.depth >= MOST_DEPTH:
            return None
        values, inits = self.some_vars(2)
        if self.chance(0.5):
            n, init = Value(self.name(), "i32", []), "i32(0)"
            head = "while %s < %d" % (n.name, self.random.randint(0, 4))
            step = Assign(n.name, "%s + 1" % n.name, fixed=True)
        else:
            x = self.pick(["i32", "i64", "i8"])
            n = self.a_var(x.dtype, x.dims)
            init = "clamp(0, %s, 3)" % x.name
            head = "while " + self.agreed(("any(%s > 0)" if x.dims else
                                           "%s > 0") % n.name)
            step = Assign(n.name, "%s - 1" % n.name, fixed=True)
        if self.chance(0.3):
            x = self.random.choice(values)
            head += " && " + self.agreed(self.truth(x))
        body = self.body([n], values) + [step]
        return self.add_block(Block(values + [n], inits + [init],
                                    [(head, body)]))

    def truth(self, x):
        """A scalar pred made of x."""
        if x.dtype == "pred":
            return "any(%s)" % x.name if x.dims else x.name
        number = "%s(%s)" % (self.random.choice(["max", "min", "sum"]),
                             x.name) if x.dims else x.name
        return "%s %s %s" % (number, self.random.choice(
            ["<", ">", "<=", "!="]), self.literal(x.dtype))

    def agreed(self, text, form="i32(%s)"):
        """In a manual function the same on all devices, which meet in what
        hangs on it."""
        if not self.local:
            return text
        most = "pmax(%s, %s)" % (form % text,
                                 self.axes_text(self.some_order(self.meeting)))
        return most + " > 0" if form != "%s" else most

    def condition(self):
        # A function that only a branch calls which is none is checked alone.
        if not self.local and self.chance(0.08):
            x = self.pick(rank=1)
            return "size(%s, 0) > 2" % x.name
        if self.depth and self.chance(0.5):
            return self.agreed("%s %% 2 == 0" % self.scalar(["i32"]))
        return self.agreed(self.truth(self.pick()))

    def op_if(self):
        if self.depth >= MOST_DEPTH:
            return None
        values, inits = self.some_vars()
        bodies = [("if " + self.condition(), self.body([], values))]
        if self.chance(0.25):
            bodies.append(("else if " + self.condition(),
                           self.body([], values)))
        if self.chance(0.5):
            bodies.append(("else", self.body([], values)))
        return self.add_block(Block(values, inits, bodies))

    def op_var(self):
        values, inits = self.some_vars(1)
        body = [self.assignment(values[0])]
        return self.add_block(Block(values, inits, [(None, body)]))

    WEIGHTS = {op_assign: 3, op_for: 3, op_scan: 2.5, op_unroll: 1,
               op_while: 2, op_if: 2.5, op_var: 1.5}
