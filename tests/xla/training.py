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

os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

jax.config.update("jax_enable_x64", True)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLOSE = 1e-9


# ---- what the samples compute -------------------------------------------------------

def rms_norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)[..., 0]


def attend(q, k, v, causal):
    scores = jnp.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tri(q.shape[1], dtype=bool), scores, -1e30)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores), v)


def heads(x, y, w, causal):
    q = jnp.einsum("btd,dhk->bthk", x, w[0])
    k, v = (jnp.einsum("bsd,dhk->bshk", y, w[i]) for i in (1, 2))
    return jnp.einsum("bthk,dhk->btd", attend(q, k, v, causal), w[3])


def feed_forward(x, w):
    return jax.nn.relu(x @ w[0]) @ w[1].T


def t5(p, given):
    """GBS is 14 of 16 rows."""
    sources, targets = (given[name].reshape(16, -1)[:14] for name in ("sources", "targets"))
    x = p["table"][sources]
    for w, ff, n in zip(p["enc_heads"], p["enc_ff"], p["enc_norms"]):
        a = rms_norm(x) * n[0]
        x = x + heads(a, a, w, False)
        x = x + feed_forward(rms_norm(x) * n[1], ff)
    encoded = rms_norm(x) * p["last"][0]
    y = p["table"][jnp.pad(targets[:, :-1], ((0, 0), (1, 0)))]
    for w, ff, n in zip(p["dec_heads"], p["dec_ff"], p["dec_norms"]):
        a = rms_norm(y) * n[0]
        y = y + heads(a, a, w[:4], True)
        y = y + heads(rms_norm(y) * n[1], encoded, w[4:], False)
        y = y + feed_forward(rms_norm(y) * n[2], ff)
    return jnp.mean(cross_entropy((rms_norm(y) * p["last"][1]) @ p["table"].T, targets))


def mixture(p, given):
    x = given["x"]
    share = jax.nn.softmax(x @ p["router"])
    best, which = jax.lax.top_k(share, 2)
    every = jnp.einsum("sef,efd->sed", jax.nn.relu(jnp.einsum("sd,edf->sef", x, p["Wi"])), p["Wo"])
    found = jnp.take_along_axis(every, which[..., None], axis=1)
    y = x + jnp.sum(found * (best / jnp.sum(best, axis=1, keepdims=True))[..., None], axis=1)
    count = jnp.bincount(which.reshape(-1), length=share.shape[1]) / which.size
    uneven = share.shape[1] * jnp.sum(count * jnp.mean(share, axis=0))
    return jnp.mean((y - given["wanted"]) ** 2) + 0.01 * uneven


def ring(p, given):
    q, k, v = (jnp.einsum("sd,dhk->shk", given["x"], p[name])[None] for name in ("Wq", "Wk", "Wv"))
    return jnp.mean((jnp.einsum("shk,hkd->sd", attend(q, k, v, True)[0], p["Wo"]) - given["wanted"]) ** 2)


def blocks(p, given):
    h = given["x"] + jax.nn.relu(given["x"] @ p["w1"]) @ p["w2"]
    return jnp.mean((h + jax.nn.relu(h @ p["v1"]) @ p["v2"] - given["wanted"]) ** 2)


def stack(p, given):
    h = given["x"]
    for wi, wo in zip(p["Wi"], p["Wo"]):
        h = h + jax.nn.relu(h @ wi) @ wo
    return jnp.mean((h - given["wanted"]) ** 2)


def digits(p, given):
    return jnp.mean(cross_entropy(jax.nn.relu(given["images"] / 16.0 @ p["W1"]) @ p["W2"],
                                  given["digits"].astype(np.int32)))


def characters(p, given):
    text = given["text"]
    x = p["embedding"][text[:, :-1]]
    back = jnp.arange(x.shape[1])[:, None] - jnp.arange(x.shape[1])
    count = p["qkv"].shape[3]
    slopes = 2.0 ** (-8 / count * (jnp.arange(count) + 1))
    for qkv, out, up, down in zip(*(p[name] for name in ("qkv", "out", "up", "down"))):
        q, k, v = jnp.einsum("btd,dchk->cbthk", rms_norm(x), qkv)
        near = jnp.einsum("bqhk,bshk->bhqs", q, k) / np.sqrt(q.shape[-1]) - slopes[:, None, None] * back
        weights = jax.nn.softmax(jnp.where(back >= 0, near, -1e9))
        x = x + jnp.einsum("bhqs,bshk,hkd->bqd", weights, v, out)
        x = x + jax.nn.gelu(rms_norm(x) @ up) @ down
    return jnp.mean(cross_entropy(rms_norm(x) @ p["embedding"].T, text[:, 1:]))


# Of samples that draw their batches: a step from a batch that is given.
STEPS = {
    "training/digits.shd": """
fn from_given(images: u8[BATCH@data, PIXELS], digits: u8[BATCH@data], W1: f64[PIXELS, HIDDEN@model],
              W2: f64[HIDDEN@model, CLASSES])
    -> (loss: f64, W1: f64[PIXELS, HIDDEN@model], W2: f64[HIDDEN@model, CLASSES]) {
  let (l, g1, g2) = value_and_grad(loss, wrt=(W1, W2))(images, digits, W1, W2);
  return l, W1 - g1, W2 - g2;
}
""",
    "training/characters.shd": """
fn from_given(text: i32[B@data, T + 1], embedding: Embedding, qkv: Qkv, out: Out, up: Up, down: Down)
    -> (loss: f64, embedding: Embedding, qkv: Qkv, out: Out, up: Up, down: Down) {
  let (l, a, b, c, d, e) = value_and_grad(loss, wrt=(embedding, qkv, out, up, down))(
    text, embedding, qkv, out, up, down);
  return l, embedding - a, qkv - b, out - c, up - d, down - e;
}
""",
}

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
        text = re.sub(r"\b(bf16|f32)\b", "f64", f.read())
    for name in re.findall(r'^import "(.*)";', text, re.M):
        beside = os.path.join(os.path.dirname(path), name)
        library = os.path.join(ROOT, "samples", "library", name)
        wide(beside if os.path.exists(beside) else library, os.path.join(folder, os.path.dirname(name)))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8") as f:
        f.write(text + STEPS.get(os.path.relpath(path, ROOT + "/samples"), ""))
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
