#!/usr/bin/env python3
"""Where JAX puts the devices of meshes: tests/unit/layouts.txt, which layouts_test holds
against layout_default().

    build/xla-venv/bin/python tests/xla/layouts.py            TAP: does the table still say it
    build/xla-venv/bin/python tests/xla/layouts.py --update   writes it

A line is a slice, a mesh, and the coordinates of its devices in the order of the mesh
(x, y, z, core, slice: those there are), or their FNV-1a sum where they are many.
"""
import itertools
import math
import os
import random
import sys

import numpy as np
from jax.experimental import mesh_utils

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "layouts.txt")
KINDS = {"v2": "TPU v2", "v3": "TPU v3", "v4": "TPU v4", "v5e": "TPU v5 lite",
         "v5p": "TPU v5p", "v6e": "TPU v6 lite", "v7x": "TPU7x"}
CORES = {"v2": 2, "v3": 2, "v7x": 2}
SLICES = {
    "v2": ["2x2", "4x4", "8x8"],
    "v3": ["2x2", "4x8", "8x8"],
    "v4": ["2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x4", "4x4x12", "8x8x16", "2*4x4x4",
           "6*2x2x1"],
    "v5e": ["1x1", "2x2", "4x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16", "16x1", "2*4x4", "4*2x2"],
    "v5p": ["2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "8x8x8", "8x8x16", "16x16x24", "2*2x2x2"],
    "v6e": ["2x2", "2x4", "4x4", "16x16"],
    "v7x": ["2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "2*2x2x1", "2*4x4x4"],
}
MOST_LISTED = 16


class Device:
    """What create_device_mesh() looks at."""
    platform = "tpu"

    def __init__(self, target, coords, core, slice_index):
        self.device_kind = KINDS[target]
        self.coords = tuple(coords) + (0,) * (3 - len(coords))
        self.core_on_chip = core
        self.slice_index = slice_index


def devices_of(target, dims, slice_index):
    """As jax.devices() lists them: host after host of 2 x 2 chips, x and the core fastest."""
    x, y, z = (tuple(dims) + (1,))[:3]
    chips = sorted(itertools.product(range(x), range(y), range(z)),
                   key=lambda c: (c[2], c[1] // 2, c[0] // 2, c[1] % 2, c[0] % 2))
    return [Device(target, c[:len(dims)], core, slice_index)
            for c in chips for core in range(CORES.get(target, 1))]


def of_slices(slices, mesh):
    """The part of each axis that says which slice."""
    for axis, size in enumerate(mesh):
        if size % slices == 0:
            return [slices if i == axis else 1 for i in range(len(mesh))]
    parts = []
    for size in mesh:
        parts.append(math.gcd(size, slices))
        slices //= parts[-1]
    return parts


def coordinates(target, slices, dims, mesh):
    upright = target in ("v5e", "v6e") and dims == (2, 4)   # JAX's ring is one of 4x2
    if upright:
        dims = (4, 2)
    devices = [d for i in range(slices) for d in devices_of(target, dims, i)]
    parts = of_slices(slices, mesh)
    if slices > 1:
        inside = [size // part for size, part in zip(mesh, parts)]
        made = mesh_utils.create_hybrid_device_mesh(inside, parts, devices, allow_split_physical_axes=True)
    else:
        made = mesh_utils.create_device_mesh(mesh, devices, allow_split_physical_axes=True)
    found = []
    for device in np.asarray(made).flat:
        place = device.coords[:len(dims)]
        place = place[::-1] if upright else place
        place += (device.core_on_chip,) if target in CORES else ()
        found.append(",".join(map(str, place + ((device.slice_index,) if slices > 1 else ()))))
    text = " ".join(found)
    if len(found) <= MOST_LISTED:
        return text
    total = 0xcbf29ce484222325
    for byte in text.encode():
        total = (total ^ byte) * 0x100000001b3 % 2 ** 64
    return "%016x" % total


def factorings(n, axes):
    """Every ordered factoring of n, 1 included."""
    if axes == 1:
        yield (n,)
        return
    for first in range(1, n + 1):
        if n % first == 0:
            for rest in factorings(n // first, axes - 1):
                yield (first,) + rest


def meshes(n):
    """All of one and two axes, some of more."""
    chosen = random.Random(n)
    yield from factorings(n, 1)
    yield from factorings(n, 2)
    for axes in (3, 4, 5):
        several = [m for m in factorings(n, axes) if axes > 3 or m.count(1) < 2]
        yield from sorted(chosen.sample(several, min(len(several), 20 if axes == 3 else 6)))


def table():
    lines = []
    for target, slices in SLICES.items():
        for topology in slices:
            count, _, shape = topology.rpartition("*")
            dims = tuple(int(size) for size in shape.split("x"))
            n = int(count or 1) * math.prod(dims) * CORES.get(target, 1)
            for mesh in meshes(n):
                lines.append("%s:%s %s  %s\n" % (target, topology, ",".join(map(str, mesh)), coordinates(
                    target, int(count or 1), dims, mesh)))
    return "# Where JAX 0.10.2 puts the devices of meshes; written by tests/xla/layouts.py --update.\n" + "".join(lines)


def main():
    text = table()
    if "--update" in sys.argv:
        with open(TABLE, "w", encoding="utf-8") as f:
            f.write(text)
        return 0
    with open(TABLE, encoding="utf-8") as f:
        same = f.read() == text
    print("1..1\n%s 1 - layouts.txt is what JAX says" % ("ok" if same else "not ok"))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
