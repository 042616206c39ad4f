"""Each mistake in a JAX program has its message: jax_messages.py SHDC

A row is the message and ops that make it, between %x, %y: f32[4], %m: f32[4,4], %i: i32[4], and
%r, which is returned; a row of "module @" is a whole program.  What --place asks for and what
XLA's dump says have rows of their own.  Prints what is told otherwise.
"""
import subprocess
import sys
import tempfile

F, M, I = "tensor<4xf32>", "tensor<4x4xf32>", "tensor<4xi32>"
MESH = '  sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
PROGRAM = ("module @m {\n" + MESH + "  func.func public @main(%%x: " + F + ", %%y: " + F + ", %%m: " + M
           + ", %%i: " + I + ") -> " + F + " {\n    %s\n    return %%r : " + F + "\n  }\n%s}\n")


def op(name, operands, types, attributes="", result=F):
    return '%%r = "%s"(%s) <{%s}> : (%s) -> %s' % (name, operands, attributes, types, result)


def placed(dims):
    return '%r = sdy.sharding_constraint %x <@mesh, ' + dims + "> : " + F


def manual(body, inside='[<@mesh, [{"x"}]>]', outside='[<@mesh, [{"x"}]>]', axes='{"x"}'):
    return ("%r = sdy.manual_computation(%x) in_shardings=" + inside + " out_shardings=" + outside
            + " manual_axes=" + axes + " (%a: tensor<2xf32>) {\n" + body + "\n} : (" + F + ") -> " + F)


def collective(text):
    return manual(text + "\nsdy.return %b : tensor<2xf32>")


def reduce(groups):
    return collective('%b = "stablehlo.all_reduce"(%a) <{replica_groups = dense<' + groups + "> : tensor<"
                      '2x4xi64>}> ({\n^bb0(%c: tensor<f32>, %d: tensor<f32>):\n%e = stablehlo.add %c, %d : '
                      "tensor<f32>\nstablehlo.return %e : tensor<f32>\n}) : (tensor<2xf32>) -> tensor<2xf32>")


def loop(condition="%c = stablehlo.compare LT, %j, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "stablehlo.return %c : tensor<i1>", params="%j: tensor<i32>", body="stablehlo.return %k : tensor<i32>"):
    return ("%z = stablehlo.constant dense<0> : tensor<i32>\n%r = \"stablehlo.while\"(%z) ({\n^bb0(" + params
            + "):\n" + condition + "\n}, {\n^bb0(%k: tensor<i32>):\n" + body
            + "\n}) : (tensor<i32>) -> tensor<i32>")


def convolution(kernel, padding="[[0, 0]]", result="tensor<1x4x1xf32>"):
    return ("%a = stablehlo.reshape %x : (" + F + ") -> tensor<1x4x1xf32>\n"
            "%k = stablehlo.constant dense<1.0> : tensor<" + kernel + "xf32>\n"
            "%c = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = "
            "{stride = [1], pad = " + padding + ", lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = "
            "1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<" + kernel + "xf32>) -> "
            + result + "\n%r = stablehlo.reshape %c : (" + result + ") -> " + F)


def whole(body):
    return "module @m {\n" + MESH + body + "}\n"


MAIN = "func.func public @main(%x: " + F + ") -> " + F + " {\n return %x : " + F + "\n}\n"
CASES = [
    ("stablehlo.dot_general takes 2 operands", op("stablehlo.dot_general", "%x", F)),
    ("stablehlo.add takes 2 operands", op("stablehlo.add", "%x", F)),
    ("stablehlo.select takes 3 operands", op("stablehlo.select", "%x", F)),
    ("stablehlo.clamp takes 3 operands", op("stablehlo.clamp", "%x", F)),
    ("stablehlo.gather takes 2 operands", op("stablehlo.gather", "%x", F)),
    ("stablehlo.xor takes 2 operands", "%c = stablehlo.compare EQ, %x, %y : (" + F + ", " + F
     + ") -> tensor<4xi1>\n" + op("stablehlo.xor", "%c", "tensor<4xi1>")),
    ("chlo.next_after takes 2 operands, of floats", op("chlo.next_after", "%x, %i", F + ", " + I)),
    ("chlo.sinh takes 1 operand, of floats", op("chlo.sinh", "%i", I, "", I)),
    ("chlo.square takes 1 operand", op("chlo.square", "%x, %y", F + ", " + F)),
    ("takes 1 operand, of floats, and a format", op("stablehlo.reduce_precision", "%x", F)),
    ("the bits of f32[4] are none of u64[4]",
     op("stablehlo.bitcast_convert", "%x", F, "", "tensor<4xui64>")),
    ("stablehlo.optimization_barrier has as many results as operands",
     op("stablehlo.optimization_barrier", "%x, %y", F + ", " + F)),
    ("this comparison has no direction", op("stablehlo.compare", "%x, %y", F + ", " + F, "", "tensor<4xi1>")),
    ("this constant has no dense<...>", op("stablehlo.constant", "", "", "value = 1.0 : f32")),
    ("3 elements for a tensor of 4", "%r = stablehlo.constant dense<[1.0, 2.0, 3.0]> : " + F),
    ("the bytes of this constant cannot be read", '%r = stablehlo.constant dense<"0x12345"> : ' + F),
    ("an element of this constant cannot be read", "%r = stablehlo.constant dense<[1.0, two, 3.0, 4.0]> : " + F),
    ("there is no function @other", "%r = call @other(%x) : (" + F + ") -> " + F),
    ("@main takes 4 operands, not 1", "%r = call @main(%x) : (" + F + ") -> " + F),
    ("this function returns 1 values, not 2", "%r:2 = call @g(%x) : (" + F + ") -> (" + F + ", " + F + ")"),
    ("a loop has a condition, a body and values", op("stablehlo.while", "", "")),
    ("a loop of 1 values has a body of 2", loop(params="%j: tensor<i32>, %l: tensor<i32>")),
    ("a body of this loop returns 2 values",
     loop(body="stablehlo.return %k, %k : tensor<i32>, tensor<i32>")),
    ("this block returns nothing", loop(condition="")),
    ("a branch returns 2 values, not 1", "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     '%r = "stablehlo.case"(%z) ({\nstablehlo.return %x, %x : ' + F + ", " + F + "\n}, {\nstablehlo.return %y : "
     + F + "\n}) : (tensor<i32>) -> " + F),
    ("a choice of very many branches", "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     '%r = "stablehlo.case"(%z) (' + ", ".join(["{\nstablehlo.return %x : " + F + "\n}"] * 65)
     + ") : (tensor<i32>) -> " + F),
    ("a constraint has an operand and a sharding", op("sdy.sharding_constraint", "%x", F)),
    ("a sharding of 2 dims, of a tensor of 1", placed('[{"x"}, {}]')),
    ('the mesh has no axis "z"', placed('[{"z"}]')),
    ('axis "y" has no such part: it has 4 devices', placed('[{"y":(3)2}]')),
    ('axis "x" stands here twice', placed('[{"x", "x"}]')),
    ("an axis stands twice in this sharding", placed('[{"x"}], replicated={"x"}')),
    ("this region returns 2 values, not 1",
     manual("sdy.return %a, %a : tensor<2xf32>, tensor<2xf32>")),
    ("this region is not complete", op("sdy.manual_computation", "%x", F)),
    ("in_shardings does not have 1 shardings", manual("sdy.return %a : tensor<2xf32>", inside="[]")),
    ("stablehlo.partition_id stands outside of a manual_computation",
     op("stablehlo.partition_id", "", "", "", "tensor<ui32>")),
    ("stablehlo.partition_id takes 0 operands",
     collective('%b = "stablehlo.partition_id"(%a) : (tensor<2xf32>) -> tensor<ui32>')),
    ("the mesh has no device 9", reduce("[[0, 1, 2, 3], [4, 5, 6, 9]]")),
    ("groups of 4 devices, of 6 in all", reduce("[0, 1, 2, 3, 4, 5]")),
    ("a collective whose groups are not along axes of the mesh, or parts of them: [[0, 1, 2, 7], [4, 5, 6, 3]]",
     reduce("[[0, 1, 2, 7], [4, 5, 6, 3]]")),
    ("not along axes of the mesh, or parts of them: [[0, 1, 4, 6], [2, 3, 5, 7]]",
     reduce("[[0, 1, 4, 6], [2, 3, 5, 7]]")),
    ("this all_to_all does not fit its operand", collective(
        '%b = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 7 : i64, split_count = 4'
        " : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<2xf32>) -> "
        "tensor<2xf32>")),
    ("a permute that is not the same in each group", collective(
        '%b = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [6, 5]]> : '
        "tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>")),
    ("stablehlo.concatenate takes operands and a dim", op("stablehlo.concatenate", "", "", "dimension = 0 : i64")),
    ("stablehlo.iota: there is no dim 1", op("stablehlo.iota", "", "", "iota_dimension = 1 : i64")),
    ("stablehlo.transpose says something of 2 dims, of a tensor of 1",
     op("stablehlo.transpose", "%x", F, "permutation = array<i64: 0, 1>")),
    ("stablehlo.dynamic_slice needs a start for each dim",
     op("stablehlo.dynamic_slice", "%x", F, "slice_sizes = array<i64: 4>")),
    ("a start of stablehlo.dynamic_slice is an integer", "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     + op("stablehlo.dynamic_slice", "%x, %z", F + ", tensor<f32>", "slice_sizes = array<i64: 4>")),
    ("stablehlo.dynamic_update_slice lacks operands", op("stablehlo.dynamic_update_slice", "%x", F)),
    ("the update of stablehlo.dynamic_update_slice has another rank",
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     + op("stablehlo.dynamic_update_slice", "%x, %m, %z", ", ".join([F, M, "tensor<i32>"]))),
    ("this padding cannot be", "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     + op("stablehlo.pad", "%x, %z", F + ", tensor<f32>", "edge_padding_low = array<i64: -9>, "
          "edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>")),
    ("the dims of this product do not match", op(
        "stablehlo.dot_general", "%x, %m", F + ", " + M, "dot_dimension_numbers = #stablehlo.dot<"
        "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0, 1]>")),
    ("stablehlo.tanh makes f32[4] of its operands, not f32[4, 4]",
     op("stablehlo.tanh", "%x", F, "", M)),
    ("stablehlo.rng_bit_generator takes a state", op("stablehlo.rng_bit_generator", "", "")),
    ("chlo.top_k takes 1 operand", op("chlo.top_k", "%x", F, "k = 2 : i64")),
    ("the dims of this ragged_dot do not match", op("chlo.ragged_dot", "%x, %m, %i", ", ".join([F, M, I]))),
    ("the windows of this convolution are not as many as its results", convolution("2x1x1")),
    ("the groups of this convolution do not match", convolution("1x3x1")),
    ("no value %q is defined here", "%r = stablehlo.tanh %q : " + F),
    ("this op has 2 results, and 1 types", '%r:2 = "stablehlo.tanh"(%x) : (' + F + ") -> " + F),
    ("this has the type tuple<tensor<f32>>, which is no tensor",
     '%r = "stablehlo.tanh"(%x) : (' + F + ") -> tuple<tensor<f32>>"),
    ("shdc has no dtype for f3", '%r = "stablehlo.tanh"(%x) : (' + F + ") -> tensor<4xf3>"),
    ("a tensor of more bytes than 64 bits can count",
     "%r = stablehlo.constant dense<1.0> : tensor<4294967296x4294967296xf32>"),
    ("there are two functions @main", whole(MAIN + MAIN)),
    ("there is no function @main", whole(MAIN.replace("@main", "@other"))),
    ("@main returns nothing", whole("func.func public @main(%x: " + F + ") {\n return\n}\n")),
    ("this is no sharding", whole(MAIN.replace("f32>)", 'f32> {mhlo.sharding = 3 : i32})'))),
    ("tiles, where the mesh has names",
     whole(MAIN.replace("f32>)", 'f32> {mhlo.sharding = "{devices=[4]<=[4]}"})'))),
    ("an axis has at least one device", whole(MAIN).replace('"x"=2', '"x"=0')),
    ("no axes make this sharding", whole(MAIN.replace(
        "f32>)", 'f32> {mhlo.sharding = "{devices=[3,2]<=[2,3] last_tile_dim_replicate}"})')).replace(MESH, "")),
]


PLACES = [
    ("it is written NAME=[_, AXIS, (AXIS, AXIS)], a place a dim", "x=x"),
    ("the bracket is not closed", "x=[x"),
    ("there is something behind the bracket", "x=[x] y"),
]
SUM = " = f32[4] all-reduce(%a), replica_groups="
DUMPS = [
    ("this is no instruction of HLO", "%b = f32[4]\n"),
    ("this instruction has no operands", "%b = f32[4] tanh\n"),
    ("these pairs are none of this mesh",
     "%b = f32[4] collective-permute(%a), source_target_pairs={{0,9}}\n"),
    ("these groups of devices cannot be read", "%b" + SUM + "{{0,x}}\n"),
    ("computations call each other in a circle, or too deep", "%b = f32[4] call(%a), to_apply=%main\n"),
]


def tells(shdc, message, text, options=("--check",), status=1):
    got = subprocess.run([shdc, *options, "-"], input=text, capture_output=True, text=True)
    if got.returncode == status and message in got.stderr:
        return True
    print("not told: %s\nstatus %d\n%s" % (message, got.returncode, got.stderr[:400]))
    return False


def tells_of_dump(shdc, message, ops, entry="ENTRY "):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as dump:
        dump.write("HloModule m, num_partitions=8\n\n" + entry + "%main (a: f32[4]) -> f32[4] {\n"
                   "%a = f32[4] parameter(0)\n" + ops + "}\n")
        dump.flush()
        return tells(shdc, message, PROGRAM % (op("stablehlo.tanh", "%x", F), ""), ["--xla=" + dump.name])


def main(shdc):
    other = "  func.func private @g(%x: " + F + ") -> " + F + " {\n    return %x : " + F + "\n  }\n"
    right = [tells(shdc, message, ops if ops.startswith("module @") else PROGRAM % (ops, other))
             for message, ops in CASES]
    right += [tells(shdc, message, whole(MAIN), ("--check", "--place=" + place), 2) for message, place in PLACES]
    right += [tells_of_dump(shdc, message, ops) for message, ops in DUMPS]
    right.append(tells_of_dump(shdc, "XLA's program has no ENTRY", "", ""))
    print("%d messages, %d of them not told" % (len(right), right.count(False)))


main(sys.argv[1])
