"""What the checks of book_checks.py are made of: targets, programs, what is predicted.

    target("book-v5e", hbm_bandwidth=8.2e11)    its path; `+ ":4x4"` names a slice
    predict(on, program)                        --emit=cost.json of it

Times are in seconds, sizes in bytes.  A program that is refused is a RuntimeError.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SHDC = os.path.abspath(sys.argv[1])
DIRECTORY = tempfile.mkdtemp()


# ---- targets -------------------------------------------------------------------

def target(name, **facts):
    """The path of NAME.target, with some facts as the book has them elsewhere."""
    with open(os.path.join(HERE, name + ".target"), encoding="ascii") as source:
        text = source.read()
    for fact, value in facts.items():
        text, n = re.subn(r"(?m)^(%s *=) .*" % fact, r"\1 %r  # \"How to Scale Your Model\"" % value, text)
        if n != 1:
            raise KeyError(fact)
    path = os.path.join(DIRECTORY, "%s-%d.target" % (name, len(os.listdir(DIRECTORY))))
    with open(path, "w", encoding="ascii") as out:
        out.write(text)
    return path


V4 = target("book-v4")
V5E = target("book-v5e")
V5E_82 = target("book-v5e", hbm_bandwidth=8.2e11)   # the book has both
V5P = target("book-v5p")


# ---- what is predicted -----------------------------------------------------------

def predict(on, program, *options, emit="cost.json"):
    path = os.path.join(DIRECTORY, "program.shd")
    with open(path, "w", encoding="ascii") as out:
        out.write(program)
    done = subprocess.run([SHDC, "--emit=" + emit, "--on=" + on, *options, path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip())
    return json.loads(done.stdout)


def ops(cost, kind):
    return [op for op in cost["ops"] if op["kind"] == kind]


def products(cost):
    """All there are, those of backward passes too; what an op has is of all its trips."""
    return [op for op in cost["ops"] if op["flops"] and re.match("(gradient of )?(matmul|einsum)", op["what"])]


def product_flops(cost):
    return sum(op["flops"] for op in products(cost))


def intensity(cost):
    return cost["flops"] / cost["hbm_bytes"]


def for_many(n, time):
    """Of a gather over n devices, or of an all-reduce: what the book's limit has for it."""
    return time * n / (n - 1)


def crossing(low, high, difference):
    """Where difference(), which grows, is 0."""
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if difference(middle) > 0 else (middle, high)
    return (low + high) / 2


def balanced(on, low, high, program):
    """The size at which program(size) computes as long as its links are busy."""
    def difference(size):
        cost = predict(on, program(int(size)))
        return cost["compute_seconds"] - cost["communication_seconds"]
    return crossing(low, high, difference)


def bound_by_flops(on, low, high, program):
    """The size from which the product of program(size) is bound by its FLOPs."""
    def difference(size):
        return 1 if products(predict(on, program(int(size))))[0]["bound"] == "mxu" else -1
    return crossing(low, high, difference)


# ---- programs --------------------------------------------------------------------

def matmul(mesh, x, w, out=None, dtype="bf16"):
    return """mesh [%s];
fn main(x: %s[%s], w: %s[%s])%s { return einsum("bd,df->bf", x, w); }
""" % (mesh, dtype, x, dtype, w, " -> %s[%s]" % (dtype, out) if out else "")


def reads(mesh, size, dtype="bf16"):
    return "mesh [%s];\nfn main(x: %s[%s]) -> f32 { return sum(f32(x)); }\n" % (mesh, dtype, size)


def keeps(mesh, *types):
    """A program that has tensors and gives them back."""
    names = ["x%d" % i for i in range(len(types))]
    return "mesh [%s];\nfn main(%s) { return %s; }\n" % (
        mesh, ", ".join("%s: %s" % pair for pair in zip(names, types)), ", ".join(names))


def memory(*types, mesh="X=1"):
    """Bytes that they take on a device."""
    return predict(V5E, keeps(mesh, *types))["memory_peak"]


def shapes(mesh, program):
    """What a device has of the parameters."""
    return " ".join(buffer["type"] for buffer in predict(V5E, "mesh [%s];\n" % mesh + program, emit="memory.json")["buffers"]
                    if buffer["kind"] == "parameters")


def moved(on, mesh, before, after, dtype="bf16"):
    """Seconds from one placement to another."""
    program = "mesh [%s];\nfn main(x: %s[%s]) -> %s[%s] { return x; }\n" % (mesh, dtype, before, dtype, after)
    return predict(on, program)["communication_seconds"]
