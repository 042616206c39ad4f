#!/usr/bin/env python3
"""A sample's numbers, against numpy.

    oracle.py CASE SHDC --run SAMPLE.shd [OPTION...]

CASE is a function below: it draws inputs and works out the results in the
plainest way, without shards, blocks or sorting.  The command gets `--in` and
`--out` appended.  Silent when all is equal, as --check is between the sharded
and the unsharded program; this one catches what both get wrong.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

SCALE = 2e-5        # of float results, to the largest of them


def floats(draw, *shape):
    return draw.uniform(-1, 1, shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def fsdp_scan(draw):
    x, Ws = floats(draw, 256, 32), floats(draw, 6, 32, 32)
    given, energy = {"In": x, "Ws": Ws}, 0
    for w in Ws:
        x = np.maximum(x @ w / np.sqrt(32), 0)
        energy += np.mean(x * x)
    return given, {"out": x, "energy": energy}


def microbatch(draw):
    Xs, Ys = floats(draw, 8, 16, 32), floats(draw, 8, 16, 16)
    W = floats(draw, 32, 16)
    error = Xs @ W - Ys
    gradient = np.einsum("mbd,mbf->df", Xs, error)
    return {"Xs": Xs, "Ys": Ys, "W": W}, {
        "gradient": gradient / 128, "loss": np.sum(error * error) / 128}


def decode(draw, position=11):
    x, Wo = floats(draw, 4, 32), floats(draw, 8, 8, 32)
    Wq, Wk, Wv = (floats(draw, 32, 8, 8) for _ in range(3))
    keys, values = floats(draw, 4, 32, 8, 8), floats(draw, 4, 32, 8, 8)
    given = {"x": x, "position": np.int32(position), "Wq": Wq, "Wk": Wk,
             "Wv": Wv, "Wo": Wo, "key_cache": keys, "value_cache": values}
    a = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + 1e-6)
    q, k, v = (np.einsum("bd,dhk->bhk", a, w) for w in (Wq, Wk, Wv))
    keys, values = keys.copy(), values.copy()
    keys[:, position], values[:, position] = k, v
    upto = slice(0, position + 1)
    scores = np.einsum("bhk,bthk->bht", q, keys[:, upto]) / np.sqrt(8)
    attended = np.einsum("bht,bthk->bhk", softmax(scores), values[:, upto])
    return given, {"x": x + np.einsum("bhk,hkd->bd", attended, Wo),
                   "position": np.int32(position + 1),
                   "key_cache": keys, "value_cache": values}


def context_parallel(draw):
    q = floats(draw, 4, 4, 16)
    k, v = floats(draw, 256, 4, 16), floats(draw, 256, 4, 16)
    scores = np.einsum("qhk,thk->hqt", q, k) / 4
    out = np.einsum("hqt,thk->qhk", softmax(scores), v)
    return {"q": q, "k": k, "v": v}, {"out": out}


def blockwise_attention(draw):
    q, k, v = (floats(draw, 64, 4, 8) for _ in range(3))
    scores = np.einsum("qhk,thk->hqt", q, k) / np.sqrt(8)
    scores = np.where(np.tril(np.ones((64, 64))) > 0, scores, -np.inf)
    out = np.einsum("hqt,thk->qhk", softmax(scores), v)
    blocks = (4, 16, 4, 8)
    return {"q": q, "k": k.reshape(blocks), "v": v.reshape(blocks)}, {"out": out}


def moe(draw):
    A, W = floats(draw, 32, 16), floats(draw, 8, 16, 24)
    B = draw.integers(0, 8, 32).astype(np.int32)
    out = np.stack([a @ W[b] for a, b in zip(A, B)])
    return {"A": A, "W": W, "B": B}, {"out": out}


def moe_one_expert(draw):
    given, _ = moe(draw)
    given["B"][:] = 5
    return given, {"out": given["A"] @ given["W"][5]}


def moe_top_k(draw):
    A, W, router = floats(draw, 16, 16), floats(draw, 8, 16, 24), floats(draw, 16, 8)
    best = np.argsort(A @ router, -1)[:, -2:]
    out = np.stack([a @ W[b].mean(0) for a, b in zip(A, best)])
    return {"A": A, "W": W, "router": router}, {"out": out}


def embedding(draw):
    by_rows, by_columns = floats(draw, 64, 16), floats(draw, 64, 16)
    tokens = draw.integers(0, 64, 32).astype(np.int32)
    updates, gradient = floats(draw, 32, 16), np.zeros((64, 16), np.float32)
    np.add.at(gradient, tokens, updates)
    given = {"by_rows": by_rows, "by_columns": by_columns, "tokens": tokens,
             "updates": updates}
    return given, {"rows": by_rows[tokens], "columns": by_columns[tokens],
                   "gradient": gradient}


def power_iteration(draw):
    A = floats(draw, 64, 64)
    return {"A": A}, {"eigenvalue": np.max(np.abs(np.linalg.eigvals(np.abs(A))))}


def clip(draw, limit=1.0):
    W, g = floats(draw, 64, 32), floats(draw, 64, 32)
    b, gb = floats(draw, 32), floats(draw, 32)
    norm = np.sqrt(np.sum(g * g) + np.sum(gb * gb))
    scale = min(limit / norm, 1) / 8
    return {"W": W, "g": g, "b": b, "gb": gb, "limit": np.float32(limit)}, {
        "W": W - scale * g, "b": b - scale * gb,
        "clipped": np.int32(norm > limit)}


def clip_nothing(draw):
    return clip(draw, limit=1000.0)


def wrong(name, got, want):
    want = np.asarray(want)
    if got.shape != want.shape:
        return "%s is %s, numpy has %s" % (name, got.shape, want.shape)
    error = np.max(np.abs(got.astype(np.float64) - want))
    bound = SCALE * np.max(np.abs(want)) if want.dtype.kind == "f" else 0
    return None if error <= bound else \
        "%s differs by %g (bound %g)" % (name, error, bound)


def main(case, command):
    given, want = globals()[case](np.random.default_rng(7))
    with tempfile.TemporaryDirectory() as folder:
        command = command + ["--", "--out", folder]
        for name, value in given.items():
            path = os.path.join(folder, "in_%s.npy" % name)
            np.save(path, value)
            command += ["--in", "%s=%s" % (name, path)]
        subprocess.run(command, check=True)
        results = ((name, np.load(os.path.join(folder, name + ".npy"))) for name in want)
        failed = [text for name, got in results if (text := wrong(name, got, want[name]))]
    for text in failed:
        print("%s: %s" % (case, text))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
