#!/usr/bin/env python3
"""What XLA's partitioner sends in the steps of samples/training/, beside ours.

    traffic.py SHDC

The step of models/feed_forward.shd is written once more in JAX, and one of the samples that
draw their batches from a batch that is given, with the shardings that --emit=stats says of
the parameters and results of each. XLA's program after SPMD
partitioning is counted as stats counts: bytes that a device receives over a ring, loops by
their trips. An all-reduce of which each device uses a slice only is counted as the
reduce-scatter that it can become, of larger slices with an all-reduce of each. Ours never sends more.

Exits 77 without jax.
"""
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import back_end

FOLDER = tempfile.TemporaryDirectory()
back_end.use_devices(8, "--xla_dump_to=" + FOLDER.name,
                     "--xla_dump_hlo_pass_re=spmd-partitioning")
try:
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    import numpy as np
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

from losses import STEPS, characters, digits

SHDC = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = {"L": 8, "B": 4096, "D": 512, "F": 2048}
TYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "i32": jnp.int32, "u8": jnp.uint8}
WEIGHTS = "Wi", "Wo"
STATE = "", "_master", "_m", "_v"
PROGRAMS = [(name, micro) for name in ("data", "zero1", "zero2", "zero3", "tensor", "mixed", "checkpoint")
            for micro in (1, 4)]
DRAWN = {"digits": digits, "characters": characters}


# ---- the step in JAX ---------------------------------------------------------

def layer(h, w):
    return h + jnp.maximum(h @ w[0], 0) @ w[1], None


def loss(w, x, wanted, body):
    y, _ = jax.lax.scan(body, x, w)
    return jnp.mean(jnp.square(y.astype(jnp.float32) - wanted.astype(jnp.float32)))


def adamw(master, g, m, v, step):
    g = g.astype(jnp.float32)
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * jnp.square(g)
    mean, deviation = m / (1 - 0.9 ** step), jnp.sqrt(v / (1 - 0.99 ** step))
    master = master - 2e-3 * (mean / (deviation + 1e-6) + 0.01 * master)
    return master.astype(jnp.bfloat16), master, m, v


def step(given, micro, body):
    weights = [given[name] for name in WEIGHTS]

    def add(sums, rows):
        e, g = jax.value_and_grad(loss)(weights, *rows, body)
        return [a + d / micro for a, d in zip(sums, (e, *g))], None
    sums, _ = jax.lax.scan(add, [jnp.float32(0), *map(jnp.zeros_like, weights)], (given["x"], given["wanted"]))
    out = {"step": given["step"] + 1, "loss": sums[0]}
    for name, g in zip(WEIGHTS, sums[1:]):
        _, master, m, v = (given[name + part] for part in STATE)
        out.update(zip((name + part for part in STATE), adamw(master, g, m, v, given["step"])))
    return out


# ---- where things are --------------------------------------------------------

def spec(text, mesh):
    """(dtype, shape, sharding) of "f32[16, 1024, 4096@data]"."""
    dtype, dims = re.match(r"(\w+)\[(.*)\]$", text).groups()
    dims = [d.strip().partition("@") for d in dims.split(",") if d.strip()]
    axes = PartitionSpec(*(axis or None for _, _, axis in dims))
    return TYPES[dtype], [int(n) for n, _, _ in dims], NamedSharding(mesh, axes)


def partitioned(stats, names, step):
    """XLA's program after partitioning: a step from the parameters of these names."""
    sizes = stats["mesh"]
    mesh = Mesh(np.array(jax.devices()[:stats["devices"]]).reshape(list(sizes.values())), list(sizes))
    given = {}
    for name in names:
        dtype, shape, sharding = spec(stats["values"][name], mesh)
        given[name] = jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)
    results = {name: spec(text, mesh)[2] for name, text in stats["results"].items()}
    before = set(glob.glob(FOLDER.name + "/*"))
    jax.jit(lambda p: step(p), out_shardings=results).lower(given).compile()
    (dump,) = [p for p in set(glob.glob(FOLDER.name + "/*after_spmd-partitioning*.txt")) - before
               if "lambda" in p]
    with open(dump, encoding="utf-8") as f:
        return f.read()


# ---- counting ----------------------------------------------------------------

OP = re.compile(r"^ +(?:ROOT )?%?([\w.-]+) = (\S+\[[^=]*?|\(.*?\)) ([\w-]+)\((.*?)\)(.*)$")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../compiler/ir/dtypes.def"), encoding="utf-8") as table:
    BITS = {hlo: int(n) for hlo, n in re.findall(r'^DTYPE\(\w+, *"(\w+)", *(\d+)', table.read(),
                                                 flags=re.M)}
BITS |= {"c64": 64, "c128": 128}    # XLA's own: pairs of floats here
PASSES = {"all-gather": 1, "all-reduce": 2, "reduce-scatter": 1, "all-to-all": 1}


def size(text):
    """Bytes of all arrays of a type."""
    return sum((BITS[dtype] * math.prod(int(n) for n in dims.split(",") if n) + 7) // 8
               for dtype, dims in re.findall(r"(\w+)\[([\d,]*)\]", text))


def group(text):
    """Devices of a group: mesh['a'=4,'b'=2] {'a'}, [2,4]<=[8] or {{0,1},{2,3}}."""
    mesh = re.search(r"replica_groups=mesh\[(.*?)\].*? \{(.*?)\}", text)
    if mesh:
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", mesh[1]))
        return math.prod(int(sizes[axis]) for axis in re.findall(r"'(\w+)'", mesh[2]))
    iota = re.search(r"replica_groups=\[\d+,(\d+)\]", text)
    return int(iota[1]) if iota else len(re.search(r"replica_groups=\{\{([\d,]*)\}", text)[1].split(","))


class Program:
    def __init__(self, text):
        self.bodies = {}        # name: [(name, type, kind, operands, attributes)]
        for line in text.splitlines():
            head, op = re.match(r"^(ENTRY )?%?([\w.-]+) \(.*\{$", line), OP.match(line)
            if head:
                body = self.bodies["ENTRY" if head[1] else head[2]] = []
            elif op:
                body.append(op.groups())

    def trips(self, condition):
        """Of a loop that counts from 0 until below a constant."""
        (trips,) = [int(number) for _, _, kind, number, _ in self.bodies[condition] if kind == "constant"]
        return trips

    def sends(self, body="ENTRY", times=1):
        """(kind, bytes that a device receives) of each collective, as often as it is done."""
        ops = self.bodies[body]
        for name, type_, kind, _, rest in ops:
            if kind == "while":
                condition, inner = (re.search(key + r"=%?([\w.-]+)", rest)[1] for key in ("condition", "body"))
                trips = self.trips(condition)
                yield from self.sends(inner, times * trips)
                yield from self.sends(condition, times * (trips + 1))
            elif kind == "call":
                yield from self.sends(re.search(r"to_apply=%?([\w.-]+)", rest)[1], times)
            elif kind == "conditional" or "collective" in kind or kind.endswith("-start"):
                raise ValueError("what is not counted here: " + kind)
            elif kind in PASSES:
                n, large = group(rest), size(type_)
                large *= n if kind == "reduce-scatter" else 1
                parts = self.parts(ops, name, large, n) if kind == "all-reduce" else 1
                if parts > 1:
                    yield from [("reduce-scatter", -(-large * (parts - 1) // parts))] * times
                    n, large = n // parts, large // parts
                if parts == 1 or n > 1:
                    yield from [(kind, -(-large * PASSES[kind] * (n - 1) // n))] * times

    @staticmethod
    def parts(ops, name, large, n):
        """In how many parts n devices use a sum; 1: one uses all of it."""
        users = [op for op in ops if re.search(r"%%%s(?![\w.-])" % re.escape(name), op[3])]
        if {op[2] for op in users} != {"dynamic-slice"}:
            return 1
        slice_ = max(size(op[1]) for op in users)
        return max(k for k in range(1, n + 1) if n % k == 0 and (k == 1 or slice_ * (k - 1) < large))


def words(kinds):
    return ", ".join("%d %s" % (kinds.count(kind), kind) for kind in sorted(set(kinds)))


def stats_of(*arguments):
    done = subprocess.run([SHDC, "--emit=stats", *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def placed(name, micro):
    """Of one of the ways to train one model."""
    sizes = [word for size in {**SIZES, "MICRO": micro}.items() for word in ("-D", "%s=%d" % size)]
    stats = stats_of(*sizes, "%s/samples/training/%s.shd" % (ROOT, name))
    body = jax.checkpoint(layer) if name == "checkpoint" else layer
    names = ["step", "x", "wanted", *(w + part for w in WEIGHTS for part in STATE)]
    return stats, partitioned(stats, names, lambda given: step(given, micro, body))


def drawn(name):
    """Of a sample that draws its batches."""
    sample, program = "training/%s.shd" % name, os.path.join(FOLDER.name, name + ".shd")
    with open(os.path.join(ROOT, "samples", sample), encoding="utf-8") as f:
        text = f.read() + STEPS[sample]
    with open(program, "w", encoding="utf-8") as f:
        f.write(text)
    stats = stats_of("--entry", "from_given", program)
    names = re.findall(r"(\w+):", re.search(r"fn from_given\((.*?)\)\s*->", text, re.S)[1])

    def descend(given):
        weights = {n: value for n, value in given.items() if n in stats["results"]}
        e, g = jax.value_and_grad(DRAWN[name])(weights, given)
        return {"loss": e, **{n: weights[n] - g[n] for n in weights}}
    return stats, partitioned(stats, names, descend)


def compared(stats, theirs):
    """What both send, and whether ours is no more."""
    theirs = list(Program(theirs).sends())
    total = sum(n for _, n in theirs)
    ours = [c["kind"] for c in stats["collectives"] for _ in range(c["trips"])]
    return "%d bytes (%s), XLA's %d (%s)" % (stats["wire_bytes"], words(ours), total, words([k for k, _ in theirs])), \
        0 < stats["wire_bytes"] <= total


def main():
    rights = []
    cases = [("%s -D MICRO=%d" % program, placed, program) for program in PROGRAMS]
    for name, make, arguments in cases + [(name, drawn, (name,)) for name in DRAWN]:
        told, right = compared(*make(*arguments))
        rights.append(right)
        print("%s - %s: %s" % ("ok" if right else "not ok", name, told), flush=True)
    print("%d passed, %d failed, 0 skipped" % (sum(rights), len(rights) - sum(rights)))
    return not all(rights)


if __name__ == "__main__":
    sys.exit(main())
