#!/usr/bin/env python3
"""Every row of a table has its test, every file its place in a README.  TAP.

compiler/README.md lists the places that a new op, pass, option, ... touches;
where a place can be forgotten without the compiler noticing, it is looked for
here.
"""
import fnmatch
import os
import re
import sys

from style import ROOT, read


TOPS = ("compiler", "grammar", "runtime")


def text(path):
    return "\n".join(read(path))


def rows(path, macro):
    """The first argument of each row: DIAG(syntax, ...) -> syntax."""
    body = re.sub(r"/\*.*?\*/", "", text(path), flags=re.S)
    return re.findall(r"^%s\(\"?([^,\")]+)" % macro, body, flags=re.M)


def files(top, *endings):
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def all_tests():
    """What the tests say, but for this file and the checks of the style."""
    endings = (".shd", ".hlo", ".test", ".py", ".c", ".txt", ".sh")
    return "\n".join(text(path) for path in files("tests", *endings) if path != "tests/tables.py")


def diagnostics():
    return re.findall(r"^DIAG\(\w+, \"([^\"]+)\"", text("compiler/base/diags.def"), flags=re.M)


def untested_diagnostics(tests):
    return [n for n in diagnostics() if "[%s]" % n not in tests]


def repeated_diagnostics(_):
    return sorted({n for n in diagnostics() if diagnostics().count(n) > 1})


def untested_options(tests):
    return [o for o in rows("compiler/driver/options.def", "OPTION") if not re.search(r"(?<![\w-])%s" % re.escape(o), tests)]


def untested_outputs(tests):
    return [k for k in rows("compiler/driver/emit.def", "KIND") if not re.search(r"--emit=[\w.,=]*\b%s\b" % k, tests)]


def untested_passes(_):
    return [p for p in rows("compiler/pipeline/passes.def", "PASS") if not os.path.isdir(os.path.join(ROOT, "tests", p))]


def untested_targets(tests):
    targets = [os.path.basename(f)[:-len(".target")] for f in files("compiler/ir/targets", ".target")]
    return [t for t in targets if not re.search(r"\b%s\b" % re.escape(t), tests)]


def builtins():
    """(name, row) of those that a program may call: rows of their own, and ops that are functions."""
    table = re.findall(r"^BUILTIN\(([\w.]+),(.*)", text("compiler/front/functions/builtins.def"), flags=re.M)
    table += re.findall(r"^(?:POINTWISE|FUNCTION)\((\w+),(.*)", text("compiler/ir/numbers.def"), flags=re.M)
    return [(name, row) for name, row in table if not re.search(r"\b(internal|operator)\b", row)]


def builtins_missing_in(where):
    return [name for name, _ in builtins() if not re.search(r"\b%s\b" % re.escape(name), where)]


def unlisted_builtins(_):
    return builtins_missing_in(text("grammar/README.md"))


def builtins_without_numbers(_):
    """Those without a case against numpy; of manual functions, without their meaning there."""
    cases, meanings = text("tests/random/numpy_check.py"), text("tests/random/reference.py")
    for name, row in builtins():
        if re.search(r", checkpoint,$", row):
            continue
        if re.search(r", manual,$", row):
            found = "def call_%s(" % name in meanings
        else:
            found = re.search(r'(?<![\w.])%s\(|"%s"' % (re.escape(name), re.escape(name)), cases)
        if not found:
            yield name


def unplaced_files(_):
    """A source file that the README of its folder does not name."""
    for path in (p for top in TOPS + ("tests",) for p in files(top, ".c", ".h", ".def", ".l", ".y", ".sed")):
        folder, name = os.path.split(path)
        readme = os.path.join(folder, "README.md")
        if os.path.basename(folder) == "Inputs":
            continue
        if not os.path.exists(os.path.join(ROOT, readme)):
            yield readme
        elif not re.search(r"(?<![\w.])%s\b" % re.escape(name), text(readme)):
            yield path


def unnamed_tests(_):
    """A script or a folder of tests that neither its own README names nor that of all."""
    every = text("tests/README.md")
    for path in files("tests", ".py"):
        folder, name = os.path.split(path)
        own = os.path.join(folder, "README.md")
        named = every + (text(own) if os.path.exists(os.path.join(ROOT, own)) else "")
        if os.path.basename(folder) != "Inputs" and not re.search(r"(?<![\w.])%s\b" % re.escape(name), named):
            yield path
    for name in sorted(os.listdir(os.path.join(ROOT, "tests"))):
        if os.path.isdir(os.path.join(ROOT, "tests", name)) and name != "__pycache__" and "`%s/`" % name not in every:
            yield "tests/%s/" % name


def unlisted_flows(_):
    """A source that walks flows, which the table of ir/README.md does not name."""
    table = text("compiler/ir/README.md").split("## Flow")[-1].split("\n## ")[0]
    for path in files("compiler", ".c"):
        folder, name = os.path.split(path)
        named = "`%s`" % name in table or "/%s`" % name in table or "`%s/`" % os.path.basename(folder) in table
        if not path.startswith("compiler/ir/flow.") and re.search(r"\bflow_next", text(path)) and not named:
            yield path


def wrong_heads(_):
    """A README of a compiler folder begins with what comes in and goes out, the type to
    know, and the order to read in:
        - **Chapter:** ...
        - **Main type:** `Plan` (`plan.h`), ...
        - **Read:** `lives.h`, `lives.c`, ..."""
    for folder in sorted({os.path.dirname(path) for path in files("compiler", ".c")}):
        if not os.path.exists(os.path.join(ROOT, folder, "README.md")):
            continue        # unplaced_files() says so
        lines = dict(re.findall(r"^- \*\*([\w ]+):\*\* (.+)$", text(folder + "/README.md"), flags=re.M))

        def found(name):
            places = [os.path.join(place, name) for place in (folder, "compiler")]
            return next((p for p in places if os.path.exists(os.path.join(ROOT, p))), None)
        kinds = re.findall(r"`(\w+)` \(`([\w./]+)`\)", lines.get("Main type", ""))
        order = re.findall(r"`([^`]+)`", lines.get("Read", ""))
        if "Chapter" not in lines or not kinds or not order:
            yield "%s/README.md: no chapter, main type or order" % folder
        for kind, header in kinds:
            if not found(header) or not re.search(r"\bstruct %s\b" % kind, text(found(header))):
                yield "%s/README.md: no %s in %s" % (folder, kind, header)
        for name in order:
            if not found(name):
                yield "%s/README.md: no %s" % (folder, name)


def comments(path):
    body = text(path)
    return body if path.endswith(".md") else "\n".join(re.findall(r"/\*.*?\*/", body, flags=re.S))


def stale_paths(_):
    """folder/file.c in a README or a comment, of which there is none."""
    tracked = ["/" + path for top in TOPS + ("tests", "samples") for path in files(top, "")]
    for path in [p for top in TOPS for p in files(top, ".c", ".h", ".def", ".l", ".y", ".md")] + ["README.md", "tests/README.md"]:
        for named in re.findall(r"\w+(?:/[\w.]+)*/[a-z0-9_]+\.(?:[chly]|def|py|txt|shd)\b", comments(path)):
            if not any(t.endswith("/" + named) for t in tracked):
                yield "%s: %s" % (path, named)


def places_left_out(_):
    """A source that names an op, which the rows of compiler/README.md for such ops do not."""
    table = text("compiler/README.md").split("## Adding something")[-1].split("\n## ")[0].split("\n")
    for op, kinds in ("cumsum", ("op", "...", "built-in")), ("scatter_add", ("op", "...", "built-in")), ("all_gather", ("collective",)):
        listed = [line for line in table if re.match(r"\| (%s)(?: |\.)" % "|".join(map(re.escape, kinds)), line)]
        places = ["*/" + place for place in re.findall(r"`([\w./*]+)`", " ".join(listed))]
        for path in (p for top in ("compiler", "runtime") for p in files(top, ".c", ".h", ".def")):
            code = re.sub(r"/\*.*?\*/|\"[^\"\n]*\"", "", text(path), flags=re.S)
            if re.search(r"(?<![a-z])%s\b" % op, code) and not any(fnmatch.fnmatch("/" + path, place) for place in places):
                yield "%s: %s" % (path, op)


def reading_path(_):
    """The files that compiler/README.md says to read, in order."""
    section = text("compiler/README.md").split("## Reading path")[-1].split("\n## ")[0]
    paths = re.findall(r"^\| \d+ \| `([^`]+)`", section, flags=re.M)
    missing = [p for p in paths if not os.path.exists(os.path.join(ROOT, "compiler", p))]
    lines = sum(len(read("compiler/" + p)) for p in paths if p not in missing)
    wrong = lines >= 5000 or len(paths) != 12
    return missing + ["%d files of %d lines" % (len(paths), lines)] * wrong


CHECKS = [
    ("every diagnostic has a test", untested_diagnostics),
    ("every diagnostic has a number of its own", repeated_diagnostics),
    ("every option has a test", untested_options),
    ("every output has a test", untested_outputs),
    ("every pass has a folder of tests", untested_passes),
    ("every target has a test", untested_targets),
    ("every built-in function has a test", builtins_missing_in),
    ("every built-in function is in the language reference", unlisted_builtins),
    ("every built-in function is compared with numpy", builtins_without_numbers),
    ("every folder has a README that names its sources", unplaced_files),
    ("every script and folder of tests is in a README", unnamed_tests),
    ("every file that walks flows is in ir/README.md", unlisted_flows),
    ("a folder's README has its chapter, its main type and an order", wrong_heads),
    ("every path in a comment or a README exists", stale_paths),
    ("the lists of places to touch are complete", places_left_out),
    ("the reading path is twelve files of less than 5,000 lines", reading_path),
]


def main():
    tests, failed = all_tests(), False
    for number, (name, check) in enumerate(CHECKS, 1):
        missing = list(check(tests))
        print("%s %d - %s" % ("not ok" if missing else "ok", number, name))
        for m in missing:
            print("# " + m)
        failed |= bool(missing)
    print("1..%d" % len(CHECKS))
    return failed


if __name__ == "__main__":
    sys.exit(main())
