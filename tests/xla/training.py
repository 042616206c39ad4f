#!/usr/bin/env python3
"""The gradients of training samples against those of JAX.

    training.py SHDC

One step of each, in f64 and of few elements, from the same random inputs, sharded by the
interpreter: the loss, and what each parameter's gradient is, seen in the first moment of
AdamW or in how far gradient descent goes. What JAX differentiates is written here once more,
without what a sample does for devices: no dispatch, rings, microbatches or scans.

Exits 77 without jax.
"""
import os
import re
import subprocess
import sys
import tempfile

import back_end

back_end.use_devices(1)
try:
    import jax
    import numpy as np
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

from losses import STEPS, blocks, characters, digits, mixture, ring, stack, t5

jax.config.update("jax_enable_x64", True)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLOSE = 1e-9


# Sample, options, what JAX differentiates, how far a step goes along a gradient (None: its
# first moments tell, of which a tenth is new).
SAMPLES = [
    ("published/t5.shd", "-D L=2 -D D=8 -D H=4 -D K=4 -D F=16 -D V=12 -D S=6 -D T=5 -D GBS=14 -D M=2 --mesh data=2,model=4",
     t5, None),
    ("published/t5.shd", "-D L=2 -D D=8 -D H=2 -D K=4 -D F=16 -D V=12 -D S=6 -D T=5 -D GBS=14 -D M=0 -D REMAT=1"
     " --mesh data=4,model=2", t5, None),
    ("training/moe.shd", "", mixture, None),
    ("training/digits.shd", "--entry from_given", digits, 1),
    ("training/characters.shd", "--entry from_given -D L=2 -D D=16 -D B=8 -D T=6 -D V=12", characters, 1),
    ("ring_attention.shd", "--entry train", ring, 0.1),
    ("collective_matmul.shd", "--entry train", blocks, 1e-4),
] + [("training/%s.shd" % name, "-D L=4 -D B=32 -D D=8 -D F=16 -D MICRO=2", stack, None)
     for name in ("data", "zero1", "zero2", "zero3", "tensor", "mixed", "pipeline", "checkpoint")]


# ---- how they are compared ------------------------------------------------------------

def wide(path, folder):
    """A copy in f64, with what it imports."""
    with open(path, encoding="utf-8") as f:
        text = f.read() + STEPS.get(os.path.relpath(path, ROOT + "/samples"), "")
    text = re.sub(r"\b(bf16|f32)\b", "f64", text)
    for name in re.findall(r'^import "(.*)";', text, re.M):
        beside = os.path.join(os.path.dirname(path), name)
        library = os.path.join(ROOT, "samples", "library", name)
        wide(beside if os.path.exists(beside) else library, os.path.join(folder, os.path.dirname(name)))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8") as f:
        f.write(text)
    return f.name


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("%s\n%s" % (" ".join(command), done.stderr))
    return done.stdout


def draw(parameters, integers):
    """Moments are 0 to begin with, and it is step 1."""
    random, values = np.random.default_rng(5), {}
    for name, dtype, dims in re.findall(r"^  (\w+) +(\w+)\[(.*?)\]", parameters, re.M):
        shape = [int(re.match(r"\d+", dim)[0]) for dim in dims.split(", ") if dim]
        if dtype in ("i32", "u8"):
            values[name] = random.integers(integers, size=shape, dtype=np.int32 if dtype == "i32" else np.uint8)
        elif name.endswith(("_m", "_v")) or not shape:
            values[name] = np.full(shape, 0.0 if shape else 1.0)
        else:
            values[name] = random.normal(size=shape) / 2
    return values


def compare(shdc, sample, options, loss, rate, folder):
    program = wide(ROOT + "/samples/" + sample, folder)
    listed = run(shdc, "--interpret", *options, program, "--", "--list")
    given = draw(listed.split("results")[0], integers=10)
    for name, value in given.items():
        np.save("%s/%s.npy" % (folder, name), value)
    files = [word for name in given for word in ("--in", "%s=%s/%s.npy" % (name, folder, name))]
    run(shdc, "--interpret", *options, program, "--", *files, "--out", folder + "/out")
    made = {name[:-4]: np.load("%s/out/%s" % (folder, name)) for name in os.listdir(folder + "/out")}
    parameters = {n: v for n, v in given.items() if (n + "_m" in made if rate is None else n in made)}
    wanted, gradients = jax.value_and_grad(loss)(parameters, given)
    pairs = {"loss": (made["loss"], wanted)}
    for name, g in gradients.items():
        pairs[name] = (10 * made[name + "_m"] if rate is None else (given[name] - made[name]) / rate, g)
    for name, (a, b) in pairs.items():
        far = np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-3)
        if not far <= CLOSE / (rate or 1):
            yield "%s is off by %g" % (name, far)


def main(shdc):
    failed = 0
    for sample, options, loss, rate in SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                wrong = "; ".join(compare(shdc, sample, options.split(), loss, rate, folder))
            except (OSError, KeyError, RuntimeError) as e:
                wrong = "%s: %s" % (type(e).__name__, e)
        print("%s - gradients of %s %s" % ("not ok" if wrong else "ok", sample, options))
        if wrong:
            print("# " + wrong.replace("\n", "\n# "))
        failed += bool(wrong)
    print("%d passed, %d failed, 0 skipped" % (len(SAMPLES) - failed, failed))
    return 1 if failed else 0


sys.exit(main(sys.argv[1]))
