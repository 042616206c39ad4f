#!/usr/bin/env python3
"""The optimizers of samples/library/optim.shd, three steps each, against numpy.

    optim.py SHDC

By the interpreter and compiled, with parameters and states split over two devices and
gradients in bf16 by columns.  TAP.
"""
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print("1..0 # SKIP %s" % missing)
    sys.exit(0)

PROGRAM = """import "optim.shd";
mesh [X=2];
fn main(w: f32[8@X, 4], gs: f32[3, 8, 4@X]) {
  var s = w; var p = w; var velocity = zeros(f32[8, 4]);
  var a = w; var m = zeros(f32[8, 4]); var v = zeros(f32[8, 4]);
  var narrow = bf16(w); var rates = zeros(f32[3]); var norms = zeros(f32[3]);
  for i, g in gs {
    let step = f32(i) * 4.0 + 1.0;
    let rate = warm_up_cosine(step, 0.1, 2.0, 7.0, 0.1);
    let norm = sqrt(squares(g) + squares(w));
    s = sgd(s, g, rate);
    let (p1, velocity1) = momentum(p, bf16(g), velocity, 0.1, keep=0.9);
    let (narrow1, a1, m1, v1) = adamw_bf16(a, clipped(g, norm, 2.0), m, v, f32(i + 1), rate,
      beta1=0.9, beta2=0.99, eps=1e-6, decay=0.1);
    p = p1; velocity = velocity1; narrow = narrow1; a = a1; m = m1; v = v1;
    rates[i] = rate; norms[i] = norm;
  }
  return s, p, velocity, a, m, v, f32(narrow), rates, norms;
}
"""
NAMES = ["sgd", "momentum", "velocity", "adamw", "first moment", "second moment", "adamw in bf16", "rates", "norms"]


def bf16(x):
    bits = x.astype(np.float32).view(np.uint32).astype(np.int64)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def scheduled(step):
    if step < 2:
        return 0.1 * step / 2
    done = min((step - 2) / 5, 1)
    return 0.1 * (0.1 + 0.9 * (1 + math.cos(math.pi * done)) / 2)


def expected(w, gs):
    s, p, a = w, w, w
    velocity, m, v, rates, norms = 0 * w, 0 * w, 0 * w, [], []
    for i, g in enumerate(gs):
        rates.append(scheduled(4 * i + 1))
        norms.append(math.sqrt((g * g).sum() + (w * w).sum()))
        s = s - rates[i] * g
        velocity = 0.9 * velocity + bf16(g)
        p = p - 0.1 * velocity
        g = g * min(1, 2 / norms[i])
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        change = m / (1 - 0.9 ** (i + 1)) / (np.sqrt(v / (1 - 0.99 ** (i + 1))) + 1e-6)
        a = a - rates[i] * (change + 0.1 * a)
    return [s, p, velocity, a, m, v, bf16(a), rates, norms]


def main():
    random = np.random.default_rng(3)
    w, gs = random.normal(size=(8, 4)).astype(np.float32), random.normal(size=(3, 8, 4)).astype(np.float32)
    wanted, failed, n = expected(w.astype(np.float64), gs.astype(np.float64)), 0, 0
    for way in "--interpret", "--run":
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/p.shd", "w", encoding="utf-8") as f:
                f.write(PROGRAM)
            np.save(folder + "/w.npy", w)
            np.save(folder + "/gs.npy", gs)
            run = subprocess.run(sys.argv[1].split() + [way, folder + "/p.shd", "--", "--in", "w=%s/w.npy" % folder,
                                  "--in", "gs=%s/gs.npy" % folder, "--out", folder], capture_output=True, text=True)
            for i, name in enumerate(NAMES):
                path = "%s/out%d.npy" % (folder, i)
                close = 1e-2 if "bf16" in name else 3e-6
                good = os.path.exists(path) and np.allclose(np.load(path), wanted[i], rtol=close, atol=close)
                n, failed = n + 1, failed + (not good)
                print("%sok %d - %s, %s" % ("" if good else "not ", n, name, way))
            if run.returncode:
                print("# " + "\n# ".join(run.stderr.splitlines()))
    print("1..%d" % n)
    return 1 if failed else 0


sys.exit(main())
