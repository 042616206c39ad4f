# n functions that each call the one before twice, or the first of which calls itself.
import sys

n, itself = int(sys.argv[1]), sys.argv[2:] == ["itself"]
T = "tensor<8x8xf32>"


def function(name, *ops):
    body = "".join("    %%%d = %s : %s\n" % (i, op, T if "tanh" in op else "(%s) -> %s" % (T, T))
                   for i, op in enumerate(ops))
    return "  func.func private @%s(%%arg0: %s) -> %s {\n%s    return %%%d : %s\n  }\n" % (
        name, T, T, body, len(ops) - 1, T)


print("module @doubled {")
print(function("main", "call @f%d(%%arg0)" % n), end="")
for i in range(n, 0, -1):
    print(function("f%d" % i, "call @f%d(%%arg0)" % (i - 1), "call @f%d(%%0)" % (i - 1)), end="")
print(function("f0", "call @f0(%arg0)" if itself else "stablehlo.tanh %arg0"), end="")
print("}")
