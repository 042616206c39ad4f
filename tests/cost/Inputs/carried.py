#!/usr/bin/env python3
"""carried.py TESTS DIRECTORY SHDC...: which options a sweep's row and --versus take over.

Every row of options.def is here: with what it changes the cost of a program, or that it
shapes none.  A row of --sweep, and --versus with a copy of the program, must cost what the
program itself does under the same options; and without them something else.
"""
import json
import os
import re
import shutil
import subprocess
import sys

tests, directory, *shdc = sys.argv[1:]
OURS = os.path.join(tests, "cost", "Inputs", "carried.shd")
JAX = os.path.join(tests, "import", "Inputs", "step.mlir")
IMPORTS = ["-I", os.path.join(directory, "imports")]
# What it is given; the program if it is JAX's.
SHAPES = {
    "-D": (["-D", "WIDTH=1024"], OURS),
    "--mesh": (["--mesh", "X=4,Y=2"], OURS),
    "--on": (["--on", "v5p:2x4x1"], OURS),
    "--layout": (["--layout", "Y=(x,y:(1)2),X=y:(2)2"], OURS),
    "--place": (["--place", "p.w*=[data, _]"], JAX),
    "--entry": (["--entry", "half"], OURS),
    "-I": ([], OURS),
    "--keep-inputs": (["--keep-inputs"], OURS),
    "--overlap": (["--overlap", "async"], OURS),
    "--tokens": (["--tokens", "2*ROWS"], OURS),
    "--strict": (["--strict"], OURS),
}
SHAPE_NOTHING = """
    -o --emit --explain --run --interpret --check --print-targets --print-target --xla --sweep --sort --versus --versus-mesh
    --versus-on -R --print-after --stop-after --start-at --list-passes --time-passes --cc --cflags -L -g -O --transport
    --diagnostics-format --color --max-errors --explain-error --help --version""".split()
COLUMNS = ["seconds", "lower_seconds", "exposed_seconds", "memory_peak", "wire_bytes"]


def run(*words):
    done = subprocess.run([*shdc, *words], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def costs(row):
    return [row.get(column) for column in COLUMNS] + [round(row.get("tokens_per_second") or 0)]


def direct(program, words):
    out, err = run("--emit=cost.json", *words, program)
    return costs(json.loads(out)) if out else re.search(r"\[SHD\d+\]", err)[0]


def swept(program, words):
    """The row of a sweep that says what the program says itself."""
    same = "ROWS=4096" if program == OURS else "model=4"
    out, _ = run("--emit=cost.json", "--sweep", same, *words, program)
    row = json.loads(out)["rows"][0]
    return re.search(r"\[SHD\d+\]", row["error"])[0] if row["error"] else costs(row)


def versus(program, words):
    """The other side of a report on a program and a copy of it."""
    page = os.path.join(directory, "page.html")
    copy = os.path.join(directory, "copy" + os.path.splitext(program)[1])
    shutil.copy(program, copy)
    _, err = run("--emit=report=" + page, "--versus", copy, *words, program)
    if err and not os.path.exists(page):
        return re.search(r"\[SHD\d+\]", err)[0]
    with open(page, encoding="utf-8") as text:
        data = re.search(r'(?s)id="data">(.*?)</script>', text.read())[1]
    os.remove(page)
    return costs(json.loads(data)["versus"]["cost"])


def main():
    os.makedirs(IMPORTS[1], exist_ok=True)
    with open(os.path.join(IMPORTS[1], "carried_scale.shd"), "w", encoding="utf-8") as out:
        out.write("fn scaled(x) { return x * 2.0; }\n")
    with open(os.path.join(tests, "..", "compiler", "driver", "options.def"), encoding="utf-8") as table:
        options = re.findall(r'(?m)^OPTION\("(.*?)"', table.read())
    wrong = ["%s: does it shape a program? carried.py has to know" % option
             for option in options if option not in SHAPES and option not in SHAPE_NOTHING]
    wrong += ["%s is no option" % option for option in [*SHAPES, *SHAPE_NOTHING] if option not in options]
    for option, (words, program) in SHAPES.items():
        more = IMPORTS if program == OURS else []
        asked = direct(program, words + more)
        if asked == direct(program, more if option != "-I" else []):
            wrong.append("%s changes nothing here" % option)
        for way in (swept, versus):
            if way(program, words + more) != asked:
                wrong.append("%s is not taken over where it is %s: %s, not %s"
                             % (option, way.__name__, way(program, words + more), asked))
    print("\n".join(wrong) or "%d options are taken over" % len(SHAPES))
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
