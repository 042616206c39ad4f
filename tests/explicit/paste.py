#!/usr/bin/env python3
"""Every choice that an error of explicit mode offers can be pasted.

    paste.py SHDC [-v] [FILE.shd...]     default: tests/errors/explicit_*.shd

Each wrong program is compiled with --diagnostics-format=json; each choice of
each of its errors is put where the compiler says, alone.  Then

    - the error is gone;
    - the program is legal and --check clean, or what is left is another error
      whose choices lead there (a result's type has to follow, say);
    - some choice makes it legal at once, unless there are several errors, or
      the program says that it has two.

The output is TAP.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

ERRORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "errors")
LEAST = 40                  # programs that offer choices
DEEPEST = 3                 # pastes after the first


def pasted(text, choice):
    lines = text.splitlines(keepends=True)
    begin = sum(map(len, lines[:choice["line"] - 1])) + choice["column"] - 1
    end = sum(map(len, lines[:choice["end_line"] - 1])) \
        + choice["end_column"] - 1
    return text[:begin] + choice["replacement"] + text[end:]


class Program:
    def __init__(self, text):
        self.text = text

    def pasted(self, choice):
        return Program(pasted(self.text, choice))

    def errors(self, shdc, path):
        """[] if it is legal; None if shdc itself fails."""
        with open(path, "w") as f:
            f.write(self.text)
        r = subprocess.run([shdc, "--check", "--diagnostics-format=json", path],
                           capture_output=True, text=True)
        found = [json.loads(line) for line in r.stderr.splitlines()]
        if r.returncode not in (0, 1):
            return None
        return [d for d in found if d["severity"] == "error"]

    def checked(self, shdc, path):
        if "extern fn" in self.text:    # whose library is not there
            return None
        r = subprocess.run([shdc, "--interpret", path, "--", "--check"],
                           capture_output=True, text=True)
        return r.stdout + r.stderr if r.returncode else None


def key(error):
    """The same text elsewhere, or about another operand, is another error."""
    return (error["code"], error["message"], error.get("line"),
            error.get("column"), len(error["choices"]),
            [(c["line"], c["column"]) for c in error["choices"]])


class Pasting:
    def __init__(self, shdc, file, folder):
        self.shdc, self.file = shdc, file
        self.path = "%s/%s" % (folder, os.path.basename(file))
        with open(file) as f:
            self.program = Program(f.read())
        self.choices = self.at_once = 0
        self.wrong = []

    def leads_to_legal(self, program, depth):
        """None, or why not."""
        errors = program.errors(self.shdc, self.path)
        if errors is None:
            return "shdc failed:\n" + program.text
        if not errors:
            return program.checked(self.shdc, self.path)
        why = "left: %s\n%s" % (errors[0]["message"], program.text)
        if depth == 0:
            return why
        for choice in errors[0]["choices"]:
            if self.leads_to_legal(program.pasted(choice), depth - 1) is None:
                return None
        return why

    def paste(self, error, choice):
        self.choices += 1
        program = self.program.pasted(choice)
        left = program.errors(self.shdc, self.path)
        if left is None or key(error) in map(key, left):
            why = "the error stays\n" + program.text
        else:
            self.at_once += not left
            why = self.leads_to_legal(program, DEEPEST)
        if why:
            self.wrong.append("%s: %s" % (choice["replacement"], why))

    def run(self):
        errors = self.program.errors(self.shdc, self.path) or []
        offering = [e for e in errors if e["choices"]]
        for error in offering:
            for choice in error["choices"]:
                self.paste(error, choice)
        two = "Two errors" in self.program.text
        if len(errors) == 1 and offering and bool(self.at_once) == two:
            self.wrong.append("%d choices make the program legal at once"
                              % self.at_once)
        return self


def main():
    shdc = os.path.abspath(sys.argv[1])
    files = [f for f in sys.argv[2:] if f != "-v"] or sorted(
        glob.glob(ERRORS + "/explicit_*.shd"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda f: Pasting(shdc, f, folder).run(), files))
    done = [p for p in done if p.choices or p.wrong or "-v" in sys.argv]
    for i, p in enumerate(done):
        failed += bool(p.wrong)
        print("%s %d - %s: %d choices, %d legal at once" % (
            "not ok" if p.wrong else "ok", i + 1, os.path.basename(p.file),
            p.choices, p.at_once))
        for why in p.wrong:
            print("# " + why.replace("\n", "\n# "))
    n = len(done)
    enough = len(files) < LEAST or n >= LEAST
    print("%s %d - %d programs, %d choices" % ("ok" if enough else "not ok",
                                               n + 1, n,
                                               sum(p.choices for p in done)))
    print("1..%d" % (n + 1))
    return failed != 0 or not enough


if __name__ == "__main__":
    sys.exit(main())
