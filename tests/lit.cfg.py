# Configuration of lit, LLVM's test runner, for the golden tests.
# meson passes SHDC; by hand: lit -v tests/errors (with build/ beside tests/).
import importlib.util
import os
import shutil
import sys

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
shdc = os.environ.get("SHDC") or os.path.join(root, "build", "compiler", "driver", "shdc")
if not os.path.exists(shdc):
    lit_config.fatal("no shdc at %s: build it, or set SHDC" % shdc)
out = os.path.join(os.path.dirname(shdc), "..", "..", "tests", "out")
# Suites run beside each other, and each writes down how long its tests took: in a folder of
# its own.
asked = [os.path.basename(os.path.abspath(path)) for path in sys.argv[1:] if os.path.isdir(path)]

config.name = "shdc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".shd", ".hlo", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "bench", "runtime", "random", "xla", "manual"]
config.test_source_root = os.path.join(root, "tests")
config.test_exec_root = os.path.abspath(os.path.join(out, "-".join(asked) or "some"))
command = shdc
if os.environ.get("SHDC_ONE_MESH"):
    config.available_features.add("one_mesh")
if os.environ.get("SHDC_CFLAGS"):       # a sanitizer build: programs link its runtime
    command += " --cflags=" + os.environ["SHDC_CFLAGS"]
    config.available_features.add("sanitized")
config.substitutions += [
    # A run on one more mesh: left out where time is short.
    ("%run_mesh", ":" if os.environ.get("SHDC_ONE_MESH") else command + " --run --mesh"),
    ("%shdc", command),
    ("%samples", os.path.join(root, "samples")),
    # Where the libraries of extern functions are built.
    ("%libraries", "-L %s/tests -L %s/samples" % ((os.path.abspath(os.path.join(out, "..", "..")),) * 2)),
    ("%tests", os.path.join(root, "tests")),
    ("%python", sys.executable),
]
llvm = ["/usr/lib/llvm-%d/bin" % n for n in range(20, 13, -1)]
config.environment["PATH"] = os.pathsep.join(
    [os.environ.get("PATH", "")] + [d for d in llvm if os.path.isdir(d)])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-context=20"
config.environment["TERM"] = "dumb"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "CC", "SHDC_ONE_MESH"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if importlib.util.find_spec("numpy"):
    config.available_features.add("numpy")
if shutil.which("setarch"):
    config.available_features.add("linux")
for folder in llvm + os.environ.get("PATH", "").split(os.pathsep):
    if shutil.which("FileCheck", path=folder):
        config.available_features.add("filecheck")
if "filecheck" not in config.available_features:
    lit_config.fatal("FileCheck is missing: apt-get install llvm-14-tools")
