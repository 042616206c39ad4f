#!/usr/bin/env python3
"""Prints byte_floats.inc: what ml_dtypes says of the floats of a byte, and of half a one.

    build/xla-venv/bin/python tests/runtime/byte_floats.py > tests/runtime/byte_floats.inc
"""
import math
import re

import ml_dtypes
import numpy as np

NAMES = ["e5m2", "e4m3", "e3m4", "e4m3fn", "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz", "e8m0fnu"]


def number(x):
    x = float(x)
    if not math.isfinite(x):
        return "NAN" if math.isnan(x) else "INFINITY" if x > 0 else "-INFINITY"
    return re.sub(r"\.?0*p", "p", x.hex())


def list_of(texts):
    """Lines of at most 96 columns, behind a tab."""
    lines = ["\t"]
    for text in texts:
        if len(lines[-1]) + len(text) + 2 > 88:
            lines.append("\t")
        lines[-1] += text + ", "
    return "\n".join(line.rstrip() for line in lines)


def rounded(dtype):
    """Numbers of f32, and the bits that they become."""
    values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float64)
    finite = sorted({abs(v) for v in values if math.isfinite(v)})
    beyond = 2 * finite[-1] - finite[-2]
    ties = [(a + b) / 2 for a, b in zip(finite, finite[1:] + [beyond])]
    near = [np.nextafter(np.float32(t), np.float32(to)) for t in ties for to in (0, np.inf)]
    numbers = ties + [float(x) for x in near] + [beyond, 1e9, 1e38, 1e-30, 1e-45, 0, math.inf, math.nan]
    given = np.array(numbers + [-x for x in numbers[::3] + numbers[-8:]], np.float32)
    given = given[~(np.isnan(given) & np.signbit(given))]  # its sign is of no account
    return zip(given, given.astype(dtype).view(np.uint8))


def main():
    print("/* Made by byte_floats.py with ml_dtypes %s: the value of each byte, and what f32 becomes. */"
          % ml_dtypes.__version__)
    for bits, name in [(8, name) for name in NAMES] + [(4, "e2m1fn")]:
        dtype = np.dtype(getattr(ml_dtypes, "float%d_%s" % (bits, name)))
        values = np.arange(1 << bits, dtype=np.uint8).view(dtype).astype(np.float64)
        print("static const double f%d%s_values[%d] = {\n%s\n};" % (bits, name, 1 << bits, list_of(map(number, values))))
        print("static const Rounded f%d%s_rounded[] = {\n%s\n};"
              % (bits, name, list_of("{%s, 0x%02x}" % (number(x), b) for x, b in rounded(dtype))))


if __name__ == "__main__":
    main()
