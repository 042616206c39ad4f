#!/usr/bin/env python3
"""Trains the two-layer network of ../digits.shd; needs only numpy.

Reads X.npy (u8[1797, 64], 8x8 pixels of 0..16) and y.npy (u8[1797]), trains on
the first 1,347 images, and writes w1.npy b1.npy w2.npy b2.npy.  The other 450
images are held out.  Same numpy, same weights: the seed is fixed.
"""
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
HIDDEN, CLASSES, TRAIN, EPOCHS, BATCH, RATE = 32, 10, 1347, 60, 32, 0.2


def load(name):
    return np.load(os.path.join(HERE, name))


def forward(x, w):
    hidden = np.maximum(x @ w["w1"] + w["b1"], 0)
    return hidden, hidden @ w["w2"] + w["b2"]


def gradients(x, target, w):
    hidden, scores = forward(x, w)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    dscores = (p - target) / len(x)
    dhidden = (dscores @ w["w2"].T) * (hidden > 0)
    return {"w1": x.T @ dhidden, "b1": dhidden.sum(axis=0),
            "w2": hidden.T @ dscores, "b2": dscores.sum(axis=0)}


def accuracy(x, y, w):
    return np.mean(forward(x, w)[1].argmax(axis=1) == y)


def main():
    x = load("X.npy").astype(np.float64) / 16
    y = load("y.npy")
    target = np.eye(CLASSES)[y]
    rng = np.random.default_rng(0)
    w = {"w1": rng.normal(0, 64 ** -0.5, (64, HIDDEN)), "b1": np.zeros(HIDDEN),
         "w2": rng.normal(0, HIDDEN ** -0.5, (HIDDEN, CLASSES)), "b2": np.zeros(CLASSES)}
    for _ in range(EPOCHS):
        order = rng.permutation(TRAIN)
        for start in range(0, TRAIN, BATCH):
            rows = order[start:start + BATCH]
            for name, g in gradients(x[rows], target[rows], w).items():
                w[name] -= RATE * g
    for name in w:
        w[name] = w[name].astype(np.float32)
        np.save(os.path.join(HERE, name + ".npy"), w[name])
    print("trained on %d: %.4f" % (TRAIN, accuracy(x[:TRAIN], y[:TRAIN], w)))
    print("held out %d: %.4f" % (len(x) - TRAIN, accuracy(x[TRAIN:], y[TRAIN:], w)))
    print("first 1792: %.6f" % accuracy(x[:1792], y[:1792], w))


if __name__ == "__main__":
    main()
