"""Where Shardy's own passes have the arguments and results of a lowered JAX program, and where
shdc has them."""
import re

import shardy
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager


def known(text):
    """Of what works element by element, and Shardy has no rule for, ops that it has one for."""
    tensor = r"(tensor<(?:[^<>]|<\w*>)*>)"
    text = re.sub(r"chlo\.\w+ (%[\w#]+) : " + tensor + r" -> \2", r"stablehlo.negate \1 : \2", text)
    return re.sub(r"chlo\.\w+ (%[\w#]+, %[\w#]+) : " + tensor + r", \2 -> \2", r"stablehlo.add \1 : \2", text)


def renamed(op, values):
    for i, x in enumerate(op.operands):
        op.operands[i] = values.get(x, x)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                renamed(inner.operation, values)


def inline(block, functions):
    """Calls become what they call: Shardy's passes see no further than a function."""
    for op in list(block.operations):
        op = op.operation
        for region in op.regions:
            for inner in region.blocks:
                inline(inner, functions)
        if op.name != "func.call":
            continue
        body = functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value].regions[0].blocks[0]
        inline(body, functions)
        values = dict(zip(body.arguments, op.operands))
        for each in body.operations:
            each = each.operation
            if each.name in ("func.return", "return"):
                for result, x in zip(op.results, each.operands):
                    result.replace_all_uses_with(values.get(x, x))
                break
            copy = each.clone(ip=ir.InsertionPoint(op))
            renamed(copy, values)
            values.update(zip(each.results, copy.results))
        op.erase()


def shardy_says(text):
    """The mesh, a placement or None of each argument and result, and whether one is uneven."""
    context = mlir.make_ir_context()
    sdy.register_dialect(context)
    with context, ir.Location.unknown():
        module = ir.Module.parse(known(text))
        axes = dict(re.findall(r'"([\w-]+)"=(\d+)', re.search(r"sdy\.mesh @mesh = <\[(.*?)\]", text)[1]))
        mesh = {a: int(n) for a, n in axes.items()}
        functions = {ir.StringAttr(f.attributes["sym_name"]).value: f for f in module.body.operations
                     if f.operation.name == "func.func"}
        inline(shardy.entry(module).regions[0].blocks[0], functions)
        PassManager.parse(shardy.PASSES.replace("basic-then-aggressive", "aggressive")).run(module.operation)
        main = shardy.entry(module)
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        found = []
        for key, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
            for i, each in enumerate(types):
                facts = ir.DictAttr(main.attributes[key][i]) if key in main.attributes else {}
                said = str(facts["sdy.sharding"]) if "sdy.sharding" in facts else None
                found.append((ir.RankedTensorType(each).shape, said))
        return mesh, found, shardy.is_uneven(main.operation, mesh)


def ours(text, mesh):
    """[(axis, size before, size)] of each dim of "f32[8@data, 4@(model,data:(1)2)]"."""
    dims = re.match(r"\w+\[(.*?)\]", text)[1]
    found = []
    for dim in re.split(r", ", dims) if dims else []:
        axes = re.findall(r"(\w+)(?::\((\d+)\)(\d+))?", dim.partition("@")[2])
        found.append([(a, int(before or 1), int(size or mesh[a])) for a, before, size in axes])
    return found


def misplaced(text, stats):
    """{name: what both say} of what is placed otherwise, but dims that axes do not divide; whether
    Shardy splits one so anywhere, on which more may hang."""
    mesh, theirs, uneven = shardy_says(text)
    listed = [*stats["values"].items()][:len(theirs) - len(stats["results"])] + [*stats["results"].items()]
    if len(listed) != len(theirs):
        return {"": "%d values, %d of Shardy's" % (len(listed), len(theirs))}, uneven
    differ = {}
    for (name, placed), (shape, said) in zip(listed, theirs):
        theirs_here = shardy.axes_of(said, shape, mesh)
        if len(ours(placed, mesh)) > len(shape):     # the two parts of complex numbers are whole
            theirs_here = [*theirs_here, []]
        if ours(placed, mesh) != theirs_here and not shardy.splits_unevenly(theirs_here, shape):
            differ[name] = "ours %s, Shardy's %s" % (placed, said)
    return differ, uneven
