#!/usr/bin/env python3
"""Wrong manual programs end at once, whatever --stall says.

    ends.py SHDC

Those of tests/errors are refused.  No text that the front accepts can get
devices out of step; so for run-time endings a dump is edited until each device
decides for itself, and executed, built and interpreted: status 10 or 11, with
both lines.  The output is TAP; the last line says how long the slowest took.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

ERRORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "errors")
STALL = 200                 # of the programs
AT_ONCE = 20                # far below it, far above a slow machine's compiler
LEAST = 30                  # refused programs

HEAD = "mesh [X=2, Y=2];\nmanual fn f(x: i32[8@X], who: i32) -> i32[8@X] {\n"
TAIL = "}\nfn main(x: i32[8@X], who: i32) { return f(x, who); }\n"

# What a device does, with `who` its own number: name, body from line 3 on,
# status, the lines that the message has.
ENDINGS = [
    ("one branch has another collective", """var y = x;
if who == 2 { y = pmax(x, X); }
else { y = psum(x, X); }
return y;""", 11, [4, 5]),
    ("one branch has none, the next one meets it", """var y = x;
if who == 2 { y = psum(x, X); }
return pmax(y, X);""", 11, [4, 5]),
    ("one device leaves out the last one", """var y = x;
if who != 2 { y = psum(x, X); }
return y;""", 10, [4]),
    ("two in another order", """var y = x;
if who == 1 { let a = psum(x, X); y = pmax(a, X); }
else { let a = pmax(x, X);
y = psum(a, X); }
return y;""", 11, [4, 5]),
    ("groups in a circle", """var y = x;
if who == 0 || who == 3 { y = psum(x, Y); }
else { y = psum(x, X); }
return y;""", 10, [4, 5]),
    ("rounds of a loop", """var y = x;
for i in 0..who { y = ppermute(y, X); }
return psum(y, X);""", 11, [4, 5]),
    ("rounds of a loop, and nothing after it", """var y = x;
for i in 0..who { y = ppermute(y, X); }
return y;""", 10, [4]),
    ("another size", """var y = x;
if who == 3 { y = all_gather(x[0:2], X); }
else { y = psum(x, X); }
return y;""", 11, [4, 5]),
    ("another permutation", """var y = x;
if who == 3 { y = ppermute(x, X, shift=1); }
else { y = ppermute(x, X, perm=((0, 1),)); }
return y;""", 11, [4, 5]),
]


class Tests:
    def __init__(self, shdc):
        self.shdc = os.path.abspath(shdc)
        self.count = self.failed = 0
        self.slowest = self.last = 0

    def ok(self, good, name, detail):
        self.count += 1
        self.failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", self.count, name))
        print("# after %.2f s" % self.last)
        if not good:
            print("# " + detail.replace("\n", "\n# "), flush=True)

    def run(self, *args):
        """(status, standard error, seconds)"""
        before = time.monotonic()
        r = subprocess.run([self.shdc, *args], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
        seconds = time.monotonic() - before
        self.slowest = max(self.slowest, seconds)
        self.last = seconds
        return r.returncode, r.stderr, seconds

    def execute(self, how, path, *options):
        return self.run(how, *options, path, "--", "--stall=%ds" % STALL)

    def refused(self):
        """How many there are."""
        n = 0
        for path in sorted(glob.glob(ERRORS + "/*.shd")):
            with open(path) as f:
                text = f.read()
            if not re.search(r"^manual\b.*\bfn ", text, re.M):
                continue
            n += 1
            strict = ["--strict"] if "--strict %s" in text else []
            status, said, seconds = self.execute("--run", path, *strict)
            self.ok(status == 1 and re.search(r":\d+:\d+: error\[SHD\d+\]",
                                              said) and seconds < AT_ONCE,
                    "%s is refused" % os.path.basename(path),
                    "status %s after %.1f s\n%s" % (status, seconds, said))
        return n

    def dump(self, folder, body):
        """The device program in which `who` is the device's number."""
        path = folder + "/m.shd"
        with open(path, "w") as f:
            f.write(HEAD + body + "\n" + TAIL)
        status, said, _ = self.run("--emit=hlo=%s/m.hlo" % folder, path)
        if status != 0:
            raise RuntimeError(said)
        with open(folder + "/m.hlo") as f:
            text = f.read()
        for line in text[text.index("ENTRY"):].splitlines():
            if "parameter(1)" in line:
                same = line.replace("%who =", "%whoever =")
                text = text.replace(line, "%s\n  %%number = u32[] "
                                    "partition-id()\n  %%who = s32[] "
                                    "convert(%%number)" % same)
        return text.replace("who: s32[]", "whoever: s32[]").replace(
            '"%who i32[]"', '"%whoever i32[]"')

    def ended(self, name, body, status, lines):
        with tempfile.TemporaryDirectory() as folder:
            text = self.dump(folder, body)
            with open(folder + "/edited.hlo", "w") as f:
                f.write(text)
            for how in "--run", "--interpret":
                ended, said, seconds = self.execute(how,
                                                    folder + "/edited.hlo")
                told = set(map(int, re.findall(r"m\.shd:(\d+)", said)))
                self.ok(ended == status and told == set(lines) and
                        seconds < AT_ONCE,
                        "%s, %s: status %d" % (name, how[2:], status),
                        "status %s after %.1f s\n%s" % (ended, seconds, said))


def main():
    tests = Tests(sys.argv[1])
    n = tests.refused()
    tests.ok(n >= LEAST, "%d programs are refused" % n, "at least %d" % LEAST)
    for case in ENDINGS:
        tests.ended(*case)
    print("1..%d" % tests.count)
    print("# the slowest took %.2f s" % tests.slowest)
    return tests.failed != 0


if __name__ == "__main__":
    sys.exit(main())
