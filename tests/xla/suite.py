#!/usr/bin/env python3
"""XLA reads our dumps and computes our numbers.

    suite.py SHDC [FILE.shd...]          default: samples/, tests/xla/ and
                                         40 random programs
    suite.py SHDC --random N [--seed S]  N programs of tests/random/
    suite.py SHDC --meshes               samples/, each on the meshes of its test

Needs jaxlib 0.10.2; exits 77 without it.  For each program: the dumps at all
four stages are parsed by XLA's own HLO parser; the device program, as it is and
fused, is executed by XLA on as many CPU devices and compared with what
shdc --interpret computes from the same inputs.  XLA's CPU back end runs replicas,
so partition-id becomes replica-id and channel ids are dropped first; it expects
to make fusions itself, so ours become calls.  An unreduced input is the
file's value on index 0 of its axes and the identity elsewhere; an unreduced
result is combined here.  A dim that its axes do not divide has zeros behind the
inputs, and anything behind the results.  Its CPU back end has no ragged-all-to-all: programs with
one are parsed only.  Then 100 random programs are placed as Shardy does (shardy.py).
"""
import argparse
import glob
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

import back_end

DEVICES = 16
LEAST_MESHES = 3
back_end.use_devices(DEVICES, "--xla_allow_excess_precision=false",
                     *[back_end.SLOWER] * ("--meshes" not in sys.argv))  # random ones have byte floats
try:
    import jax
    import ml_dtypes
    import numpy as np
    from jax._src.lib import xla_client as xc
    from jaxlib import _hlo
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

jax.config.update("jax_enable_x64", True)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT + "/tests/samples/Inputs")
from how_tested import meshes, sizes  # noqa: E402
DTYPES = {"pred": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
          "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
BYTES = ["e5m2", "e4m3", "e3m4", "e4m3fn", "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz"]
DTYPES.update({"f8" + name: getattr(ml_dtypes, "float8_" + name) for name in BYTES}, i4=ml_dtypes.int4, u4=ml_dtypes.uint4)
COMBINERS = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply,
             "and": np.logical_and, "or": np.logical_or}
TOLERANCE = {**{"f8" + name: 0.5 if "e5m2" in name else 0.25 for name in BYTES}, "f16": 2e-2, "bf16": 5e-2, "f32": 1e-4, "f64": 1e-10}


class Spec:
    """A placed type as the language writes it: "f32[8@X, 4@(Y,Z:(1)2)]"."""

    def __init__(self, text, mesh):
        self.mesh = mesh
        m = re.match(r"(\w+)\[(.*?)\](.*)$", text)
        self.dtype = m.group(1)
        self.partial(m.group(3))
        self.dims, self.axes = [], []
        for dim in re.findall(r"[^,()]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\)\d*)?(?: pad)?", m.group(2)):
            size, _, axes = dim.strip().removesuffix(" pad").partition("@")
            self.dims.append(int(size))
            if not axes.startswith("("):
                axes = "(" + axes + ")"
            self.axes.append([self.axis(a) for a in re.findall(r"\w+(?::\(\d+\)\d+)?", axes[1:-1])])

    def partial(self, text):
        """self.unreduced: axes; self.combiner"""
        m = re.match(r" *unreduced\((.*)\)$", text)
        words = re.findall(r"\w+(?::\(\d+\)\d+)?", m.group(1)) if m else []
        named = words and words[-1] in COMBINERS and words[-1] not in self.mesh
        self.combiner = words.pop() if named else "add"
        self.unreduced = [self.axis(word) for word in words]

    def is_first(self, device):
        """Whether this device has the value of an unreduced input."""
        return all(self.coordinate(device, a) == 0 for a in self.unreduced)

    def axis(self, text):
        """(mesh axis, pre, size)"""
        name, _, part = text.partition(":")
        m = re.match(r"\((\d+)\)(\d+)", part)
        return (name, int(m.group(1)), int(m.group(2))) if m else (name, 1, self.mesh[name])

    def others(self, device):
        """Where a device stands, but for the coordinates of unreduced axes."""
        names, at = list(self.mesh), []
        for name in names:
            size, here = self.mesh[name], self.coordinate(device, (name, 1, self.mesh[name]))
            for _, pre, part in [a for a in self.unreduced if a[0] == name]:
                minor = size // (pre * part)
                here -= here // minor % part * minor
            at.append(here)
        return tuple(at)

    def coordinate(self, device, axis):
        names = list(self.mesh)
        for name in reversed(names):
            here, device = device % self.mesh[name], device // self.mesh[name]
            if name == axis[0]:
                return here // (self.mesh[name] // (axis[1] * axis[2])) % axis[2]

    def slices(self, device, shape):
        """The elements of a part of that shape, which may go beyond the tensor."""
        cut = []
        for size, axes, part in zip(self.dims, self.axes, shape):
            index = 0
            for a in axes:
                index = index * a[2] + self.coordinate(device, a)
            cut.append(slice(min(index * part, size), min((index + 1) * part, size)))
        return tuple(cut)


def shdc(*args):
    r = subprocess.run([SHDC, *args], capture_output=True, text=True, timeout=300)
    if r.returncode:
        raise RuntimeError("shdc %s: status %d\n%s" % (" ".join(args), r.returncode, r.stderr))
    return r.stdout


def entry_parameters(hlo):
    """Names of the entry's parameters and their shapes, by number."""
    entry = hlo[hlo.index("ENTRY"):]
    found = re.findall(r"%?([\w.]+) = \w+\[([\d,]*)\] parameter\((\d+)\)", entry)
    return {name: [int(n) for n in shape.split(",") if n]
            for name, shape, _ in sorted(found, key=lambda p: int(p[2]))}


def compile_for_replicas(hlo, n):
    hlo = hlo.replace("partition-id(", "replica-id(")
    hlo = re.sub(r" fusion\((.*?)\), kind=kLoop, calls=", r" call(\1), to_apply=", hlo)
    hlo = re.sub(r", (channel_id=\d+|use_global_device_ids=true)", "", hlo)
    hlo = re.sub(r"num_partitions=\d+", "replica_count=%d" % n, hlo)
    module = _hlo.hlo_module_from_text(hlo)
    computation = xc.XlaComputation(module.as_serialized_hlo_module_proto())
    options = xc.CompileOptions()
    options.num_replicas, options.num_partitions = n, 1
    devices = jax.devices()[:n]
    mlir = xc._xla.mlir.xla_computation_to_mlir_module(computation)
    return devices[0].client.compile_and_load(mlir, xc.DeviceList(tuple(devices)), options), devices


def on_devices(parts, devices):
    mesh = jax.sharding.Mesh(np.array(devices), ("d",))
    spec = jax.sharding.PartitionSpec(*(("d",) if parts[0].ndim else ()))
    shape = ((parts[0].shape[0] * len(parts),) + parts[0].shape[1:]) if parts[0].ndim else ()
    placed = [jax.device_put(np.array(p, order="C"), d) for p, d in zip(parts, devices)]
    return jax.make_array_from_single_device_arrays(shape, jax.sharding.NamedSharding(mesh, spec), placed)


def make_input(spec, rng):
    dtype = DTYPES[spec.dtype]
    if spec.dtype == "pred":
        return rng.integers(0, 2, spec.dims).astype(dtype)
    if spec.dtype[0] in "iu":
        low = 0 if spec.dtype[0] == "u" else -8
        return rng.integers(low, 8, spec.dims).astype(dtype)
    return rng.uniform(-1, 1, spec.dims).astype(dtype)


def identity(spec):
    """What combines with anything to that thing."""
    dtype = DTYPES[spec.dtype]
    if spec.combiner in ("max", "min"):
        if spec.dtype in TOLERANCE:
            most = ml_dtypes.finfo(dtype).max if "fn" in spec.dtype else np.inf
            return np.array(-most if spec.combiner == "max" else most).astype(dtype)
        info = ml_dtypes.iinfo(dtype)
        return np.array(info.min if spec.combiner == "max" else info.max, dtype)
    return np.array(spec.combiner in ("mul", "and"), dtype)


def shard(spec, array, device, shape):
    if not spec.is_first(device):
        return np.broadcast_to(identity(spec), shape)
    part = array[spec.slices(device, shape)]
    return np.pad(part, [(0, n - have) for n, have in zip(shape, part.shape)]) if part.ndim else part


def whole_parts(spec, parts):
    """Each device's part of a result, partial ones combined."""
    if not spec.unreduced:
        return parts
    combined = {}
    for d, part in enumerate(parts):
        at = spec.others(d)
        combined[at] = part if at not in combined else \
            COMBINERS[spec.combiner](combined[at], part).astype(part.dtype)
    return [combined[spec.others(d)] for d in range(len(parts))]


def save(path, array):
    if array.dtype.type.__module__ == "ml_dtypes":
        array = array.view("V%d" % array.dtype.itemsize)
    np.save(path, array)


def load(path, spec):
    array = np.load(path)
    return array.view(DTYPES[spec.dtype]) if array.dtype.kind == "V" else array


def difference(name, spec, ours, theirs, bound, tolerance):
    """Floats: within `bound`, and a tolerance of the largest finite element."""
    if spec.dtype not in TOLERANCE:
        wrong = ours != theirs
    else:
        a, b = ours.astype(np.float64), theirs.astype(np.float64)
        finite = np.abs(a[np.isfinite(a)])
        bound += tolerance * max(1.0, float(np.max(finite, initial=0)))
        with np.errstate(invalid="ignore"):
            close = (np.abs(a - b) <= bound) | (a == b) | (np.isnan(a) & np.isnan(b))
        wrong = ~close
    if not wrong.any():
        return None
    at = tuple(np.argwhere(wrong)[0].tolist())
    return "%s: %d of %d elements differ; at %s ours is %s, XLA's %s" % (
        name, wrong.sum(), wrong.size, list(at), ours[at], theirs[at])


def our_results(path, inputs, specs, folder, options):
    args = []
    for name, array in inputs.items():
        save("%s/%s.npy" % (folder, name), array)
        args += ["--in", "%s=%s/%s.npy" % (name, folder, name)]
    out = folder + "/out"
    os.makedirs(out)
    said = shdc(*options, "--interpret", path, "--", *args, "--out", out, "--check")
    bounds = {name: float(b) for name, b in re.findall(r"check (\w+): .*\(bound (\S+?)\)", said)}
    return {name: load("%s/%s.npy" % (out, name), spec) for name, spec in specs.items()}, bounds


def execute(path, hlo, stats, options):
    mesh, n = stats["mesh"], stats["devices"]
    results = {k: Spec(v, mesh) for k, v in stats["results"].items()}
    shapes = entry_parameters(hlo)
    params = {name: Spec(stats["values"][name], mesh) for name in shapes}
    if n > DEVICES:
        return None
    rng = np.random.default_rng(1)
    inputs = {name: make_input(spec, rng) for name, spec in params.items()}
    with tempfile.TemporaryDirectory() as folder:
        ours, bounds = our_results(path, inputs, results, folder, options)
    tolerance = max(TOLERANCE[d] if d + "[" in hlo else 0 for d in TOLERANCE)
    program, devices = compile_for_replicas(hlo, n)
    args = [on_devices([shard(spec, inputs[name], d, shapes[name]) for d in range(n)], devices)
            for name, spec in params.items()]
    outs = program.execute_sharded(args).disassemble_into_single_device_arrays()
    for (name, spec), parts in zip(results.items(), outs):
        parts = whole_parts(spec, [np.asarray(p) for p in parts])
        for d in range(n):
            wanted = ours[name][spec.slices(d, parts[d].shape)]
            got = parts[d][tuple(slice(size) for size in wanted.shape)]
            why = difference("%s on device %d" % (name, d), spec, wanted, got,
                             bounds.get(name, 0), tolerance)
            if why:
                return why
    return None


def cases(paths):
    for path, mesh in paths:
        name = os.path.relpath(path, ROOT) if path.startswith(ROOT) else os.path.basename(path)
        options = LIBRARIES + sizes(path) + (["--mesh", mesh] if mesh else [])
        name += " " + mesh if mesh else ""
        try:
            dumps = {kind: shdc(*options, "--emit=" + kind, path) for kind in ("ir", "sharded", "hlo", "fused")}
            dumps["schedule"] = shdc(*options, "--overlap=async", "--emit=schedule", path)
            stats = json.loads(shdc(*options, "--emit=stats", path))
        except (RuntimeError, OSError) as e:
            yield name, str(e)
            continue
        for kind, text in dumps.items():
            try:
                _hlo.hlo_module_from_text(text)
                yield "%s: %s is parsed" % (name, kind), None
            except Exception as e:
                yield "%s: %s is parsed" % (name, kind), str(e)
        if re.search(r"ragged-all-to-all\(|shdc\.extern", dumps["hlo"]):
            continue
        for kind in ("hlo", "fused"):
            try:
                yield "%s: same numbers from %s" % (name, kind), execute(path, dumps[kind], stats, options)
            except Exception as e:
                yield "%s: same numbers from %s" % (name, kind), "%s: %s" % (type(e).__name__, e)


def few_meshes(samples):
    """Samples that their tests run on less than three."""
    few = [p for p in samples if len(meshes(p)) < LEAST_MESHES]
    return ", ".join(map(os.path.basename, few)) or None


def random_programs(seed, count, folder):
    sys.path.insert(0, ROOT + "/tests/random")
    from generate import generate
    for i in range(count):
        path = "%s/random-%s-%d.shd" % (folder, seed, i)
        with open(path, "w") as f:
            f.write(generate(seed, i).text())
        yield path


def placements():
    """Where values of random programs are, held against Shardy."""
    import shardy
    for name, why, skipped in shardy.cases(SHDC, list(shardy.random_texts("1", 100))):
        if not skipped:
            yield "%s: placements" % name, why


def main(args, folder):
    samples = sorted(p for place in ("/samples/", "/samples/training/") for p in glob.glob(ROOT + place + "*.shd"))
    paths = args.files or samples + sorted(glob.glob(ROOT + "/tests/xla/*.shd"))
    count = 40 if args.random is None and not args.files else args.random or 0
    if args.random is not None:
        paths = args.files
    paths += random_programs(args.seed, count, folder)
    paths, results = [(p, None) for p in paths], []
    if args.meshes:
        paths = [(p, mesh) for p in samples for mesh in meshes(p)]
        results = [("at least %d meshes" % LEAST_MESHES, few_meshes(samples))]
    passed = failed = 0
    alone = args.files or args.random is not None or args.meshes
    more = () if alone else placements()
    for name, why in itertools.chain(results, cases(paths), more):
        print("%s - %s" % ("not ok" if why else "ok", name))
        if why:
            print("# " + "\n# ".join(why.splitlines()[:20]), flush=True)
        passed, failed = passed + (why is None), failed + (why is not None)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shdc")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--random", type=int)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--meshes", action="store_true")
    parsed = parser.parse_args()
    SHDC = os.path.abspath(parsed.shdc)
    # of the extern functions that only the unsharded program calls
    LIBRARIES = ["-L", os.path.join(os.path.dirname(SHDC), "..", "..", "tests")]
    with tempfile.TemporaryDirectory() as directory:
        sys.exit(main(parsed, directory))
