#!/usr/bin/env python3
"""Who uses whom, by the linker's symbols.  TAP.

    structure.py BUILD

A file uses another when it names a symbol that the other defines.  No folder
uses one of a floor above its own; no files of different folders use each other
in a circle, and a circle inside of a folder is a small one.
"""
import collections
import json
import os
import re
import subprocess
import sys

from style import FLOORS, ROOT, floor_of, folder_of

MAX_CYCLE = 6       # files of one folder that use each other in a circle


def objects(build):
    """{object file: source file, from the root} of the compiler and the grammar."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = {}
    for command in commands:
        source = os.path.relpath(os.path.join(command["directory"], command["file"]), ROOT)
        output = os.path.join(command["directory"], command["output"])
        if source.startswith(("compiler/", "grammar/")) and os.path.exists(output):
            found[output] = source
    return found


def symbols(paths):
    """For each object file the symbols it defines, and those it needs."""
    out = subprocess.run(["nm", "-g", "-A"] + paths, capture_output=True, text=True, check=True).stdout
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for line in out.split("\n"):
        m = re.match(r"(.*?):\s*[0-9a-f]*\s+([A-Za-z])\s+(\S+)$", line)
        if m and m.group(2) == "U":
            needed[m.group(1)].add(m.group(3))
        elif m and m.group(2) not in "wv":
            defined[m.group(1)].add(m.group(3))
    return defined, needed


def uses(build):
    """{source: {source it uses: one symbol}}"""
    sources = objects(build)
    defined, needed = symbols(sorted(sources))
    home = {symbol: sources[o] for o in sources for symbol in defined[o]}
    graph = {source: {} for source in sources.values()}
    for o in sorted(sources):
        for symbol in sorted(needed[o]):
            other = home.get(symbol)
            if other and other != sources[o]:
                graph[sources[o]].setdefault(other, symbol)
    return graph


def cycles(graph):
    """Sets of files that all use each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def upward(graph):
    for source in sorted(graph):
        for other, symbol in sorted(graph[source].items()):
            own, target = folder_of(source), folder_of(other)
            if own != target and (floor_of(target) or 0) >= (floor_of(own) or 0):
                yield "%s uses %s of %s" % (source, symbol, other)


def report(number, name, problems):
    print("%s %d - %s" % ("not ok" if problems else "ok", number, name))
    for p in problems:
        print("# " + p)
    return bool(problems)


def main():
    graph = uses(sys.argv[1])
    found = cycles(graph)
    folders = lambda cycle: {os.path.dirname(path) for path in cycle}
    across = [" ".join(c) for c in found if len(folders(c)) > 1]
    large = [" ".join(c) for c in found if len(folders(c)) == 1 and len(c) > MAX_CYCLE]
    print("# %d files, %d floors, cycles inside a folder: %s" % (len(graph), len(FLOORS), " ".join(
        "%s %d" % (os.path.dirname(c[0]), len(c)) for c in found if len(folders(c)) == 1) or "none"))
    failed = report(1, "no folder uses one of a floor above", list(upward(graph)))
    failed |= report(2, "no cycle of files of different folders", across)
    failed |= report(3, "no cycle of more than %d files" % MAX_CYCLE, large)
    print("1..3")
    return failed


if __name__ == "__main__":
    sys.exit(main())
