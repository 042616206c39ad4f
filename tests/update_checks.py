#!/usr/bin/env python3
"""Regenerates the CHECK lines of golden tests.

    update_checks.py SHDC [FILE...]          all of tests/ when none is named

A file takes part if it has a line `// Checks from update_checks.py`: all that
follows that line is replaced by what its RUN lines print now.  Review the
result as a diff.
"""
import os
import re
import subprocess
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
MARK = "// Checks from update_checks.py"
RUN = re.compile(r"//\s*RUN:\s*(.*)")


def all_files():
    for folder, _, names in os.walk(TESTS):
        for name in sorted(names):
            if name.endswith((".shd", ".hlo", ".test")):
                yield os.path.join(folder, name)


def run_lines(text):
    joined = ""
    for line in text.splitlines():
        m = RUN.match(line)
        if m:
            joined += m.group(1)
            if joined.endswith("\\"):
                joined = joined[:-1]
                continue
            yield joined
            joined = ""


def output(command, path, shdc):
    command = re.sub(r"\bnot (--crash )?", "", command)
    build = os.path.abspath(os.path.join(os.path.dirname(shdc), "..", ".."))
    for name, value in (("%shdc", shdc),
                        ("%libraries", "-L %s/tests -L %s/samples" % (build, build)),
                        ("%samples", os.path.join(os.path.dirname(TESTS), "samples")),
                        ("%tests", TESTS), ("%python", sys.executable), ("%S", os.path.dirname(path)),
                        ("%t", "/tmp/update_checks.tmp"), ("%s", path)):
        command = command.replace(name, value)
    env = dict(os.environ, TERM="dumb")
    r = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       text=True, env=env)
    return r.stdout


def checks(text, prefix, strict, path):
    first = True
    for line in text.splitlines():
        line = line.replace("{{", "{{[{][{]}}").replace("[[", "{{[[][[]}}")
        line = line.replace(os.path.dirname(path) + "/", "{{.*}}").replace(os.path.dirname(TESTS) + "/", "{{.*}}")
        kind = "" if first else "-EMPTY" if not line.strip() else "-NEXT"
        yield ("// %s%s:%s%s" % (prefix, kind, "" if strict else " ", line)).rstrip()
        first = False


def update(path, shdc):
    with open(path) as f:
        text = f.read()
    if MARK not in text:
        return False
    head = text[:text.index(MARK)] + MARK + "\n"
    for line in run_lines(head):
        if "FileCheck" not in line:
            output(line, path, shdc)
            continue
        command, filecheck = line.rsplit("|", 1)
        m = re.search(r"--check-prefix[= ](\S+)", filecheck)
        prefix = m.group(1) if m else "CHECK"
        strict = "--strict-whitespace" in filecheck
        head += "".join(c + "\n" for c in checks(output(command, path, shdc), prefix, strict, path))
    if head == text:
        return False
    with open(path, "w") as f:
        f.write(head)
    return True


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    changed = [p for p in (sys.argv[2:] or all_files()) if update(os.path.abspath(p), os.path.abspath(sys.argv[1]))]
    for path in changed:
        print("updated %s" % path)
    print("%d files changed" % len(changed))


if __name__ == "__main__":
    main()
