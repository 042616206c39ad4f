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


def unused(name, operands, types, attributes="", result=F):
    return op(name, operands, types, attributes, result).replace("%r", "%q") + "\n%r = stablehlo.tanh %x : " + F


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


def reduced(params, dims="0"):
    return ("%z = stablehlo.constant dense<0.0> : tensor<f32>\n%r = \"stablehlo.reduce\"(%m, %z) <{dimensions = "
            "array<i64: " + dims + ">}> ({\n^bb0(%a: " + params + "):\nstablehlo.return %a : tensor<f32>\n}) : ("
            + M + ", tensor<f32>) -> " + F)


def gather(offset="[1]", collapsed="[0]", where="[0]", vector=1, sizes="1, 4", index="tensor<4x1xi32>"):
    return ("%j = stablehlo.constant dense<0> : " + index + "\n" + unused(
        "stablehlo.gather", "%m, %j", M + ", " + index, "dimension_numbers = #stablehlo.gather<offset_dims = "
        "%s, collapsed_slice_dims = %s, start_index_map = %s, index_vector_dim = %d>, slice_sizes = array<i64: %s>"
        % (offset, collapsed, where, vector, sizes), M))


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
    ("stablehlo.dot_general: it has 1 operands, not 2", op("stablehlo.dot_general", "%x", F)),
    ("%r is defined twice", "%r = stablehlo.tanh %x : " + F + "\n%r = stablehlo.tanh %y : " + F),
    ("%x is defined twice", loop(params="%x: tensor<i32>")),
    ("%x is a tensor<4xf32>, not a tensor<4x4xf32>", "%r = stablehlo.abs %x : (" + M + ") -> " + F),
    ("%i is a tensor<4xi32>, not a tensor<4xf32>", "%r = stablehlo.add %x, %i : " + F),
    ("stablehlo.tanh has 1 operands, and types of 2", op("stablehlo.tanh", "%x", F + ", " + F)),
    ("something stands behind what is returned", '"func.return"(%x) : (' + F + ") -> ()\n%r = stablehlo.tanh "
     "%x : " + F),
    ("nothing says what #loc7 stands for", "%r = stablehlo.tanh %x : " + F + " loc(#loc7)"),
    ("what this call hands over: value 1 is a tensor<4x4xf32>, not a tensor<4xf32>",
     "%r = call @g(%m) : (" + M + ") -> " + F),
    ("broadcast_dimensions has dim 0 twice", unused("stablehlo.broadcast_in_dim", "%m", M,
                                                    "broadcast_dimensions = array<i64: 0, 0>", M)),
    ("dim 0 of 4 elements gets 5", unused("stablehlo.broadcast_in_dim", "%x", F,
                                          "broadcast_dimensions = array<i64: 0>", "tensor<5xf32>")),
    ("permutation has dim 1 twice", unused("stablehlo.transpose", "%m", M, "permutation = array<i64: 1, 1>", M)),
    ("permutation has dim 2, of 2", unused("stablehlo.transpose", "%m", M, "permutation = array<i64: 1, 2>", M)),
    ("operand 2 has other dims", unused("stablehlo.concatenate", "%m, %x", M + ", " + F,
                                        "dimension = 0 : i64", M)),
    ("stablehlo.slice: of dim 0, from 2 to 1 by 1, of 4", "%r = stablehlo.slice %x [2:1] : (" + F + ") -> " + F),
    ("stablehlo.slice: it makes a tensor<0xf32>, not a tensor<0x4xf32>",
     "%q = stablehlo.slice %x [2:2] : (" + F + ") -> tensor<0x4xf32>\n%r = stablehlo.tanh %x : " + F),
    ("precision_config is one of DEFAULT HIGH HIGHEST", "%q = stablehlo.dot_general %m, %m, contracting_dims = [1] "
     "x [0], precision = [FAST, FAST] : (" + M + ", " + M + ") -> " + M + "\n%r = stablehlo.tanh %x : " + F),
    ("compare_type is one of NOTYPE", "%q = stablehlo.compare LT, %x, %y, SOME : (" + F + ", " + F
     + ") -> tensor<4xi1>\n%r = stablehlo.tanh %x : " + F),
    ("no float has such a format", "%r = stablehlo.reduce_precision %x, format = e999m999 : " + F),
    ("a reduction applies add, multiply", "%z = stablehlo.constant dense<0.0> : tensor<f32>\n%r = stablehlo.reduce("
     "%m init: %z) applies stablehlo.divide across dimensions = [0] : (" + M + ", tensor<f32>) -> " + F),
    ("dimensions has dim 2, of 2", reduced("tensor<f32>, %b: tensor<f32>", "2")),
    ("stablehlo.reduce: of scalars of one type", reduced("tensor<f32>, %b: tensor<i32>")),
    ("its region has 1 parameters, not 2", reduced("tensor<f32>")),
    ("collapsed_slice_dims has dim 9, of 2", gather(collapsed="[9]")),
    ("start_index_map has 2 numbers, not 1", gather(where="[0, 1]")),
    ("index_vector_dim is 3, of 2", gather(vector=3)),
    ("slice_sizes has 2 for dim 0 of 4", gather(sizes="2, 4")),
    ("slices are not those of a tensor<4x4xf32>", gather(sizes="1, 3")),
    ("offset_dims has 0 numbers, not 1", gather(offset="[]")),
    ("rows of tensor<4x4xf32> by indices of tensor<2x1xi32>", gather(index="tensor<2x1xi32>")),
    ("stablehlo.add takes 2 operands", op("stablehlo.add", "%x", F)),
    ("stablehlo.select: it has 1 operands, not 3", op("stablehlo.select", "%x", F)),
    ("stablehlo.clamp takes 3 operands", op("stablehlo.clamp", "%x", F)),
    ("stablehlo.gather: it has 1 operands, not 2", op("stablehlo.gather", "%x", F)),
    ("stablehlo.xor takes 2 operands", "%c = stablehlo.compare EQ, %x, %y : (" + F + ", " + F
     + ") -> tensor<4xi1>\n" + op("stablehlo.xor", "%c", "tensor<4xi1>")),
    ("chlo.next_after takes 2 operands, of floats", op("chlo.next_after", "%x, %i", F + ", " + I)),
    ("chlo.sinh takes 1 operand, of floats", unused("chlo.sinh", "%i", I, "", I)),
    ("chlo.square takes 1 operand", op("chlo.square", "%x, %y", F + ", " + F)),
    ("stablehlo.reduce_precision: no float has such a format", op("stablehlo.reduce_precision", "%x", F)),
    ("the bits of f32[4] are none of u64[4]",
     unused("stablehlo.bitcast_convert", "%x", F, "", "tensor<4xui64>")),
    ("stablehlo.optimization_barrier has as many results as operands",
     op("stablehlo.optimization_barrier", "%x, %y", F + ", " + F)),
    ("stablehlo.compare: it has no comparison_direction", op("stablehlo.compare", "%x, %y", F + ", " + F, "", "tensor<4xi1>")),
    ("stablehlo.constant: it has one result, of a value", op("stablehlo.constant", "", "", "value = 1.0 : f32")),
    ("these are not the elements of a tensor<4xf32>", "%r = stablehlo.constant dense<[1.0, 2.0, 3.0]> : " + F),
    ("the bytes of this constant cannot be read", '%r = stablehlo.constant dense<"0x12345"> : ' + F),
    ("an element of this constant cannot be read", "%r = stablehlo.constant dense<[1.0, two, 3.0, 4.0]> : " + F),
    ("there is no function @other", "%r = call @other(%x) : (" + F + ") -> " + F),
    ("what this call hands over: 1 values, not 4", "%r = call @main(%x) : (" + F + ") -> " + F),
    ("what this call returns: 2 values, not 1", "%r:2 = call @g(%x) : (" + F + ") -> (" + F + ", " + F + ")"),
    ("a loop has a condition and a body", op("stablehlo.while", "", "")),
    ("what this loop begins with: 1 values, not 2", loop(params="%j: tensor<i32>, %l: tensor<i32>")),
    ("what this returns: 2 values, not 1",
     loop(body="stablehlo.return %k, %k : tensor<i32>, tensor<i32>")),
    ("this block returns nothing", loop(condition="")),
    ("what this returns: 2 values, not 1", "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     '%r = "stablehlo.case"(%z) ({\nstablehlo.return %x, %x : ' + F + ", " + F + "\n}, {\nstablehlo.return %y : "
     + F + "\n}) : (tensor<i32>) -> " + F),
    ("a choice of 1100 branches, to each of which 1100 values of around it are handed: more than 1048576 in all",
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     + "".join("%%c%d = stablehlo.negate %%x : %s\n" % (i, F) for i in range(1100))
     + '%r = "stablehlo.case"(%z) (' + ", ".join("{\nstablehlo.return %%c%d : %s\n}" % (i, F) for i in range(1100))
     + ") : (tensor<i32>) -> " + F),
    ("sdy.sharding_constraint: it has no sharding", op("sdy.sharding_constraint", "%x", F)),
    ("a sharding of 2 dims, of a tensor of 1", placed('[{"x"}, {}]')),
    ('the mesh has no axis "z"', placed('[{"z"}]')),
    ('axis "y" has no such part: it has 4 devices', placed('[{"y":(3)2}]')),
    ('axis "y" has no such part', placed('[{"y":(0)0}]')),
    ("there is no mesh @other", placed('[{"y"}]').replace("@mesh", "@other")),
    ('axis "x" stands here twice', placed('[{"x", "x"}]')),
    ("an axis stands twice in this sharding", placed('[{"x"}], replicated={"x"}')),
    ("this region returns 2 values, not 1",
     manual("sdy.return %a, %a : tensor<2xf32>, tensor<2xf32>")),
    ("this region is not complete", op("sdy.manual_computation", "%x", F)),
    ("in_shardings does not have 1 shardings", manual("sdy.return %a : tensor<2xf32>", inside="[]")),
    ("stablehlo.partition_id stands outside of a manual_computation",
     unused("stablehlo.partition_id", "", "", "", "tensor<ui32>")),
    ("stablehlo.partition_id takes 0 operands",
     collective('%c = "stablehlo.partition_id"(%a) : (tensor<2xf32>) -> tensor<ui32>\n'
                "%b = stablehlo.tanh %a : tensor<2xf32>")),
    ("the mesh has no device 9", reduce("[[0, 1, 2, 3], [4, 5, 6, 9]]")),
    ("these are not the elements of a tensor<2x4xi64>", reduce("[0, 1, 2, 3, 4, 5]")),
    ("replica_groups is of integers", reduce("[[0, 1, 2, 3], [4, 5, 6, 7]]").replace("4xi64", "4xf32")),
    ("device 2 is in two groups", reduce("[[0, 1, 2, 3], [4, 5, 6, 2]]")),
    ("device 1 receives twice", collective(
        '%b = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : '
        "tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>")),
    ("a collective whose groups are not along axes of the mesh, or parts of them: [[0, 1, 2, 7], [4, 5, 6, 3]]",
     reduce("[[0, 1, 2, 7], [4, 5, 6, 3]]")),
    ("not along axes of the mesh, or parts of them: [[0, 1, 4, 6], [2, 3, 5, 7]]",
     reduce("[[0, 1, 4, 6], [2, 3, 5, 7]]")),
    ("a collective whose step is no sum, product, greatest, least, and, or",
     reduce("[[0, 1, 2, 3], [4, 5, 6, 7]]").replace("stablehlo.add", "stablehlo.subtract")),
    ("this all_to_all does not fit its operand", collective(
        '%b = "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 7 : i64, split_count = 4'
        " : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> : (tensor<2xf32>) -> "
        "tensor<2xf32>")),
    ("a permute that is not the same in each group", collective(
        '%b = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [6, 5]]> : '
        "tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>")),
    ("stablehlo.concatenate: there is no dim 0", op("stablehlo.concatenate", "", "", "dimension = 0 : i64")),
    ("stablehlo.iota: there is no dim 1", op("stablehlo.iota", "", "", "iota_dimension = 1 : i64")),
    ("stablehlo.transpose: permutation has 2 numbers, not 1",
     op("stablehlo.transpose", "%x", F, "permutation = array<i64: 0, 1>")),
    ("stablehlo.dynamic_slice needs a start for each dim",
     op("stablehlo.dynamic_slice", "%x", F, "slice_sizes = array<i64: 4>")),
    ("a start of stablehlo.dynamic_slice is an integer", "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     + op("stablehlo.dynamic_slice", "%x, %z", F + ", tensor<f32>", "slice_sizes = array<i64: 4>")),
    ("stablehlo.dynamic_update_slice lacks operands", op("stablehlo.dynamic_update_slice", "%x", F)),
    ("the update of stablehlo.dynamic_update_slice has another rank",
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     + op("stablehlo.dynamic_update_slice", "%x, %m, %z", ", ".join([F, M, "tensor<i32>"]))),
    ("stablehlo.pad: dim 0 cannot be padded so", "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
     + op("stablehlo.pad", "%x, %z", F + ", tensor<f32>", "edge_padding_low = array<i64: -9>, "
          "edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>")),
    ("the dims of this product do not match", op(
        "stablehlo.dot_general", "%x, %m", F + ", " + M, "dot_dimension_numbers = #stablehlo.dot<"
        "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0, 1]>")),
    ("stablehlo.tanh makes f32[4] of its operands, not f32[4, 4]",
     unused("stablehlo.tanh", "%x", F, "", M)),
    ("stablehlo.rng_bit_generator: it has 0 operands, not 1", op("stablehlo.rng_bit_generator", "", "")),
    ("chlo.top_k takes 1 operand", op("chlo.top_k", "%x", F, "k = 2 : i64")),
    ("the dims of this ragged_dot do not match", op("chlo.ragged_dot", "%x, %m, %i", ", ".join([F, M, I]))),
    ("the windows of this convolution are not as many as its results", convolution("2x1x1")),
    ("the groups of this convolution do not match", convolution("1x3x1")),
    ("no value %q is defined here", "%r = stablehlo.tanh %q : " + F),
    ("this op has 2 results, and 1 types", '%r:2 = "stablehlo.tanh"(%x) : (' + F + ") -> " + F),
    ("this has the type i32, which is no tensor",
     '%r = "stablehlo.tanh"(%x) : (' + F + ") -> i32"),
    ("unexpected tuple<", '%r = "stablehlo.tanh"(%x) : (' + F + ") -> tuple<tuple<tensor<f32>>>"),
    ("shdc has no dtype for f3", '%r = "stablehlo.tanh"(%x) : (' + F + ") -> tensor<4xf3>"),
    ("a tensor of more bytes than 64 bits can count",
     "%r = stablehlo.constant dense<1.0> : tensor<4294967296x4294967296xf32>"),
    ("unexpected a type", "!t = tensor<4xf32>\nmodule @m {\n}\n"),
    ("unexpected a label", "^bb0:\nmodule @m {\n}\n"),
    ("unexpected a value", "%r = stablehlo.iota dim = 0 : tensor<4xi32>\nmodule @m {\n}\n"),
    ("unexpected func.func", MAIN + "// of a module @m\n"),
    ("there is no function @main", "#a = #sdy.sharding<@mesh, [{}]>\nmodule @m {\n}\n"),
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
    if got.returncode == status and message in got.stderr and got.stderr.count(" error[") == 1:
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
    right = [tells(shdc, message, ops if "module @" in ops else PROGRAM % (ops, other))
             for message, ops in CASES]
    right += [tells(shdc, message, whole(MAIN), ("--check", "--place=" + place), 2) for message, place in PLACES]
    right += [tells_of_dump(shdc, message, ops) for message, ops in DUMPS]
    right.append(tells_of_dump(shdc, "XLA's program has no ENTRY", "", ""))
    print("%d messages, %d of them not told" % (len(right), right.count(False)))


main(sys.argv[1])
