#!/usr/bin/env python3
"""Placements are those that Shardy's own passes find.

    shardy.py SHDC [FILE.shd...]     default: 300 random programs
    shardy.py SHDC --random N [--seed S] [--save DIR]

Needs jaxlib 0.10.2; exits 77 without it.  A program's global HLO becomes
StableHLO with what is written as `sdy` attributes, Shardy propagates, and each
value's axes are compared with those of our `sharded` dump.

Skipped is what differs by design: axes that do not divide a dim (there it is
padded), ops that nothing uses (XLA drops them), tensors computed from constants
alone and what a scalar is everywhere (there each use has its own), loops,
branches and manual functions (what they do not change is the value outside
here), shard_likes that disagree.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
try:
    from jax._src.interpreters import mlir
    from jaxlib import _hlo, _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy
    from jaxlib.mlir.passmanager import PassManager
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)
try:
    from jaxlib import _sdy_mpmd        # registers the passes, then says no
except ImportError:
    pass

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINE = re.compile(r"^  (ROOT )?%([\w.]+) = (.*?) ([\w-]+)\((.*?)\)((?:, .*)?)$")
NAME = re.compile(r"%([\w.]+)")
AXIS = re.compile(r"\"(\w+)\"(?::\((\d+)\)(\d+))?")
LETTERS = "ijklmnopqrstuvwxyz"
CONTROL = re.compile(r"shdc\.(manual|extern)|random")
PASSES = ("builtin.module(sdy-import-pipeline,sdy-flatten-call-graph,"
          "sdy-apply-sharding-constraints,sdy-sharding-group-import,"
          "sdy-user-priority-propagate{propagation-strategy=basic-then-aggressive})")


class Skip(Exception):
    """Why there is nothing to compare."""


class Op:
    """One instruction of our HLO."""

    def __init__(self, root, name, kind, op, args, attrs):
        self.root, self.name, self.type, self.op, self.args = root, name, kind, op, args
        self.attrs = re.sub(r", metadata=\{[^}]*\}", "", attrs)
        text = self.take("sharding")
        self.sharding = text and ("[]" if text == "replicated" else text[text.index("], ") + 3:])
        self.facts = dict(re.findall(r'([\w.]+)="([^"]*)"', self.take("frontend_attributes") or ""))

    def take(self, key):
        """What is in an attribute's braces; it is left out from then on."""
        at = self.attrs.find(", %s={" % key)
        if at < 0:
            return None
        begin = end = at + len(key) + 4
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.attrs[end], 0)
            end += 1
        text = self.attrs[begin:end - 1]
        self.attrs = self.attrs[:at] + self.attrs[end:]
        return text

    def uses(self):
        return NAME.findall(self.args) if self.op != "parameter" else []

    def dims(self):
        return [int(n) for n in re.search(r"\[(.*?)\]", self.type).group(1).split(",") if n]

    def text(self, facts=""):
        return "  %s%%%s = %s %s(%s)%s%s\n" % (
            self.root or "", self.name, self.type, self.op, self.args, self.attrs, facts)


def read(text):
    """(computations in order, the entry's name)"""
    found, entry = {}, None
    for line in text.splitlines():
        head = re.match(r"^(ENTRY )?%([\w.]+) \(.*\{$", line)
        if head:
            ops = found[head.group(2)] = []
            entry = head.group(2) if head.group(1) else entry
        elif LINE.match(line):
            ops.append(Op(*LINE.match(line).groups()))
    return found, entry


def inlined(found, ops, prefix="", alias=None):
    """The ops with composites in place of their calls."""
    out, alias = [], dict(alias or {})
    for op in ops:
        if op.op == "parameter" and prefix:
            continue
        if op.op != "parameter":
            op.args = NAME.sub(lambda m: "%" + alias.get(m.group(1), prefix + m.group(1)), op.args)
        if op.op != "call":
            op.name, op.root = prefix + op.name, None if prefix else op.root
            out.append(op)
            continue
        body, inside = found[re.search(r"to_apply=%([\w.]+)", op.attrs).group(1)], prefix + op.name + "_."
        given = {p.name: op.uses()[int(p.args)] for p in body if p.op == "parameter"}
        root = next(b for b in body if b.root)
        alias[op.name] = given.get(root.name, inside + root.name)
        out += inlined(found, body, inside, given)
        if root.op == "tuple":
            raise Skip("a composite of several results")
    return out


def mesh_of(text):
    axes = re.search(r'mesh="([^"]*)"', text).group(1).split(",")
    return {a.split("=")[0]: int(a.split("=")[1]) for a in axes}


def written(op, mesh):
    """What is written of a value, as sdy says it; None if nothing is."""
    if op.sharding is None:
        return None
    text = op.sharding.replace("'", '"')
    dims = re.findall(r"\{[^}]*\}", text[:text.index("]")]) or ["{}"] * len(op.dims())
    spec = op.facts.get("placement", "")      # what the sharding has no word for
    if dims:
        parts = spec[1:spec.index("]")].split(", ") if spec else dims
        priorities = [part.partition("!")[2] or "0" for part in parts]
        dims = [d + ("p" + p if p != "0" and d != "{}" else "") for d, p in zip(dims, priorities)]
    rest = text[text.index("]") + 1:]
    if re.search(r"replicated(?!\()", spec):
        if ":" in text:
            raise Skip("replicated beside a part of an axis")
        others = ['"%s"' % a for a in mesh if '"%s"' % a not in text]
        rest = ", replicated={%s}" % ", ".join(others) if others else ""
    return "<@mesh, [%s]%s>" % (", ".join(dims), rest)


class Translation:
    """A program's global HLO for Shardy."""

    def __init__(self, text):
        found, entry = read(text)
        self.mesh, self.groups, self.ops = mesh_of(text), [], []
        raw = found[entry][-1].uses()
        main = inlined(found, found[entry])
        if any(op.op in ("while", "conditional") or CONTROL.search(op.attrs) for op in main):
            raise Skip("control flow")
        by_name = {op.name: op for op in main}
        self.params = [op for op in main if op.op == "parameter"]
        self.results = [by_name[name] for name in raw]
        self.drop_names(main)
        self.refuse_dead()
        self.refuse_constants()
        scalars = {op.name for op in self.ops if "[]" in op.type}
        self.expansions = {op.name for op in self.ops if op.op == "broadcast" and set(op.uses()) <= scalars}
        needed = {c for op in self.ops for c in re.findall(r"to_apply=%([\w.]+)", op.attrs)}
        self.hlo = "HloModule m\n\n"
        for name in found:
            if name in needed:
                self.hlo += "%%%s {\n%s}\n\n" % (name, "".join(op.text() for op in found[name]))
        self.hlo += "ENTRY %%main {\n%s%s}\n" % ("".join(
            op.text(', frontend_attributes={n="%s"}' % op.name) for op in self.ops), self.root.text())

    def drop_names(self, main):
        """Results of the entry and of a shard_like are other names of values."""
        alias = {}
        for op in main:
            if op.op != "parameter":
                op.args = NAME.sub(lambda m: "%" + alias.get(m.group(1), m.group(1)), op.args)
            if op.op == "copy":
                alias[op.name] = op.uses()[0]
            elif "shdc.shard_like" in op.attrs:
                self.groups.append(op.uses())
                alias[op.name] = op.uses()[0]
            else:
                self.ops.append(op)
        self.root = self.ops.pop()

    def fenced(self, value):
        """What of a fence it is, by its name here."""
        fence, number = name_of(value.owner), "index=%d" % ir.OpResult(value).result_number
        return next((op.name for op in self.ops if op.op == "get-tuple-element"
                     and op.uses() == [fence] and number in op.attrs), fence)

    def refuse_dead(self):
        live = set(self.root.uses()).union(*self.groups)
        for op in reversed(self.ops):
            if op.name in live:
                live |= set(op.uses())
            elif op.op != "parameter":
                raise Skip("ops that nothing uses")

    def refuse_constants(self):
        self.constants = set()
        for op in self.ops:
            if op.op not in ("constant", "iota") and not (op.uses() and set(op.uses()) <= self.constants):
                continue
            self.constants.add(op.name)
            if op.op not in ("constant", "iota", "broadcast") or \
                    (op.op == "broadcast" and "[]" not in next(
                        o.type for o in self.ops if o.name == op.uses()[0])):
                raise Skip("computed from constants")

    # ---- StableHLO

    def signature(self, line):
        """The entry's, with what is written."""
        at = line.index(") -> ")
        both = []
        for text, ops in ((line[line.index("("):at], self.params), (line[at:], self.results)):
            words = re.findall(r"(?:%arg\d+: )?tensor<[^>]*>", text)
            specs = [written(op, self.mesh) for op in ops]
            both.append(", ".join(w + (" {sdy.sharding = #sdy.sharding%s}" % s if s else "")
                                  for w, s in zip(words, specs)))
        return "  func.func @main(%s) -> (%s) {" % tuple(both)

    def roll_rule(self, op):
        dims = op.dims()
        letters = ", ".join(LETTERS[:len(dims)])
        sizes = ", ".join("%s=%d" % pair for pair in zip(LETTERS, dims))
        return "#sdy.op_sharding_rule<([%s])->([%s]) {%s} permutation={%s}>" % (
            letters, letters, sizes, LETTERS[int(op.facts["along"])])

    def custom_call(self, line, found):
        result, target, operand, name, kind = found.groups()
        op = next(op for op in self.ops if op.name == name)
        facts = '{mhlo.frontend_attributes = {n = "%s"}} : %s' % (name, kind)
        barrier = "    %s = sdy.propagation_barrier %s allowed_direction=NONE "
        placed = "    %s = sdy.sharding_constraint %s %s " % (result, operand, written(op, self.mesh))
        if target == "Sharding":
            return placed + facts
        if target == "shdc.barrier":
            return barrier % (result, operand) + facts
        if target == "shdc.reshard":
            before = "%before_" + result[1:]
            return barrier % (before, operand) + ": %s\n" % kind + \
                placed.replace(" %s <" % operand, " %s <" % before) + facts
        if target == "shdc.roll":
            return line.replace("{backend", "{sdy.sharding_rule = %s, backend" % self.roll_rule(op))
        raise Skip("custom call " + target)

    def module(self):
        hlo = self.hlo.replace(" erf(", " tanh(")     # it has no rule there
        proto = _hlo.hlo_module_from_text(hlo).as_serialized_hlo_module_proto()
        lines = []
        for line in ir.Module.parse(_jax.mlir.hlo_to_stablehlo(proto)).operation.get_asm().splitlines():
            call = re.match(r"    (%\w+) = stablehlo\.custom_call @([\w.]+)\((%[\w#]+).*?\) \{.*n = "
                            r"\"([^\"]*)\".*\} : \(.*\) -> (.*)$", line)
            if line.startswith("module "):
                axes = ", ".join('"%s"=%d' % a for a in self.mesh.items())
                line = "module {\n  sdy.mesh @mesh = <[%s]>" % axes
            elif line.startswith("  func.func @main"):
                line = self.signature(line)
            elif call:
                line = self.custom_call(line, call)
            lines.append(line)
        module = ir.Module.parse("\n".join(lines))
        self.order(module)
        return module

    def order(self, module):
        """As in our program; the way to StableHLO has another.  And groups."""
        block = entry(module).regions[0].blocks[0]
        last = list(block.operations)[-1]
        values = {p.name: a for p, a in zip(self.params, block.arguments)}
        made, brought = {name_of(op): op for op in block.operations}, []
        for op in self.ops:
            if op.name in made:
                bring(made[op.name].operation, last, brought)
                values[op.name] = made[op.name].results[0]
        bring(last.operation, last, brought)
        for number, group in enumerate(self.groups):
            for name in group:
                with ir.InsertionPoint(last):
                    ir.Operation.create("sdy.sharding_group", operands=[values[name]], attributes={
                        "group_id": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)})


def bring(op, last, brought):
    """To the end, with what StableHLO needed besides to say the same."""
    for value in op.operands:
        maker = value.owner
        if isinstance(maker, ir.Block) or name_of(maker) or maker.operation in brought:
            continue
        bring(maker.operation, last, brought)
    brought.append(op)
    if op != last.operation:
        op.move_before(last)


def entry(module):
    return next(f for f in module.body.operations if f.operation.name == "func.func"
                and ir.StringAttr(f.attributes["sym_name"]).value == "main")


def name_of(op):
    facts = op.operation.attributes
    if "mhlo.frontend_attributes" not in facts:
        return None
    facts = ir.DictAttr(facts["mhlo.frontend_attributes"])
    return ir.StringAttr(facts["n"]).value if "n" in facts else None


def axes_of(text, dims, mesh):
    """Of each dim, [(axis, size before, size)] with neighbouring parts joined."""
    text = text.replace("'", '"') if text else "[]"
    words = re.findall(r"\{[^}]*\}", text[:text.index("]")]) or [""] * len(dims)
    found = []
    for word in words:
        parts = []
        for name, before, size in AXIS.findall(word):
            part = (name, int(before or 1), int(size or mesh[name]))
            if parts and parts[-1][0] == name and parts[-1][1] * parts[-1][2] == part[1]:
                part = (name, parts[-1][1], parts.pop()[2] * part[2])
            parts.append(part)
        found.append([p for p in parts if p[2] > 1])
    return found


def splits_unevenly(axes, shape):
    return any(size % math.prod(part[2] for part in each) for size, each in zip(shape, axes))


def is_uneven(op, mesh):
    """Is a result, of it or in it, split by axes that do not divide its dim?"""
    if "sdy.sharding" in op.attributes:
        said = re.findall(r"\[(?:\{[^}]*\}(?:p\d+)?(?:, )?)*\]", str(op.attributes["sdy.sharding"]))
        for result, each in zip(op.results, said):
            shape = ir.RankedTensorType(result.type).shape
            if splits_unevenly(axes_of("<@mesh, %s>" % each, shape, mesh), shape):
                return True
    return any(is_uneven(inner.operation, mesh) for region in op.regions for block in region.blocks
               for inner in block.operations)


def propagated(program):
    """Name -> what Shardy says of it."""
    context = mlir.make_ir_context()
    sdy.register_dialect(context)
    found = {}
    with context, ir.Location.unknown():
        module = program.module()
        PassManager.parse(PASSES).run(module.operation)
        main = entry(module)
        if is_uneven(main.operation, program.mesh):
            raise Skip("an axis does not divide")
        for key, ops in (("arg_attrs", program.params), ("res_attrs", program.results)):
            for i, op in enumerate(ops):
                facts = ir.DictAttr(main.attributes[key][i]) if key in main.attributes else {}
                found[op.name] = str(facts["sdy.sharding"]) if "sdy.sharding" in facts else None
        for op in main.regions[0].blocks[0].operations:
            facts = op.operation.attributes
            key = "sharding" if op.operation.name == "sdy.sharding_constraint" else "sdy.sharding"
            if op.operation.name == "sdy.data_flow_edge":
                name, key = program.fenced(op.operands[0]), "sharding"
            else:
                name = name_of(op) if len(op.results) == 1 else None
            if name:
                found[name] = str(facts[key]) if key in facts else None
    return found


def compare(before, after):
    """(values compared, what differs)"""
    program = Translation(before)
    theirs = propagated(program)
    found, main = read(after)
    differ, compared = [], 0
    for op in inlined(found, found[main]):
        if op.type.startswith("(") or op.name not in theirs or op.name in program.constants | program.expansions:
            continue
        a = axes_of(op.sharding, op.dims(), program.mesh)
        b = axes_of(theirs[op.name], op.dims(), program.mesh)
        if splits_unevenly(b, op.dims()):
            raise Skip("an axis does not divide")
        compared += 1
        if a != b:
            differ.append("%s %s %s: ours %s, Shardy's %s" % (op.name, op.op, op.type, a, b))
    return compared, differ


def random_texts(seed, count):
    sys.path.insert(0, ROOT + "/tests/random")
    import generate
    classes = (generate.ControlOps, generate.ExternOps, generate.ManualOps)
    for op in [op for c in classes for op in c.WEIGHTS]:
        generate.Generator.WEIGHTS[op] = 0
    generate.UNEVEN = 0
    for i in range(count):
        yield "random %s, %d" % (seed, i), generate.generate(seed, i).text()


def check(shdc, text):
    """What differs, as text; None if nothing does."""
    with tempfile.NamedTemporaryFile("w", suffix=".shd") as f:
        f.write(text)
        f.flush()
        dumps = []
        for kind in ("ir", "sharded"):
            r = subprocess.run([shdc, "--emit=" + kind, f.name], capture_output=True, text=True, timeout=300)
            if r.returncode:
                return r.stderr
            if "shard_like cannot give" in r.stderr:
                raise Skip("a shard_like that disagrees")
            dumps.append(r.stdout)
    _, differ = compare(*dumps)
    return "\n".join(differ) or None


def cases(shdc, texts):
    """(name, what is wrong or None, why it was skipped or None)"""
    for name, text in texts:
        try:
            yield name, check(shdc, text), None
        except Skip as why:
            yield name, None, str(why)
        except Exception as e:
            yield name, "%s: %s" % (type(e).__name__, e), None


def main(args):
    texts = random_texts(args.seed, args.random)
    if args.files:
        texts = ((f, open(f).read()) for f in args.files)
    texts = list(texts)
    count, skips = [0, 0, 0], {}
    for (name, wrong, skipped), (_, text) in zip(cases(os.path.abspath(args.shdc), texts), texts):
        count[0 if not wrong and not skipped else 1 if wrong else 2] += 1
        if skipped:
            skips[skipped] = skips.get(skipped, 0) + 1
        if wrong:
            print("not ok - %s: placements\n# %s" % (name, wrong.replace("\n", "\n# ")), flush=True)
            if args.save:
                os.makedirs(args.save, exist_ok=True)
                with open("%s/%s.shd" % (args.save, re.sub(r"\W+", "-", name)), "w") as f:
                    f.write(text)
    for why, n in sorted(skips.items()):
        print("# skipped %d: %s" % (n, why))
    print("%d passed, %d failed, %d skipped" % tuple(count))
    return 1 if count[1] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shdc")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--random", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--save")
    sys.exit(main(parser.parse_args()))
