"""Prints a program that is past the limit named by the argument."""
import sys

MESH = "mesh [X=2];\n"
MAIN = "fn main(x: f32[8]) { return %s; }\n"


def chain(n, body):
    """g0, g1, ...: each made from a call of the one before."""
    text = "fn g0(x) { return x; }\n"
    for i in range(1, n):
        text += "fn g%d(x) { return %s; }\n" % (i, body % {"g": "g%d" % (i - 1)})
    return text + MAIN % ("g%d(x)" % (n - 1))


PROGRAMS = {
    "calls-in-calls": MAIN % ("relu(" * 600 + "x" + ")" * 600),
    "parentheses": MAIN % ("(" * 30000 + "x" + ")" * 30000),
    "operators": MAIN % ("-" * 3000 + "x"),
    "sum": MAIN % ("x" + " + x" * 3000),
    "blocks": "fn main(x: f32[8]) {" + "if p {" * 1000 + "}" * 1000 + " return x; }\n",
    "branches": "fn main(x: f32[8], p: pred) { var y = x; %s y = y + x; %s return y; }\n" % (
        "if p {" * 400, "}" * 400),
    "functions": chain(150, "%(g)s(x)"),
    "both": chain(50, "relu(" * 400 + "%(g)s(x)" + ")" * 400),
    "doubling": chain(40, "%(g)s(%(g)s(x))"),
    "operands": MAIN % ('einsum("%s->a"%s)' % (",".join(["a"] * 65), ", x" * 65)),
    "letters": MAIN % ('einsum("%s->%s"%s)' % (
        ",".join("abcdefghijklmnopqrs"), "abcdefghijk", ", x" * 19)),
    "dims": MAIN % ("x[:" + ", new" * 10 + "]"),
    "mistakes": "fn main(x: f32[8]) {\n%s  return x;\n}\n" % "".join(
        "  let x%d = y%d + 1.0;\n" % (i, i) for i in range(100000)),
    "split": "fn main(x: f32[1_000_000]) { return split(x, 1_000_000)[0]; }\n",
}
print(MESH + PROGRAMS[sys.argv[1]], end="")
