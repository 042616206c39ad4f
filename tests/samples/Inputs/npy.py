"""Small tensors for samples, without numpy.

    npy.py write FILE DTYPE DIMS VALUE...     npy.py write a.npy i32 4x4 0 1 ...
    npy.py read FILE                          prints the values

VALUE may be a range, 0..16.
"""
import ast
import struct
import sys

CODES = {"i32": ("<i4", "i"), "f32": ("<f4", "f")}


def numbers(words):
    for word in words:
        if ".." in word:
            yield from range(*map(int, word.split("..")))
        else:
            yield float(word) if "." in word else int(word)


def write(path, dtype, dims, *words):
    descr, code = CODES[dtype]
    shape = tuple(int(d) for d in dims.split("x"))
    values = list(numbers(words))
    header = repr({"descr": descr, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack("<%d%s" % (len(values), code), *values))


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    descr = ast.literal_eval(data[10:end].decode())["descr"]
    code = next(c for d, c in CODES.values() if d == descr)
    n = (len(data) - end) // 4
    print(*("%g" % v for v in struct.unpack("<%d%s" % (n, code), data[end:])))


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
