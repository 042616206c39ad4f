#!/usr/bin/env python3
"""Random JAX programs: what shdc reads computes what JAX does, and is placed as Shardy places it.

    run.py SHDC [--seed S] [--first I] [--count N] [--show] [--venv FOLDER]

Needs jax 0.10.2, of this Python or of the virtual environment in FOLDER; skipped without it.
Program I of a seed is always the same (generate.py): jit, scan, grad, shard_map, constraints,
explicit mode.  It is lowered for TPU on a mesh of eight devices and asked:

    values      shdc --interpret and --run on emulated devices beside JAX on eight CPU devices (where XLA's
                partition is wrong, which it is of some scatters, beside JAX on one, or op by op):
                largest difference over the result's largest magnitude (at least 0.1: it may be a
                difference itself), f32 1e-5, what was bf16 once 1e-2, integers exactly; up to ten
                times as much where JAX's own result goes as far when its arguments are off by
                their last place
    placements  its arguments and results as Shardy's own passes have them; not where Shardy
                knows nothing of an op (OTHER), or splits a dim by axes that do not divide it

Without a seed it is a fresh one, which is printed.  TAP; the status is 1 if anything differs.
"""
import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
if "--venv" in sys.argv[:-1]:
    PYTHON = sys.argv[sys.argv.index("--venv") + 1] + "/bin/python"
    if not os.path.exists(PYTHON):
        print("1..0 # SKIP no " + PYTHON)
        sys.exit(0)
    if os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(PYTHON))):
        os.execv(PYTHON, [PYTHON, *sys.argv])
sys.path[:0] = [HERE, HERE + "/../xla"]
import jax_values  # skips without jax  # noqa: E402
import jax
import numpy as np
from generate import Program
from jax_places import misplaced

# Programs in whose text this stands are not placed alike, and why.
OTHER = {
    "chlo.top_k": "Shardy knows nothing of it",
    "_batching_dims": "rows of a batch are compared with positions: both are dims of one tensor then",
    r"interior = \[[0, ]*1": "padding between elements is reshapes here",
}


def lowered(program, values):
    """The text, and the results."""
    def made():
        function = jax.jit(program.function, keep_unused=True)
        text = function.trace(*values).lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
        return text, jax.tree.leaves(function(*values))
    if not program.explicit:
        return made()
    with jax.set_mesh(program.mesh):
        return made()


def misplacements(shdc, text):
    run = subprocess.run([shdc, "--emit=stats", "-"], input=text, capture_output=True, text=True, check=False)
    if run.returncode:
        return [run.stderr]
    if any(re.search(pattern, text) for pattern in OTHER):
        return []
    differ, uneven = misplaced(text, json.loads(run.stdout))
    return [] if uneven else ["%s: %s" % item for item in differ.items()]


def differences(program, got, wanted, moved=()):
    """moved: how far each result goes by itself, which it may four times, up to ten times what others may."""
    found = []
    for (name, given), want, result, far in itertools.zip_longest(got, wanted, program.results, moved):
        within = 1e-2 if result in program.loose else 1e-5
        most = within if far is None else max(within, min(4 * far, 10 * within))
        found.append((name, jax_values.difference(given, want, most, least=0.1)))
    return ["%s: %s" % (name, off) for name, off in found if off]


def nudged(value, random):
    """Floats one place up or down from where they are."""
    if not jax.numpy.issubdtype(value.dtype, jax.numpy.floating):
        return np.asarray(value)
    given = np.asarray(value)
    ways = np.where(random.integers(0, 2, given.shape), np.inf, -np.inf).astype(given.dtype)
    return np.nextafter(given, ways).astype(given.dtype)


def moved(program, values, wanted):
    """How far each result goes, of its largest magnitude, where the arguments are off by their last place, by JAX
    alone: a recurrence may make that a thousand times as much, and the rounding of each of its steps, too."""
    random = np.random.default_rng(0)
    function = jax.jit(program.function)
    most = [0.0] * len(wanted)
    for _ in range(4):
        results = jax.tree.leaves(function(*(nudged(v, random) for v in values)))
        for i, (result, want) in enumerate(zip(results, wanted)):
            result, want = (np.nan_to_num(np.asarray(x, np.float64)) for x in (result, want))
            far = np.max(np.abs(result - want), initial=0) / max(np.max(np.abs(want), initial=0), 0.1)
            most[i] = max(most[i], float(far))
    return most


def op_by_op(program):
    """The function, whose ops JAX compiles one by one; a shard_map is one: partly manual, JAX runs none of its ops."""
    names = dict(program.names, shard_map=lambda body, **given: jax.jit(jax.shard_map(body, **given)))
    exec(program.text.replace("jax.shard_map(", "shard_map("), names)
    return names["program"]


def check(shdc, program, folder):
    """What is wrong."""
    values = program.values()
    text, wanted = lowered(program, values)
    wrong = misplacements(shdc, text)
    for how in "--interpret", "--run":
        try:
            got = jax_values.results(shdc, how, text, values, folder)
        except ValueError as why:
            return [*wrong, str(why)]
        wrong += ["%s: %s" % (how, off) for off in wrong_values(program, values, got, wanted)]
    return wrong


def wrong_values(program, values, got, wanted):
    """What is off.  Where XLA or the program itself is why, that is said, and nothing is."""
    off = differences(program, got, wanted)
    there = list(map(np.asarray, values))
    for alone in () if program.explicit else (jax.jit(program.function), op_by_op(program)):
        if off and not differences(program, got, jax.tree.leaves(alone(*there))):
            print("# XLA's own partition of this program computes something else than the program")
            off = []
    if off and not program.explicit \
            and not differences(program, got, wanted, moved(program, values, wanted)):
        print("# ill-conditioned, %s: so is JAX's where arguments are off by their last place" % "; ".join(off))
        off = []
    return off


def run_here(options):
    for number in range(options.first, options.first + options.count):
        program = Program(options.seed, number)
        with tempfile.TemporaryDirectory() as folder:
            wrong = check(os.path.abspath(options.shdc), program, folder)
        print("%sok %d - program %d of seed %d" % ("not " * bool(wrong), number + 1, number, options.seed), flush=True)
        if options.show or wrong:
            lines = ["mesh %s%s" % (program.axes, ", explicit" * program.explicit)]
            lines += ["%s: %s" % (v.name, v.aval) for v in program.args] + [program.text]
            print(re.sub("^", "# ", "\n".join([*lines, *(why[:600] for why in wrong)]), flags=re.MULTILINE), flush=True)


def run_all(options):
    """XLA ends the process in which it compiles some programs, or fails within: these are skipped."""
    number, end, passed, failed = options.first, options.first + options.count, 0, 0
    while number < end:
        command = [sys.executable, __file__, options.shdc, "--here", "--seed", str(options.seed), "--first", str(number),
                   "--count", str(end - number), *["--show"] * options.show]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(child.stderr.read()))
        reader.start()
        for line in child.stdout:
            sys.stdout.write(line)
            passed += line.startswith("ok ")
            failed += line.startswith("not ok ")
            number += line.startswith(("ok ", "not ok "))
            sys.stdout.flush()
        reader.join()
        refused = re.findall(r"JaxRuntimeError: (INTERNAL: .{0,80})", errors[0])
        if child.wait() < 0 or refused:
            why = re.findall(r"^F.*\] (.*)", errors[0], re.MULTILINE) or refused or ["signal %d" % -child.returncode]
            print("ok %d - program %d # SKIP XLA ended: %s" % (number + 1, number, why[0]), flush=True)
            number += 1
        elif number < end:
            sys.exit(errors[0])
    print("# %d passed, %d failed, %d skipped" % (passed, failed, options.count - passed - failed))
    return failed > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shdc")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--venv", help="of a Python with jax")
    parser.add_argument("--show", action="store_true", help="the text of each")
    parser.add_argument("--here", action="store_true", help="in this process; it is the child of another")
    options = parser.parse_args()
    if options.here:
        return run_here(options)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 30)
    print("%d..%d\n# seed %d" % (options.first + 1, options.first + options.count, options.seed), flush=True)
    return run_all(options)


if __name__ == "__main__":
    sys.exit(main())
