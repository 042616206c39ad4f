#!/usr/bin/python3
"""Tensor files in and out of a built program, against numpy.

files_test.py IDENTITY COUNTER MANY   the programs of identity.c, counter.c and many.c
"""
import io
import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM, COUNTER, MANY = sys.argv[1:4]
DTYPES = {"p": np.bool_, "b": np.int8, "i": np.int32, "l": np.int64,
          "ub": np.uint8, "u": np.uint32, "h": np.float16,
          "w": np.dtype("V2"), "f": np.float32, "d": np.float64}
SAFE = {"p": "BOOL", "b": "I8", "i": "I32", "l": "I64", "ub": "U8",
        "u": "U32", "h": "F16", "w": "BF16", "f": "F32", "d": "F64"}
count = failed = 0


def ok(good, name, note=""):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    if not good and note:
        print("# " + str(note).replace("\n", "\n# "))


def run(*arguments, program=PROGRAM):
    return subprocess.run([program, *arguments], capture_output=True,
                          text=True, timeout=60)


def sample(name, seed=1):
    """Any bits at all, as far as the dtype has them."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[name])
    if name == "p":
        return random.integers(0, 2, (4, 6)).astype(np.bool_)
    raw = random.integers(0, 256, 24 * dtype.itemsize, np.uint8)
    return raw.view(dtype).reshape(4, 6)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape \
        and a.tobytes() == b.tobytes()


def round_trip(folder, what, name, path, wanted):
    out = os.path.join(folder, "out.npy")
    r = run("--in", "%s=%s" % (name, path), "--out", "%s=%s" % (name, out))
    if r.returncode:
        return ok(False, what, r.stderr)
    ok(same(np.load(out), wanted), what)


def npy_bytes(header, data, version=(1, 0)):
    header = header.encode("utf8") if isinstance(header, str) else header
    length = struct.pack("<H" if version[0] == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + length + header + data


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def good_npy(folder):
    for name in DTYPES:
        a = sample(name)
        path = os.path.join(folder, "a.npy")
        np.save(path, a)
        round_trip(folder, "npy %s" % a.dtype, name, path, a)
        np.save(path, np.asfortranarray(a))
        round_trip(folder, "npy %s, column-major" % a.dtype, name, path, a)
    for name in "i", "l", "u", "h", "f", "d":
        a = sample(name)
        np.save(path, a.astype(a.dtype.newbyteorder(">")))
        round_trip(folder, "npy %s, big-endian" % a.dtype, name, path, a)
    for version in (1, 0), (2, 0), (3, 0):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, sample("f"), version=version)
        path = write(folder, "v.npy", buffer.getvalue())
        round_trip(folder, "npy version %d.%d" % version, "f", path,
                   sample("f"))
    a = sample("w")
    path = write(folder, "b.npy", npy_bytes(
        "{'descr': 'bfloat16', 'fortran_order': False, 'shape': (4, 6)}\n",
        a.tobytes()))
    round_trip(folder, "npy bfloat16 by name", "w", path, a)
    path = write(folder, "o.npy", npy_bytes(
        '{"shape":(4L,6L),"fortran_order":False,"descr":"<f4"}',
        sample("f").tobytes()))
    round_trip(folder, "npy, other order of keys and no blanks", "f", path,
               sample("f"))
    path = os.path.join(folder, "s.npy")
    np.save(path, np.float32(2.5))
    round_trip(folder, "npy scalar", "scalar", path, np.array(2.5, np.float32))
    a = np.array([[0, 1, 2, 255, 3, 0]] * 4, np.uint8)
    path = write(folder, "t.npy", npy_bytes(
        "{'descr': '|b1', 'fortran_order': False, 'shape': (4, 6)}",
        a.tobytes()))
    round_trip(folder, "npy truth values other than 0 and 1", "p", path,
               a != 0)


def partial(folder):
    f = sample("i").astype(np.float32)
    path = os.path.join(folder, "f.npy")
    np.save(path, f)
    round_trip(folder, "partial sums: the file's value once", "sum", path, f)
    raw = (f.view(np.uint32) >> 16).astype(np.uint16).view("V2")
    np.save(path, raw)
    round_trip(folder, "partial minima: the file's value once", "least", path,
               raw)


def safetensors(entries, data, metadata=None):
    header = dict(entries)
    if metadata:
        header["__metadata__"] = metadata
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(name, begin=0, shape=(4, 6)):
    a = sample(name)
    return {"dtype": SAFE[name], "shape": list(shape),
            "data_offsets": [begin, begin + a.nbytes]}


def good_safetensors(folder):
    data, entries = b"", {}
    for name in DTYPES:
        entries[name] = entry(name, len(data))
        data += sample(name).tobytes()
    path = write(folder, "all.safetensors", safetensors(
        entries, data, {"format": "pt", "note": "a \"}]\\ b"}))
    for name in DTYPES:
        round_trip(folder, "safetensors %s" % SAFE[name], name, path,
                   sample(name))
    entries = {"layer.0.w": entry("f")}
    path = write(folder, "k.safetensors",
                 safetensors(entries, sample("f").tobytes()))
    round_trip(folder, "safetensors, another key", "f", path + "#layer.0.w",
               sample("f"))

    for i, name in enumerate(["ärger", "a\"b\\c/d\n", "\U0001f600 w"]):
        path = write(folder, "escaped%d.safetensors" % i, safetensors(
            {name: entry("f")}, sample("f").tobytes()))
        round_trip(folder, "safetensors, escapes in the name %d" % i, "f",
                   path + "#" + name, sample("f"))


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }"
DATA = sample("f").tobytes()
BAD_NPY = [
    ("empty", b"", "not a .npy"),
    ("not a tensor file", b"hello, world, this is text", "not a .npy"),
    ("cut in its magic", b"\x93NUM", "not a .npy"),
    ("cut in its header", npy_bytes(GOOD, DATA)[:30], "ends in its header"),
    ("cut in its data", npy_bytes(GOOD, DATA[:-1]), "96 bytes of data, it has 95"),
    ("longer than its header says", npy_bytes(GOOD, DATA + b"x"), "it has 97"),
    ("version 4", npy_bytes(GOOD, DATA, (4, 0)), "version is 4.0"),
    ("header longer than the file", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
     "ends in its header"),
    ("another shape", npy_bytes(GOOD.replace("6", "5"), DATA[:80]),
     "holds f32[4, 5], parameter f is f32[4, 6]"),
    ("transposed", npy_bytes(GOOD.replace("4, 6", "6, 4"), DATA),
     "holds f32[6, 4]"),
    ("another rank", npy_bytes(GOOD.replace("4, 6", "24,"), DATA),
     "holds f32[24]"),
    ("another dtype", npy_bytes(GOOD.replace("<f4", "<i4"), DATA),
     "holds i32[4, 6]"),
    ("a dtype we do not have", npy_bytes(GOOD.replace("<f4", "<c32"), DATA),
     "'c32' is none of"),
    ("records", npy_bytes(GOOD.replace("'<f4'", "[('a', '<f4')]"), DATA),
     "records"),
    ("size beyond 64 bits", npy_bytes(
        GOOD.replace("4, 6", "4294967296, 4294967296"), DATA), "too large"),
    ("dim beyond 64 bits", npy_bytes(
        GOOD.replace("4, 6", "99999999999999999999"), DATA), "'shape'"),
    ("negative dim", npy_bytes(GOOD.replace("4, 6", "-4, -6"), DATA), "'shape'"),
    ("seventeen dims", npy_bytes(GOOD.replace("4, 6", "1," * 17), DATA), "16 dims"),
    ("no data", npy_bytes(GOOD.replace("4, 6", "0, 6"), b""), "holds f32[0, 6]"),
    ("key twice", npy_bytes(GOOD.replace("fortran_order", "descr"), DATA), "header"),
    ("key missing", npy_bytes("{'descr': '<f4', 'shape': (4, 6)}", DATA), "lacks"),
    ("unknown key", npy_bytes("{'x': 1, " + GOOD[1:], DATA), "other keys"),
    ("unfinished dictionary", npy_bytes(GOOD[:-1], DATA), "header"),
    ("unfinished string", npy_bytes("{'descr", DATA), "header"),
    ("text after the dictionary", npy_bytes(GOOD + "x", DATA), "goes on"),
    ("zeros", bytes(200), "not a .npy"),
]
ENTRY = {"f": entry("f")}
BAD_SAFETENSORS = [
    ("empty", b"", "not a .safetensors"),
    ("cut in its length", b"\x10\0\0", "not a .safetensors"),
    ("header longer than the file", struct.pack("<Q", 1 << 60) + b"{}",
     "ends in its header"),
    ("header is no object", struct.pack("<Q", 2) + b"[]", "not a JSON object"),
    ("no such tensor", safetensors({"g": entry("f")}, DATA), "no tensor 'f', but g"),
    ("no tensors", safetensors({}, b""), "none at all"),
    ("cut in its data", safetensors(ENTRY, DATA)[:-1], "needs 96 bytes"),
    ("offsets backwards", safetensors({"f": dict(
        ENTRY["f"], data_offsets=[96, 0])}, DATA), "needs 96 bytes"),
    ("offsets of another size", safetensors({"f": dict(
        ENTRY["f"], data_offsets=[0, 92])}, DATA), "needs 96 bytes"),
    ("negative offsets", safetensors({"f": dict(
        ENTRY["f"], data_offsets=[-96, 0])}, DATA), "data_offsets"),
    ("another dtype", safetensors({"f": dict(ENTRY["f"], dtype="I32")}, DATA),
     "holds i32[4, 6]"),
    ("a dtype we do not have", safetensors(
        {"f": dict(ENTRY["f"], dtype="F4_E2M1")}, DATA), "'F4_E2M1' is none of"),
    ("another shape", safetensors({"f": entry("f", shape=(6, 4))}, DATA),
     "holds f32[6, 4]"),
    ("size beyond 64 bits", safetensors({"f": entry(
        "f", shape=(1 << 32, 1 << 32))}, DATA), "too large"),
    ("dtype missing", safetensors({"f": {
        "shape": [4, 6], "data_offsets": [0, 96]}}, DATA), "lacks"),
    ("deep nesting", struct.pack("<Q", 200000) + b'{"a":' + b"[" * 199995,
     "cannot be read"),
    ("the tensor twice", struct.pack("<Q", 128) + b"{%s, %s}" % (
        (b'"f":' + json.dumps(ENTRY["f"]).encode(),) * 2) + DATA, "twice"),
    ("text behind the header", (lambda text: struct.pack("<Q", len(text)) + text + DATA)(
        json.dumps(ENTRY).encode() + b" x"), "goes on behind"),
    ("bytes behind the data", safetensors(ENTRY, DATA + b"x"),
     "says 96 bytes of data, it has 97"),
    ("cut in another tensor", safetensors(
        dict(ENTRY, z={"dtype": "F8_E4M3", "shape": [8], "data_offsets": [96, 104]}),
        DATA + b"1234567"), "says 104 bytes of data, it has 103"),
    ("overlapping tensors", safetensors(
        dict(ENTRY, z={"dtype": "U8", "shape": [8], "data_offsets": [90, 98]}),
        DATA + b"12"), "[90, 98] overlap what is before them, which ends at 96"),
    ("a tensor within another", safetensors(
        dict(ENTRY, z={"dtype": "U8", "shape": [8], "data_offsets": [8, 16]}),
        DATA), "[8, 16] overlap"),
    ("a gap between tensors", safetensors(
        dict(ENTRY, z={"dtype": "U8", "shape": [8], "data_offsets": [100, 108]}),
        DATA + bytes(12)), "[100, 108] leave a gap behind"),
    ("a gap before the first", safetensors({"f": dict(
        ENTRY["f"], data_offsets=[4, 100])}, bytes(4) + DATA), "[4, 100] leave a gap"),
    ("half an escaped pair", safetensors({"\ud83d": entry("f")}, DATA),
     "no tensor 'f', but"),
    ("unfinished", struct.pack("<Q", 12) + b'{"f":{"dtype' + DATA, "cannot be read"),
]


def refused(folder, kind, cases):
    for name, data, reason in cases:
        path = write(folder, "bad." + kind, data)
        out = os.path.join(folder, "never.npy")
        r = run("--in", "f=" + path, "--out", "f=" + out)
        ok(r.returncode == 3 and reason in r.stderr and path in r.stderr
           and "f" in r.stderr and r.stderr.count("\n") == 1
           and not os.path.exists(out),
           "%s refused: %s" % (kind, name), (r.returncode, r.stderr))


def bad_paths(folder):
    good = write(folder, "good.npy", npy_bytes(GOOD, DATA))
    full = os.path.join(folder, "full.safetensors")
    os.symlink("/dev/full", full)
    os.symlink("/dev/full", full[:-11] + "npz")
    alias = os.path.join(folder, "alias.npy")
    os.symlink("links/to.npy", alias)
    os.mkdir(os.path.join(folder, "links"))
    os.symlink("../target.npy", os.path.join(folder, "links/to.npy"))
    zipped = [("a full device for a .npz file", ["--out", full[:-11] + "npz"], 3,
               "No space left")]
    for name, arguments, status, reason in [
        *(zipped if NPZ else []),
        ("no file", ["--in", "f=/nonexistent.npy"], 3, "No such file"),
        ("a directory", ["--in", "f=/"], 3, "not a file"),
        ("a device", ["--in", "f=/dev/zero"], 3, "not a file"),
        ("unknown parameter", ["--in", "g=" + good], 2, "no parameter 'g'"),
        ("nearly a parameter", ["--in", "indx=" + good], 2,
         "did you mean 'index'?"),
        ("no =", ["--in", good], 2, "NAME=FILE, FILE.safetensors or FILE.npz is wanted"),
        ("no file of many", ["--in", "/nonexistent.safetensors"], 3, "No such file"),
        ("text of floats", ["--out", "f=f.txt"], 2, "a .txt file is u8, f is f32[4@X, 6@Y]"),
        ("given twice", ["--in", "f=" + good, "--in", "f=" + good], 2, "twice"),
        ("unknown result", ["--out", "g=x"], 2, "no result 'g'"),
        ("unwritable file", ["--out", "f=/nonexistent/f.npy"], 3,
         "/nonexistent/f.npy: cannot be written"),
        ("unwritable directory", ["--out", "/proc/out"], 3, "cannot be made"),
        ("a file for a directory", ["--out", good], 3, "not a directory"),
        ("a full device", ["--out", "f=/dev/full"], 3, "No space left"),
        ("a directory for a file", ["--out", "f=" + folder], 3, "directory"),
        ("unknown option", ["--rndom", "1"], 2, "did you mean '--random'?"),
        ("value missing", ["--in"], 2, "NAME=FILE is wanted"),
        ("value unwanted", ["--ones=1"], 2, "takes no value"),
        ("bad seed", ["--random", "-1"], 2, "whole number"),
        ("bad time", ["--timeout", "soon"], 2, "30s"),
        ("bad count", ["--time", "0"], 2, "1 to 1000000"),
        ("two generators", ["--ones", "--iota"], 2, "one of them"),
        ("two results into one file", ["--out", "f=new.npy", "--out", "i=new.npy"], 2,
         "two results into new.npy"),
        ("two results into one file, spelt otherwise",
         ["--out", "f=new.npy", "--out", "i=./new.npy"], 2,
         "two results into ./new.npy"),
        ("two results into one file, one by links to what is not there",
         ["--out", "f=" + alias, "--out", "i=" + folder + "/target.npy"], 2,
         "two results into %s/target.npy" % folder),
        ("two results into one file of a directory",
         ["--out", folder + "/all", "--out", "f=" + folder + "/all/i.npy"], 2,
         "two results, i and f, into"),
        ("two results into standard output", ["--out", "f=-", "--out", "i=-"], 2,
         "two results into standard output"),
        ("all results and one into one file",
         ["--out", "m.safetensors", "--out", "f=./m.safetensors"], 2,
         "all results go into ./m.safetensors, and one of them"),
        ("one result and all into one file",
         ["--out", "f=m.safetensors", "--out", "m.safetensors"], 2,
         "all results go into m.safetensors, and one of them"),
        ("a key in a file that is written", ["--out", "f=m.safetensors#key"], 2, "#KEY is of --in"),
        ("two files of all results", ["--out", "a.safetensors", "--out", "b.safetensors"],
         2, "two files of all results"),
        ("all results into standard output", ["--out", "-"], 2, "NAME=FILE"),
        ("a full device for a .safetensors file",
         ["--out", "f=" + full, "--out", "i=" + full], 3, "No space left"),
        ("an unwritable .safetensors file", ["--out", "/nonexistent/m.safetensors"], 3,
         "/nonexistent/m.safetensors: cannot be written"),
        ("one result of two", ["--out", "f=" + folder + "/first.npy",
                               "--out", "i=/nonexistent/i.npy"], 3,
         "/nonexistent/i.npy: cannot be written"),
        ("nothing to check", ["--check"], 2, "nothing to be checked"),
    ]:
        r = run(*arguments)
        ok(r.returncode == status and reason in r.stderr
           and r.stderr.count("\n") == 1, name, (r.returncode, r.stderr))
    for ending, option in [(".npy", "f="), (".safetensors", "")] + [(".npz", "")] * NPZ:
        old = write(folder, "old" + ending, b"old")
        r = subprocess.run(
            [PROGRAM, "--out", option + old], capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
        ok(r.returncode == 3 and "File too large" in r.stderr
           and open(old, "rb").read() == b"old",
           "a %s file beyond the limit of size" % ending, (r.returncode, r.stderr))
    ok(not os.path.exists(folder + "/first.npy"), "nothing is written before "
       "it is known that all can be")
    link = os.path.join(folder, "dangling.npy")
    os.symlink("named.npy", link)
    r = run("--out", "f=" + link)
    ok(r.returncode == 0 and os.path.islink(link)
       and os.path.exists(folder + "/named.npy"), "a link to nothing",
       r.stderr)
    left = [f for f in os.listdir(folder) if f.endswith(".tmp")]
    ok(not left, "nothing unfinished is left", left)


def mix(x):
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & (1 << 64) - 1
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & (1 << 64) - 1
    return x ^ x >> 31


def random_bits(name, seed, i):
    """The generator as runtime/README.md describes it."""
    key = 0xcbf29ce484222325
    for c in name.encode():
        key = ((key ^ c) * 0x100000001b3) & (1 << 64) - 1
    key = mix(key ^ mix(seed))
    return mix((key + i * 0x9e3779b97f4a7c15) & (1 << 64) - 1)


def load(folder, name, *arguments):
    out = os.path.join(folder, "out.npy")
    r = run(*arguments, "--out", "%s=%s" % (name, out))
    assert r.returncode == 0, r.stderr
    a = np.load(out)
    return (a.view(np.uint16).astype(np.uint32) << 16).view(np.float32) \
        if a.dtype == np.dtype("V2") else a


def generators(folder):
    for name, value in [("f", lambda b: (b >> 40) * 2.0**-23 - 1),
                        ("d", lambda b: (b >> 11) * 2.0**-52 - 1),
                        ("w", lambda b: (b >> 56) * 2.0**-7 - 1),
                        ("h", lambda b: (b >> 53) * 2.0**-10 - 1),
                        ("i", lambda b: (b >> 60) - 8),
                        ("u", lambda b: b >> 61),
                        ("p", lambda b: b >> 63),
                        ("index", lambda b: b % 5),
                        ("sum", lambda b: (b >> 40) * 2.0**-23 - 1)]:
        for seed in 0, 7:
            want = [value(random_bits(name, seed, i)) for i in range(24)]
            got = load(folder, name, "--random", str(seed))
            ok(got.ravel().tolist() == want,
               "random %s, seed %d" % (name, seed), (got, want))
    ok(same(load(folder, "f"), load(folder, "f", "--random", "0")),
       "random 0 is the default")
    ok((load(folder, "f", "--ones") == 1).all()
       and load(folder, "p", "--ones").all()
       and (load(folder, "w", "--ones") == 1).all(), "ones")
    iota = np.arange(24).reshape(4, 6)
    ok((load(folder, "f", "--iota") == iota).all()
       and (load(folder, "l", "--iota") == iota).all()
       and (load(folder, "index", "--iota") == iota % 5).all(), "iota")


def other_outputs(folder):
    directory = os.path.join(folder, "results")
    r = run("--iota", "--out", directory)
    ok(r.returncode == 0 and not r.stdout
       and sorted(os.listdir(directory)) == sorted(
           n + ".npy" for n in [*DTYPES, "index", "sum", "least", "scalar"]),
       "every result into a directory", r.stderr)
    target = write(folder, "target.npy", b"old")
    link = os.path.join(folder, "link.npy")
    os.symlink(target, link)
    load(folder, "f")
    r = run("--iota", "--out", "f=" + link)
    ok(os.path.islink(link) and np.load(target).shape == (4, 6),
       "through a link, the file is replaced")
    r = subprocess.run([PROGRAM, "--iota", "--out", "f=/dev/stdout"],
                       capture_output=True, timeout=60)
    ok(np.load(io.BytesIO(r.stdout)).shape == (4, 6), "into a pipe")
    r = run("--ones", "--in", "i=" + os.path.join(directory, "i.npy"))
    ok("i  i32[4@X, 6@Y]  0 1 2 3 4 5 ...  sum 276\n" in r.stdout
       and "p  pred[4@X, 6@Y]  true true" in r.stdout
       and "scalar  f32[]  1\n" in r.stdout
       and len(r.stdout.splitlines()) == 14, "a line for each result", r.stdout)
    r = run("--list")
    ok("  f       f32[4@X, 6@Y]            f32[2, 3] a device\n" in r.stdout,
       "list", r.stdout)
    r = run("--time", "3")
    ok(r.stdout.startswith("3 runs: min "), "time", r.stdout)
    r = run("--steps", "3", "--ones")
    ok("sum 24" in r.stdout, "steps", r.stdout)
    r = subprocess.run([PROGRAM], stdout=open("/dev/full", "w"),
                       stderr=subprocess.PIPE, timeout=60)
    ok(r.returncode == 3, "standard output that is full")


def together(folder):
    """Where one result cannot be written, no other is there or has changed."""
    full = os.path.join(folder, "new")
    old = write(folder, "kept.npy", b"old")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
    os.symlink("new", folder + "/leads.npy")
    for name, arguments in [
        ("into a directory", ["--out", full]),
        ("before a full device", ["--out", "d=/dev/full", "--out", "b=" + old]),
        ("before one that is too large", ["--out", "d=" + full, "--out", "b=" + old]),
        ("behind a link to nothing", ["--out", "d=" + folder + "/leads.npy"]),
    ]:
        r = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60,
                           preexec_fn=limit)
        left = [f for f in os.listdir(folder) if f.startswith("new") or f.endswith(".tmp")]
        ok(r.returncode == 3 and open(old, "rb").read() == b"old" and not left,
           "nothing is left of results " + name, (r.returncode, r.stderr, left))


def read_safetensors(path):
    """Each tensor's dtype, dims and bytes, and where its data begin."""
    with open(path, "rb") as f:
        data = f.read()
    n, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    tensors = {}
    for name, e in header.items():
        begin, end = e["data_offsets"]
        tensors[name] = e["dtype"], e["shape"], data[8 + n + begin:8 + n + end], 8 + n + begin
    assert 8 + n + max(e["data_offsets"][1] for e in header.values()) == len(data)
    return tensors


def safetensors_outputs(folder):
    wanted = {name: sample(name, seed=7) for name in DTYPES}
    inputs = []
    for name, a in wanted.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, a)
        inputs += ["--in", "%s=%s" % (name, path)]
    whole = os.path.join(folder, "all.safetensors")
    r = run(*inputs, "--out", whole)
    tensors = read_safetensors(whole)
    ok(r.returncode == 0 and not r.stdout
       and set(tensors) == {*DTYPES, "index", "sum", "least", "scalar"},
       "all results in one file", r.stderr)
    for name, a in wanted.items():
        dtype, shape, data, begin = tensors[name]
        ok(dtype == SAFE[name] and shape == [4, 6] and data == a.tobytes()
           and begin % a.dtype.itemsize == 0, "%s in it" % dtype)
    ok(tensors["scalar"][1] == [], "a scalar in it")
    some = os.path.join(folder, "some.safetensors")
    other = os.path.join(folder, ".", "some.safetensors")
    r = run(*inputs, "--out", "p=" + some, "--out", "d=" + other, "--out",
            "f=" + os.path.join(folder, "f.npy"), "--out", "w=" + some)
    tensors = read_safetensors(some)
    ok(r.returncode == 0 and set(tensors) == {"p", "d", "w"}
       and tensors["d"][2] == wanted["d"].tobytes()
       and same(np.load(os.path.join(folder, "f.npy")), wanted["f"]),
       "three results in one file, one in another", r.stderr)
    for name in "p", "d", "w":
        round_trip(folder, "%s read again" % SAFE[name], name, some, wanted[name])
    r = subprocess.run([PROGRAM, *inputs, "--out", "h=-", "--stats", "--out", "d=" + some],
                       capture_output=True, timeout=60)
    ok(same(np.load(io.BytesIO(r.stdout)), wanted["h"]) and b"bytes of memory" in r.stderr
       and set(read_safetensors(some)) == {"d"},
       "one on standard output, reports on standard error", r.stderr)
    with open("/dev/full", "w") as full:
        r = subprocess.run([PROGRAM, "--out", "f=-"], stdout=full, stderr=subprocess.PIPE,
                           text=True, timeout=60)
    ok(r.returncode == 3 and "standard output: No space left" in r.stderr,
       "one on standard output that is full", r.stderr)


def standard_input(folder):
    def given(data, *arguments):
        return subprocess.run([PROGRAM, "--in", "f=-", *arguments], input=data,
                              capture_output=True, timeout=60)
    data = npy_bytes(GOOD, DATA)
    r = given(data, "--out", "f=-")
    ok(r.returncode == 0 and same(np.load(io.BytesIO(r.stdout)), sample("f")),
       "from standard input to standard output", r.stderr)
    for name, text, reason in [
        ("empty", b"", "it is not a .npy"),
        ("cut", data[:-1], "96 bytes of data, it has 95"),
        ("longer", data + b"x", "96 bytes of data, it has 97"),
        ("far too long", data + bytes(1 << 21), "it is too long"),
        ("another shape", npy_bytes(GOOD.replace("6", "5"), DATA[:80]), "holds f32[4, 5]"),
    ]:
        r = given(text)
        ok(r.returncode == 3 and b"standard input: " in r.stderr and reason.encode() in r.stderr,
           "standard input refused: " + name, r.stderr)
    r = given(data, "--in", "d=-")
    ok(r.returncode == 2 and b"both from standard input" in r.stderr, "two of them", r.stderr)


def texts(folder):
    text = bytes(range(232, 256)) + b"tail"
    path = write(folder, "t.txt", text[:24])
    r = run("--in", "ub=" + path, "--in", "i=" + path, "--out", folder + "/of_text",
            "--out", "ub=" + folder + "/again.txt")
    wanted = np.frombuffer(text[:24], np.uint8).reshape(4, 6)
    ok(r.returncode == 0 and same(np.load(folder + "/of_text/ub.npy"), wanted)
       and same(np.load(folder + "/of_text/i.npy"), wanted.astype(np.int32)),
       "text is a byte an element, in u8 and i32", r.stderr)
    ok(open(folder + "/again.txt", "rb").read() == text[:24], "text written is its bytes")
    path = write(folder, "n.txt", npy_bytes(GOOD, DATA)[:24])
    r = run("--in", "ub=" + path, "--out", "ub=" + folder + "/again.txt")
    ok(r.returncode == 0 and open(folder + "/again.txt", "rb").read()[:6] == b"\x93NUMPY",
       "text that begins as a .npy does", r.stderr)
    for name, data, parameter, reason in [
        ("empty", b"", "ub", "it has 0 bytes, the parameter 24 elements"),
        ("too short", text[:23], "i", "it has 23 bytes"),
        ("too long", text[:25], "ub", "it has 25 bytes"),
        ("of floats", text[:24], "f", "a .txt file is u8 or i32, the parameter is f32"),
        ("of i8", text[:24], "b", "a .txt file is u8 or i32, the parameter is i8"),
    ]:
        path = write(folder, "bad.txt", data)
        r = run("--in", "%s=%s" % (parameter, path))
        ok(r.returncode == 3 and reason in r.stderr and path in r.stderr
           and r.stderr.count("\n") == 1, "text refused: " + name, r.stderr)


def files_of_many(folder):
    data, entries = b"", {"loss": entry("f"), "lr": {
        "dtype": "F8_E4M3", "shape": [8], "data_offsets": [96, 104]}}
    data = sample("f").tobytes() + bytes(8)
    for name in "f", "i", "w":
        entries[name] = entry(name, len(data))
        data += sample(name, seed=3).tobytes()
    entries["scalar"] = {"dtype": "F32", "shape": [], "data_offsets": [len(data), len(data) + 4]}
    data += np.float32(2.5).tobytes()
    many = write(folder, "many.safetensors", safetensors(entries, data))
    out = folder + "/of_many"
    r = run("--in", many, "--ones", "--out", out)
    ok(r.returncode == 0 and np.load(out + "/scalar.npy") == 2.5
       and all(same(np.load(out + "/%s.npy" % n), sample(n, seed=3)) for n in "fiw")
       and (np.load(out + "/d.npy") == 1).all(),
       "all parameters that a file has, by name", r.stderr)
    one = os.path.join(folder, "one.npy")
    np.save(one, sample("f", seed=4))
    for arguments in ["--in", "f=" + one, "--in", many], ["--in", many, "--in", "f=" + one]:
        r = run(*arguments, "--random", "i=7..8", "--out", out)
        ok(r.returncode == 0 and same(np.load(out + "/f.npy"), sample("f", seed=4))
           and (np.load(out + "/i.npy") == 7).all()
           and same(np.load(out + "/w.npy"), sample("w", seed=3)),
           "one that is given by itself is not from the file of many", r.stderr)
    other = write(folder, "other.safetensors", safetensors(
        {"l": entry("l")}, sample("l").tobytes()))
    r = run("--in", many, "--in", other, "--out", out)
    ok(r.returncode == 0 and same(np.load(out + "/l.npy"), sample("l"))
       and same(np.load(out + "/f.npy"), sample("f", seed=3)), "two files of many", r.stderr)
    ok(r.stderr == "note: made up, since no --in has it: p, b, ub, u, h, d, index, sum and 1 more\n"
       and run("--in", many, "--random", "1", "--out", out).stderr == "",
       "what no file of many has is told, unless it was asked for", r.stderr)
    for name, file, status, reason in [
        ("the same in two", safetensors({"f": entry("f")}, DATA), 2,
         "--in: 'f' is in %s and in" % many),
        ("no parameter", safetensors({"x": entry("f")}, DATA), 3, "holds no parameter"),
        ("no tensor", safetensors({}, b""), 3, "none at all"),
        ("another shape", safetensors({"d": entry("f", shape=(6, 4))}, DATA), 3,
         "holds f32[6, 4], parameter d is f64[4, 6]"),
        ("another dtype", safetensors({"d": entry("f")}, DATA), 3,
         "holds f32[4, 6], parameter d is f64[4, 6]"),
        ("cut", safetensors({"d": entry("d")}, sample("d").tobytes()[:-1]), 3,
         "cannot be read as d"),
        ("no .safetensors", b"hello", 3, "it is not a .safetensors file"),
    ]:
        bad = write(folder, "bad.safetensors", file)
        r = run("--in", many, "--in", bad)
        ok(r.returncode == status and reason in r.stderr and bad in r.stderr
           and r.stderr.count("\n") == 1, "a file of many: " + name, r.stderr)


def many_parameters(folder):
    """In a second; where each of them reads the whole header, not in many minutes."""
    values = np.arange(5000, dtype=np.float32)
    path = write(folder, "very_many.safetensors", safetensors(
        {"p%d" % i: {"dtype": "F32", "shape": [], "data_offsets": [4 * i, 4 * i + 4]}
         for i in range(len(values))}, values.tobytes()))
    r = run("--in", path, program=MANY)
    ok(r.returncode == 0 and r.stdout == "p4999  f32[]  4999\n",
       "5,000 parameters of one file", r.stderr or r.stdout)


def npz_bytes(save=np.savez, **arrays):
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()


def npz_files(folder):
    """As numpy writes and reads them: bf16 is two bytes that have no name."""
    if not NPZ:
        path = write(folder, "f.npz", npz_bytes(f=sample("f")))
        for arguments in ["--in", path], ["--in", "f=" + path], ["--out", path + "new.npz"]:
            r = run(*arguments)
            ok(r.returncode == 3 and "built without minizip" in r.stderr
               and not os.path.exists(path + "new.npz"),
               "npz is refused: " + arguments[0], (r.returncode, r.stderr))
        return ok(True, "npz # SKIP built without minizip")
    arrays = {name: sample(name, seed=5) for name in DTYPES}
    for save in np.savez, np.savez_compressed:
        path = write(folder, "all.npz", npz_bytes(save, **arrays, layer=sample("f", seed=6)))
        out = os.path.join(folder, "again.npz")
        r = run("--in", path, "--out", out)
        again = np.load(out)
        ok(r.returncode == 0 and all(same(again[n], a) for n, a in arrays.items())
           and sorted(again) == sorted([*DTYPES, "index", "sum", "least", "scalar"]),
           "npz, all by name, by %s" % save.__name__, r.stderr)
        round_trip(folder, "npz, another key", "f", path + "#layer", sample("f", seed=6))
        round_trip(folder, "npz, one of many", "d", path, arrays["d"])
    first = open(out, "rb").read()
    run("--in", path, "--out", out)
    ok(open(out, "rb").read() == first, "equal results are equal .npz files")
    r = run("--in", path, "--out", "f=" + out, "--out", "i=" + out)
    ok(r.returncode == 0 and sorted(np.load(out)) == ["f", "i"], "npz, two of all results", r.stderr)
    f = arrays["f"]
    good, packed = npz_bytes(f=f), npz_bytes(np.savez_compressed, f=np.zeros_like(f))
    start = 30 + sum(struct.unpack("<HH", packed[26:30]))
    refused(folder, "npz", [
        ("empty", b"", "it is not a zip file"),
        ("no zip", b"hello, world", "it is not a zip file"),
        ("cut", good[:-30], "it is not a zip file"),
        ("without the parameter", npz_bytes(g=f), "it has no f.npy"),
        ("of another type", npz_bytes(f=f.astype(np.float64)), "holds f64[4, 6], parameter f is f32[4, 6]"),
        ("of another type, a gigabyte", npz_bytes(np.savez_compressed, f=np.zeros(1 << 27)),
         "holds f64[134217728]"),
        ("of no type", npz_bytes(f=f.astype(np.clongdouble)), "'c32' is none of"),
        ("a byte is another", good.replace(f.tobytes(), f.tobytes()[:-1] + b"?"), "another checksum"),
        ("cannot be inflated", packed[:start] + b"\xff" * 8 + packed[start + 8:], "cannot be inflated"),
    ])
    for i in range(len(packed)):
        path = write(folder, "any.npz", packed[:i] + bytes([packed[i] ^ 0x55]) + packed[i + 1:])
        r = run("--in", "f=" + path, "--out", "f=" + out)
        if r.returncode not in (0, 3) or (r.returncode == 0 and np.load(out)["f"].any()):
            return ok(False, "npz, byte %d is another" % i, (r.returncode, r.stderr))
    ok(True, "npz, any byte is another")


def steps_and_checks(folder):
    add = os.path.join(folder, "add.npy")
    w = os.path.join(folder, "w.npy")
    for value in 1, 2:
        np.save(add, np.int32(value))
        r = run("--iota", "--in", "add=" + add, "--steps", "5", "--out",
                "w=" + w, "--check", program=COUNTER)
        ok((np.load(w) == np.arange(8) + 5 * value).all(),
           "five steps of %d" % value, r.stderr)
        ok(r.returncode == value - 1, "the last step is checked", r.returncode)
    ok(r.stdout == "check w: WRONG in 8 of 8 elements; at [0] got 10, "
       "wanted 9 (error 1, bound 0)\n", "what a mismatch says", r.stdout)
    r = run("--ones", "--check", "--stats", program=COUNTER)
    ok(r.returncode == 0 and "time on v5e: 4.500000 us (emulated, nothing overlaps)" in r.stdout
       and "check w: ok, 8 elements" in r.stdout, "check and stats", r.stdout)
    r = run("--time", "20", "--ones", "--check", program=COUNTER)
    ok(r.returncode == 0, "parameters are filled before each run", r.stdout)
    r = run("--time", "2", "--steps", "2", program=COUNTER)
    ok(r.returncode == 2, "time and steps exclude each other", r.stderr)


def rows_of(path):
    with open(path) as f:
        text = f.read()
    return text.endswith("\n"), [line.split(",") for line in text.splitlines()]


def logs(folder):
    log = os.path.join(folder, "log.csv")
    scalar = os.path.join(folder, "scalar.npy")
    np.save(scalar, np.float32(1 / 3))
    r = run("--in", "scalar=" + scalar, "--steps", "3", "--log", log)
    whole, rows = rows_of(log)
    ok(r.returncode == 0 and not r.stderr and whole
       and rows[0] == ["step", "seconds", "scalar"]
       and [row[0] for row in rows[1:]] == ["1", "2", "3"]
       and all(float(row[1]) > 0 and np.float32(row[2]) == np.float32(1 / 3)
               for row in rows[1:]), "a row a step, exact, and nothing else", (rows, r.stderr))
    r = run("--log", log, program=COUNTER)
    ok(r.returncode == 0 and rows_of(log)[1][0] == ["step", "seconds"]
       and len(rows_of(log)[1]) == 2, "one run is one step; no result is a scalar", r.stderr)
    p = subprocess.Popen([PROGRAM, "--steps", "1000000", "--log", log], stderr=subprocess.PIPE)
    while os.path.getsize(log) < 20000:
        assert p.poll() is None
    p.kill()
    p.communicate()
    whole, rows = rows_of(log)
    ok(whole and all(len(row) == 3 for row in rows), "a killed run leaves whole rows", rows[-1])
    r = subprocess.run(
        [PROGRAM, "--steps", "1000", "--log", log], capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    whole, rows = rows_of(log)
    ok(r.returncode == 3 and "File too large" in r.stderr and whole
       and 900 < os.path.getsize(log) <= 1000 and all(len(row) == 3 for row in rows),
       "a log beyond the limit of size ends with a whole row", (r.stderr, rows[-1]))
    for name, arguments, status, reason in [
        ("a full device", ["--log", "/dev/full"], 3,
         "/dev/full: cannot be written: No space left"),
        ("no such folder", ["--log", "/nonexistent/l.csv"], 3, "cannot be written"),
        ("a folder", ["--log", folder], 3, "directory"),
        ("standard output", ["--log", "-"], 2, "a file is wanted"),
        ("twice", ["--log", log, "--log", log], 2, "given twice"),
        ("with --time", ["--log", log, "--time", "2"], 2, "one of them"),
        ("into a result", ["--log", log, "--out", "f=" + log], 2, "both would write"),
        ("into the trace", ["--log", log, "--trace", log], 2, "both would write"),
    ]:
        r = run(*arguments)
        ok(r.returncode == status and reason in r.stderr and r.stderr.count("\n") == 1,
           "a log: " + name, (r.returncode, r.stderr))


def on_terminal(*arguments, limit=resource.RLIM_INFINITY):
    ours, theirs = os.openpty()
    p = subprocess.Popen(
        [PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=theirs,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 4096):
            text += piece
    except OSError:     # the other end is closed
        pass
    os.close(ours)
    return p.wait(timeout=60), text.decode()


def progress(folder):
    status, text = on_terminal("--ones", "--steps", "40")
    lines = text.split("\r")
    number = r"[0-9.]+ (us|ms|s) a step *"
    ok(status == 0 and re.fullmatch("step 1 of 40  scalar 1  " + number, lines[1])
       and re.fullmatch("step 40 of 40  scalar 1  " + number, lines[-2])
       and lines[-1] == "\n" and lines[0] == "", "steps on a terminal", text)
    ok(on_terminal("--ones") == (0, ""), "one run is not shown there")
    status, text = on_terminal("--steps", "40", "--log", folder + "/l.csv", limit=150)
    ok(status == 3 and "a step\r\nidentity: " in text
       and text.endswith("File too large\r\n"), "what fails is told on a line of its own",
       text)


with tempfile.TemporaryDirectory() as folder:
    NPZ = "built without minizip" not in run("--out", folder + "/probe.npz").stderr
    for test in (good_npy, partial, good_safetensors, bad_paths, generators,
                 other_outputs, together, safetensors_outputs, standard_input, texts, files_of_many,
                 many_parameters,
                 npz_files,
                 steps_and_checks, logs, progress):
        test(folder)
    refused(folder, "npy", BAD_NPY)
    refused(folder, "safetensors", BAD_SAFETENSORS)
print("1..%d" % count)
sys.exit(failed != 0)
