#!/usr/bin/env python3
"""The programs of samples/jax/ as JAX lowers them now, and their values beside JAX's.

    jax_samples.py SHDC [NAME...]

Needs jax 0.10.2; exits 77 without it.  Each program is lowered again, which is the text that
is kept; it is run by shdc on emulated devices, interpreted and built, from the arguments that
JAX had, and compared with what JAX made of them on eight CPU devices.
"""
import os
import subprocess
import sys
import tempfile

try:
    import jax
except ImportError as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = ["fsdp_mlp", "tensor_parallel", "llama", "moe", "ring", "decode"]


def python(name, *arguments):
    subprocess.run([sys.executable, "%s/samples/jax/%s.py" % (ROOT, name), *arguments], check=True,
                   capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def wrong(shdc, name, folder):
    """None, or what is wrong."""
    kept, now = "%s/samples/jax/%s.mlir" % (ROOT, name), folder + "/now.mlir"
    python(name, now)
    with open(kept, encoding="utf-8") as a, open(now, encoding="utf-8") as b:
        if a.read() != b.read():
            return "%s.py is lowered to another text than is kept" % name
    python(name, "--values", folder)
    for how in "--interpret", "--run":
        run = subprocess.run([shdc, how, now, "--", "--in", folder + "/in.npz", "--against", folder + "/out.npz"],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            return how + run.stderr + run.stdout
    print("".join("# %s\n" % line for line in run.stdout.splitlines()), end="")
    return None


def main():
    shdc, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or NAMES
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            why = wrong(shdc, name, folder)
        failed += why is not None
        print("%sok - %s with JAX %s" % ("not " if why else "", name, jax.__version__))
        if why:
            print("# " + why[:600].replace("\n", "\n# "))
    print("%d passed, %d failed, 0 skipped" % (len(names) - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
