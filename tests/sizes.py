#!/usr/bin/env python3
"""What the sources of the compiler amount to.

    sizes.py [ROOT] [--chains]

Lines and tokens of C, how much of it is signatures and braces, static functions
that their file calls once, private tables by kind of op, tests of a kind of op
where a column of a table could answer, and chains of functions each of which is
the only one to be called by the one before it, and from there only.
"""
import collections
import os
import re
import statistics
import sys

TOKEN = re.compile(r'[A-Za-z_]\w*|\.?\d[\w.]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|'
                   r'->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|##|\S')
TABLES = ("compiler/ir/", "compiler/hlo/")     # where the kind of an op may be looked at


def sources(root):
    for top in ("compiler", "grammar"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def", ".l", ".y")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def without_comments(text):
    keep = lambda m: m.group(0) if m.group(0)[0] in "\"'" else re.sub(r"[^\n]", "", m.group(0)) or " "
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', keep, text, flags=re.S)


class Function:
    def __init__(self, name, static, signature, body, braces):
        self.name, self.static, self.signature, self.body, self.braces = name, static, signature, body, braces
        self.names = collections.Counter(re.findall(r"[A-Za-z_]\w*", "\n".join(body)))


def functions(lines):
    """Definitions: return type, then name( in column 0, then { and } in column 0."""
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            head = number - 1
            while head > 0 and not re.match(r"[A-Za-z_]\w*\(", lines[head]):
                head -= 1
            first = head - 1 if head and re.match(r"[A-Za-z_]", lines[head - 1]) else head
            start = number
        elif line == "}" and start is not None:
            name = re.match(r"[A-Za-z_]\w*", lines[head])
            body = lines[start + 1:number]
            lone = sum(1 for b in body if re.fullmatch(r"\s*[{}]\s*", b))
            yield Function(name.group(0) if name else "?", lines[first].startswith("static"), start - first, body,
                           2 + lone)
            start = None


def chains(by_file):
    """The longest chains a -> b -> c of static functions, each called once, and only by the one before."""
    longest = []
    for path, found in by_file.items():
        known = {f.name: f for f in found}
        callers = {name: [f.name for f in found if f.names[name]] for name in known}
        once = {name for name, f in known.items()
                if f.static and sum(g.names[name] for g in found) == 1 and callers[name] != [name]}
        calls = {f.name: [n for n in once if f.names[n]] for f in found}

        def depth(name):
            inner = [depth(n) for n in calls[name] if n != name]
            return [name] + max(inner, key=len, default=[])

        for f in found:
            if f.name not in once:
                longest.append((path, depth(f.name)))
    return sorted(longest, key=lambda x: -len(x[1]))


def main():
    root = next((a for a in sys.argv[1:] if not a.startswith("-")),
                os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    lines = tokens = comments = overhead = once = short = arrays = kinds = 0
    lengths, by_file, where, kinds_in = [], {}, collections.Counter(), collections.Counter()
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        code = without_comments(text)
        lines += text.count("\n")
        comments += text.count("\n") - sum(1 for x in code.split("\n") if x.strip()) - sum(
            1 for x in text.split("\n") if not x.strip())
        tokens += len(TOKEN.findall(code))
        if not path.endswith(".c"):
            continue
        found = list(functions(code.split("\n")))
        by_file[path] = found
        lengths += [len(f.body) + 2 for f in found]
        overhead += sum(f.signature + f.braces for f in found)
        names = collections.Counter(re.findall(r"[A-Za-z_]\w*", code))
        calls = collections.Counter(re.findall(r"([A-Za-z_]\w*)\(", code))
        mine = [f for f in found if f.static and names[f.name] == 2 and calls[f.name] == 2]
        once += len(mine)
        where[os.path.dirname(path)] += len(mine)
        short += sum(1 for f in mine if len(f.body) + 2 <= 6)
        for m in re.finditer(r"\[OP_COUNT\][^;={]*=\s*\{(.*?)\n\};", code, flags=re.S):
            arrays += "ops.def" not in m.group(1)
        n = len(re.findall(r"kind\s*[!=]=\s*O_\w+", code)) + len(re.findall(r"\bcase O_\w+", code))
        if not path.startswith(TABLES):
            kinds += n
            kinds_in[os.path.dirname(path)] += n
    total = sum(len(f.body) + f.signature + 2 for found in by_file.values() for f in found)
    lengths.sort()
    print("lines %d, tokens %d, comment lines per 100 lines %.1f" % (lines, tokens, 100 * comments / lines))
    print("functions %d, median %d lines, p90 %d, over 60: %d" % (
        len(lengths), statistics.median(lengths), lengths[len(lengths) * 9 // 10], sum(n > 60 for n in lengths)))
    print("signatures and braces %.1f%% of lines in functions, %.1f%% of all" % (
        100 * overhead / total, 100 * overhead / lines))
    print("static functions called once, and named nowhere else, %d (%d of six lines or fewer)" % (once, short))
    print("  " + ", ".join("%s %d" % x for x in where.most_common()))
    print("arrays by [OP_COUNT] that are not rows of ops.def %d" % arrays)
    print("kinds of ops tested outside of tables %d" % kinds)
    print("  " + ", ".join("%s %d" % x for x in kinds_in.most_common() if x[1]))
    for path, chain in chains(by_file)[:12 if "--chains" in sys.argv else 3]:
        print("chain of %d: %s: %s" % (len(chain), path, " > ".join(chain)))


if __name__ == "__main__":
    main()
