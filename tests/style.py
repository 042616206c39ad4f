#!/usr/bin/env python3
"""House style, as far as a script can see it.  TAP.

Line lengths, function lengths, which folder may include which, words that do
not belong in the sources, one type for each letter, ops made in one order.
"""
import collections
import os
import re
import shutil
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_COLUMNS = 96
MAX_FUNCTION = 100
MAX_LONG_SHARE = 0.02       # of functions with more than 60 lines

# folder: what it may include besides itself
FLOORS = [          # a folder includes from floors below its own, and from itself
    ["compiler/base"],
    ["compiler/ir"],
    ["compiler/hlo", "compiler/cost", "compiler/memory"],
    ["grammar"],
    ["compiler/front", "compiler/grad", "compiler/import"],
    ["compiler/shard"],
    ["compiler/sched"],
    ["compiler/pipeline"],
    ["compiler/emit", "compiler/report", "compiler/eval"],
    ["compiler/driver"],
]
FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|/work/|shared/(design|accept|hooks)")
SHORT_WORDS = ("at", "id", "of", "to", "dx", "dy")
SOURCE = (".c", ".h", ".def", ".l", ".y")


def sources():
    for top in ("compiler", "grammar", "runtime", "tests", "samples"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith(SOURCE + (".py", ".shd", ".md", ".build")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read().split("\n")


def functions(lines):
    """(name, length) of each function: its name and its { are in column 0."""
    start, name = 0, "?"
    for number, line in enumerate(lines, 1):
        m = re.match(r"([A-Za-z_]\w*)\(", line)
        if m:
            name = m.group(1)
        if line == "{":
            start = number
        if line == "}" and start:
            yield name, number - start + 1
            start = 0


def check_columns(path, lines):
    if path.endswith((".c", ".h")):
        for number, line in enumerate(lines, 1):
            if len(line.expandtabs(8)) > MAX_COLUMNS:
                yield "%s:%d: %d columns" % (path, number, len(line.expandtabs(8)))


def check_words(path, lines):
    if path == "tests/style.py":
        return
    for number, line in enumerate(lines, 1):
        m = FORBIDDEN.search(line)
        if m:
            yield "%s:%d: '%s'" % (path, number, m.group(0))
        if path.endswith(SOURCE) and line != line.rstrip():
            yield "%s:%d: blanks at the end" % (path, number)


def resolve(path, name):
    folder = os.path.dirname(path)
    for base in (folder, "compiler", "runtime", "grammar", ""):
        found = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(ROOT, found)):
            return folder_of(found)
    return None


def folder_of(path):
    """compiler/shard/pad/pad.h -> compiler/shard; grammar/tree.h -> grammar."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "compiler" else parts[0]


def floor_of(folder):
    for number, folders in enumerate(FLOORS):
        if folder in folders:
            return number
    return None


def may_include(folder, target):
    if target == "runtime" or folder == "runtime":
        return folder in ("runtime", "compiler/eval", "compiler/driver") and target == "runtime"
    return folder == target or floor_of(target) < floor_of(folder)


def check_includes(path, lines):
    folder = folder_of(path)
    if floor_of(folder) is None and folder != "runtime":
        return
    for number, line in enumerate(lines, 1):
        m = re.match(r'#\s*include\s+"([^"]+)"', line)
        target = resolve(path, m.group(1)) if m else None
        if target and not may_include(folder, target):
            yield "%s:%d: %s must not include %s" % (path, number, folder, target)


def parameters(lines):
    """(type, name) of the parameters of each function and prototype that point to a struct; of
    two of one type, which are compared, neither."""
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines), flags=re.S)
    for head in re.finditer(r"^[A-Za-z_][\w *]*\(([^;{]*?)\)(?:\n\{|;)", text, flags=re.M):
        found = [re.match(r"(?:const )?(?:struct )?([A-Z]\w*) \*(\w+)$", p.strip())
                 for p in head.group(1).replace("\n", " ").split(",")]
        found = [m.groups() for m in found if m]
        for kind, name in found:
            if name not in ("a", "b", "x", "y", "l", "m") or [k for k, _ in found].count(kind) == 1:
                yield kind, name


def check_letters(letters):
    """letters: folder -> one or two letters -> {type: a file}"""
    for folder in sorted(letters):
        for name, kinds in sorted(letters[folder].items()):
            if len(kinds) > 1:
                yield "%s: '%s' is %s" % (
                    folder, name, ", ".join("%s (%s)" % x for x in sorted(kinds.items())))


def names_of_types():
    """{type: what a parameter of it may be called}, of the table in compiler/README.md."""
    section = "\n".join(read("compiler/README.md")).split("## Names")[1].split("\n## ")[0]
    names = collections.defaultdict(set)
    for kind, name in re.findall(r"`(\w+) \*(\w+)`", "\n".join(x for x in section.split("\n") if x.startswith("|"))):
        names[kind].add(name)
    return names


def check_names(path, found, names):
    """Of the parameters() of a file those that have another letter than their type has
    everywhere, or its whole name."""
    for kind, name in found:
        letter = len(name) <= 2 and name not in SHORT_WORDS
        if kind in names and name not in names[kind] and (letter or name == kind.lower()):
            yield "%s: %s *%s, elsewhere %s" % (path, kind, name, " or ".join(sorted(names[kind])))


def arguments(text, start):
    """Of the call whose parenthesis is at `start`."""
    depth, begin, found = 0, start + 1, []
    for i in range(start, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 or (depth == 1 and text[i] == ","):
            found.append(text[begin:i])
            begin = i + 1
        if depth == 0:
            return found
    return []


def check_order(paths):
    """Calls of which two arguments make ops: which comes first is the C compiler's choice."""
    texts = {path: re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), "\n".join(read(path)), flags=re.DOTALL)
             for path in paths}
    makers = {name for text in texts.values()
              for name in re.findall(r"^(?:static )?Value \*\n(\w+)\((?:Make|Import) ", text, flags=re.MULTILINE)}
    call, maker = re.compile(r"\b\w+(?=\()"), re.compile(r"\b(%s)\(" % "|".join(sorted(makers)))
    for path, text in texts.items():
        for m in call.finditer(text):
            if m.group() not in ("if", "for", "while", "switch") and not text[:m.start()].endswith("\n") \
                    and sum(bool(maker.search(a)) for a in arguments(text, m.end())) > 1:
                yield "%s:%d: %s" % (path, text.count("\n", 0, m.start()) + 1, m.group())


def check_format(paths):
    """Lines that clang-format, told by .clang-format, would lay out otherwise."""
    out = subprocess.run(["clang-format", "--dry-run"] + paths, cwd=ROOT, capture_output=True, text=True)
    return [line for line in (out.stderr + out.stdout).split("\n") if "-Wclang-format" in line]


def report(number, name, problems):
    print("%s %d - %s" % ("not ok" if problems else "ok", number, name))
    for p in problems:
        print("# " + p)


def main():
    columns, words, includes, lengths = [], [], [], []
    letters = collections.defaultdict(lambda: collections.defaultdict(dict))
    names, misnamed = names_of_types(), []
    for path in sources():
        lines = read(path)
        columns += check_columns(path, lines)
        words += check_words(path, lines)
        includes += check_includes(path, lines)
        if path.endswith((".c", ".h")):
            lengths += [(n, "%s: %s" % (path, name)) for name, n in functions(lines)]
            found = list(parameters(lines)) if path.startswith(("compiler", "grammar")) else []
            misnamed += check_names(path, found, names)
            for kind, name in found:
                if len(name) <= 2:
                    letters[os.path.dirname(path)][name][kind] = os.path.basename(path)
    lengths.sort()
    long_ones = ["%s: %d lines" % (name, n) for n, name in lengths if n > 60]
    too_long = ["%s: %d lines" % (name, n) for n, name in lengths if n > MAX_FUNCTION]
    if len(long_ones) > MAX_LONG_SHARE * len(lengths):
        too_long += long_ones
    print("# %d functions, median %d lines, %d over 60" % (
        len(lengths), statistics.median(n for n, _ in lengths) if lengths else 0, len(long_ones)))
    report(1, "no line is longer than %d columns" % MAX_COLUMNS, columns)
    report(2, "functions are short", too_long)
    report(3, "folders include in one direction", includes)
    report(4, "no words that do not belong", words)
    layout = []
    if shutil.which("clang-format"):
        layout = check_format([path for path in sources() if path.endswith((".c", ".h"))])
        report(5, "the layout is that of .clang-format", layout)
    else:
        print("ok 5 - the layout is that of .clang-format # SKIP no clang-format")
    mixed = list(check_letters(letters))
    report(6, "a letter stands for one type in a folder", mixed)
    report(7, "a type has one letter everywhere", misnamed)
    unordered = list(check_order([path for path in sources() if path.startswith("compiler") and path.endswith(".c")]))
    report(8, "no two arguments of a call make ops", unordered)
    print("1..8")
    return 1 if columns or too_long or includes or words or layout or mixed or misnamed or unordered else 0


if __name__ == "__main__":
    sys.exit(main())
