#!/usr/bin/env python3
"""Random programs through the compiler, checked against themselves.

    run.py SHDC [--seed S] [--first I] [--interpret N] [--compiled N] ...
    run.py SHDC --full         fresh seed: 20,000 interpreted, 500 compiled

Program I of a seed is always the same (generate.py).  These things are asked
of it, of as many programs as FULL says; without --full, of a twentieth:

    interpret  shdc --interpret P -- --check: the device program on simulated
               devices against the global one
    compiled   shdc --run P -- --check: the same on threads
    dumps      what is read back from a dump prints as that dump, and goes on
               to the same device program
    reports    every report can be made; the statistics are those of the
               fused program (stats.py); the syntax tree, printed, is the
               same program
    clock      the emulated time of a run is the predicted one (clock.py)
    clock_built  that of the compiled program, on all cores and on one
    overlap    so it is, and the numbers are right, where collectives are begun early,
               and it takes no longer, to a part in 200 than with --overlap=xla, nor less
               than is told to be the least with that or none; a dump has the same statistics
    overlap_default  that of --overlap=xla
    overlap_built  that of the compiled program, with a helper
    pieces     the same where products are done in pieces, and no later than without pieces
               and combining, to a part in 100,000; no more is copied for it, in loops
               neither (copies.py)
    pieces_built  that of the compiled program
    broken     the program with a few words changed is refused, or it runs
    broken_dump   so is a dump of it
    explicit   the program as an explicit function, made legal by pasting what
               its errors offer: no error stays, it computes the same, and
               nothing moves that it does not ask for
    reference  the interpreted program's results are those of numpy
               (reference.py), and its device program agrees; on inputs of
               several kinds (oracle.py), infinities and NaN among them
    hostile    the same of the compiled program

What fails is made smaller (shrink.py), saved under --save with its message,
and reported with its seed.  The output is TAP; the status is 1 if anything
failed.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import clock
import copies
import stats
from explicit import explicit_text, make_legal
from generate import generate
from memory import wrong_plan
from shrink import shrink

try:
    import oracle
except ImportError:
    oracle = None       # numpy is missing

TIMEOUT = 120
ONE_CORE = ["taskset", "-c", "0"] if shutil.which("taskset") else []
FULL = {"interpret": 20000, "compiled": 500, "dumps": 1200, "reports": 1200, "clock": 1000,
        "clock_built": 1000, "overlap": 5000, "overlap_default": 1000, "overlap_built": 300,
        "pieces": 5000, "pieces_built": 300, "broken": 5000, "broken_dump": 5000, "explicit": 5000,
        "reference": 10000, "hostile": 250}
# Products are small: on a device that takes their arithmetic alone they pay in pieces.
IN_PIECES = ["--overlap=auto", "--on=" + os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../decompose/Inputs/slow.target")]
Failure = collections.namedtuple("Failure", "key detail")


def failure(stage, status, detail):
    """What went wrong, with a key that stays the same when it is shrunk."""
    lines = detail.splitlines()
    telling = [l for l in lines if re.search(r"error:|error\[|assert|Sanitizer|WRONG",
                                             l)] or lines or [""]
    words = re.sub(r"^\S+?:\d+:\d+: ", "", telling[0])
    words = re.sub(r"\[[^\]]*@[^\]]*\]|'[^']*'|%[\w.]+|\b[vrp]?\d+\b|\bout\d*\b|[XYZ]|\S*/\S*",
                   "*", words)
    return Failure((stage, status, words[:60]), detail[:3000])


class Checker:
    def __init__(self, shdc):
        self.shdc = os.path.abspath(shdc)
        build = os.path.dirname(self.shdc)
        for _ in range(2):
            build = os.path.dirname(build)
        self.libraries = build + "/tests"       # of extern functions
        self.home = tempfile.TemporaryDirectory()
        self.local = threading.local()
        self.lock = threading.Lock()
        self.folders = 0
        self.legal = 0          # explicit programs
        self.elements = self.open = 0   # compared with numpy's

    def folder(self):
        """One a thread."""
        if not hasattr(self.local, "folder"):
            with self.lock:
                self.folders += 1
                self.local.folder = "%s/%d" % (self.home.name, self.folders)
            os.mkdir(self.local.folder)
        return self.local.folder

    def call(self, *args):
        return self.execute([self.shdc, "-L", self.libraries, *args])

    def execute(self, command):
        """(status, standard output, standard error)"""
        try:
            r = subprocess.run(command, capture_output=True, timeout=TIMEOUT,
                               cwd=self.folder(), stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "timeout", "", "no answer for %d s" % TIMEOUT
        return (r.returncode, r.stdout.decode(errors="replace"),
                r.stderr.decode(errors="replace"))

    def run(self, stage, option):
        status, out, err = self.call(option, "p.shd", "--", "--check")
        if status != 0:
            return failure(stage, status, err + out)
        return None

    def interpret(self):
        return self.run("interpret", "--interpret")

    def compiled(self):
        return self.run("compiled", "--run")

    def dumps(self):
        kinds = ["ir", "sharded", "hlo", "fused"]
        source, texts = "p.shd", {}
        for i, kind in enumerate([None] + kinds):
            if kind:
                source = kind + ".hlo"
                with open("%s/%s" % (self.folder(), source), "w") as f:
                    f.write(texts[kind])
            wanted = kinds[max(0, i - 1):]
            status, out, err = self.call("--emit=" + ",".join(
                "%s=again.%s" % (k, k) for k in wanted), source)
            if status != 0:
                return failure("dumps of %s" % source, status, err + out)
            for k in wanted:
                with open("%s/again.%s" % (self.folder(), k)) as f:
                    text = f.read()
                first = texts.setdefault(k, text)
                if k != kind:
                    first, text = self.read_again(first), self.read_again(text)
                if first != text:
                    return failure("dumps", "differs", "%s from %s differs:\n%s"
                                   % (k, source, difference(first, text)))
        return None

    def read_again(self, text):
        """What of a dump stays when it comes from another one."""
        return unnamed(text)

    def reports(self):
        status, out, err = self.call("-Rreshard", "--emit=ast=a.shd,ir=p.ir,"
                                     "viz=v.txt,viz.svg=v.svg,viz.html=v.html,"
                                     "explain=e.txt,c=p.c,stats=s.json,"
                                     "memory=m.txt,memory.json=m.json,fused=p.hlo",
                                     "p.shd")
        if status == 0:
            told = json.loads(self.read("s.json"))
            why = stats.check(told, self.read("p.hlo"),
                              self.read("p.shd").count("\n") + 1)
            if why:
                return failure("reports", "stats", why)
            why = wrong_plan(json.loads(self.read("m.json")), told,
                             self.read("p.c"))
            if why:
                return failure("reports", "memory", why)
            status, out, err = self.call("--emit=ast=b.shd,ir=a.ir", "a.shd")
        if status != 0:
            return failure("reports", status, err + out)
        for a, b, same in (("a.shd", "b.shd", str), ("p.ir", "a.ir", unplaced)):
            first, again = self.read(a), self.read(b)
            if same(first) != same(again):
                return failure("reports", "differs", "%s:\n%s" % (
                    b, difference(same(first), same(again))))
        return None

    def wrong_clock(self, stage, status, out, err):
        """Of the run of p.shd that ended so."""
        if status != 0:
            return failure(stage, status, err + out)
        why = clock.wrong(self.read("c.json"), out, self.read("p.hlo"))
        return failure(stage, "differs", why + out) if why else None

    def clock(self):
        status, out, err = self.call("--emit=cost.json=c.json,fused=p.hlo", "p.shd")
        if status == 0:
            status, out, err = self.call("--interpret", "p.shd", "--", "--stats")
        return self.wrong_clock("clock", status, out, err)

    def clock_built(self):
        status, out, err = self.call("--emit=cost.json=c.json,fused=p.hlo", "p.shd")
        if status == 0:
            status, out, err = self.call("--cflags=-O0", "-o", "p", "p.shd")
        wrong = status != 0 and failure("clock_built", status, err + out)
        for cores in [], ONE_CORE:
            wrong = wrong or self.wrong_clock(
                "clock_built", *self.execute([*cores, "./p", "--stats"]))
        return wrong or None

    def beside(self, stage, option, *how):
        """Collectives are begun early: the same numbers, when it is predicted, no later than
        if they were not, and no earlier than it takes at least."""
        status, out, err = self.call(*option[1:], "--emit=cost.json=alone.json,stats=n.json", "p.shd")
        if status == 0:
            status, out, err = self.call(*option, "--emit=cost.json=c.json,schedule=p.hlo,"
                                         "stats=s.json", "p.shd")
        if status == 0:
            status, out, err = self.call("--emit=stats=again.json", "p.hlo")
        told = [self.read(f) for f in ("n.json", "s.json", "again.json")] if status == 0 else []
        for a, b in (told[1:], [stats.unscheduled(text) for text in told[:2]]) if told else ():
            if a != b:
                return failure(stage, "stats", difference(a, b))
        if status == 0:
            status, out, err = self.call(*option, *how, "p.shd", "--", "--check", "--stats",
                                         "--helper=on")
        wrong = self.wrong_clock(stage, status, out, err)
        alone, now = (json.loads(self.read(f)) if not wrong else {} for f in ("alone.json", "c.json"))
        if not wrong and now["seconds"] > alone["seconds"]:
            wrong = failure(stage, "slower", "%s, without %s" % (now["seconds"], alone["seconds"]))
        for cost in (alone, now) if not wrong else ():
            if cost["lower_seconds"] > cost["seconds"]:
                wrong = failure(stage, "lower", "%s, at least %s" % (cost["seconds"], cost["lower_seconds"]))
        return wrong

    def overlap_default(self):
        return self.beside("overlap_default", ["--overlap=xla"], "--interpret")

    def overlap(self):
        """... and what is told to be the least with other --overlap is no more than it takes."""
        wrong = self.beside("overlap", ["--overlap=async"], "--interpret")
        status, out, err = self.call("--overlap=xla", "--emit=cost.json=xla.json", "p.shd")
        if wrong or status != 0:
            return wrong or failure("overlap", status, err + out)
        now, alone, xla = (json.loads(self.read(f)) for f in ("c.json", "alone.json", "xla.json"))
        if now["seconds"] > xla["seconds"] * 1.005:
            return failure("overlap", "slower than xla", "%s, with it %s" % (
                now["seconds"], xla["seconds"]))
        for told in alone, xla:
            if told["lower_seconds"] > now["seconds"] * (1 + 1e-6):     # whole picoseconds
                return failure("overlap", "lower", "%s, told to be at least %s" % (
                    now["seconds"], told["lower_seconds"]))
        return None

    def overlap_built(self):
        return self.beside("overlap_built", ["--overlap=async"], "--cflags=-O0", "--run")

    def pieces(self):
        wrong = self.beside("pieces", IN_PIECES, "--interpret")
        status, out, err = self.call("--overlap=async", *IN_PIECES[1:],
                                     "--emit=cost.json=n.json,schedule=n.hlo", "p.shd")
        if wrong or status != 0:
            return wrong or failure("pieces", status, err + out)
        apart, now = (json.loads(self.read(f))["seconds"] for f in ("n.json", "c.json"))
        if now > apart * (1 + 1e-5):
            return failure("pieces", "slower", "%s, with --overlap=async %s" % (now, apart))
        if copies.more(self.read("n.hlo"), self.read("p.hlo")):
            return failure("pieces", "copies", "%s, with --overlap=async %s" % tuple(
                copies.copied(self.read(name)) for name in ("p.hlo", "n.hlo")))
        return None

    def pieces_built(self):
        return self.beside("pieces_built", IN_PIECES, "--cflags=-O0", "--run")

    def broken(self):
        """Of a changed program nothing is known but that shdc survives."""
        path = self.folder() + "/p.shd"
        with open(path) as f:
            text = change_words(f.read())
        with open(path, "w") as f:
            f.write(text)
        status, out, err = self.call("--interpret", "p.shd", "--", "--check")
        refused = status == 1 and "error[" in err
        missing = status == 3 and "error[SHD0308]" in err
        endless = status == 10 and "goes round the loop" in err
        if status == 0 or status == 5 or refused or missing or endless:
            return None
        return failure("broken", status, "%s\n%s%s" % (text, err, out))

    def broken_dump(self):
        """A dump that is changed is refused, or goes on to a program."""
        kinds = ["ir", "sharded", "hlo", "fused"]
        status, out, err = self.call("--emit=" + ",".join(
            "%s=broken-%s.hlo" % (k, k) for k in kinds), "p.shd")
        for kind in kinds if status == 0 else []:
            name = "broken-%s.hlo" % kind
            text = change_words(self.read(name))
            with open("%s/%s" % (self.folder(), name), "w") as f:
                f.write(text)
            status, out, err = self.call("--emit=fused=b.hlo,c=b.c,stats=b.json",
                                         name)
            if status not in (0, 1, 5):
                return failure("broken " + kind, status,
                               "%s%s\n%s" % (err, out, text))
        return None

    def compile_text(self, text):
        with open(self.folder() + "/e.shd", "w") as f:
            f.write(text)
        status, _, err = self.call("--check", "--diagnostics-format=json",
                                   "e.shd")
        return status, err

    def explicit(self):
        text, why = make_legal(explicit_text(self.read("p.shd")),
                               self.compile_text)
        if why:
            return failure("explicit", "paste", why)
        if text is None:
            return None
        with self.lock:
            self.legal += 1
        # what is manual along some axes only is automatic along the others
        automatic = re.search(r"^manual\(", text, re.M)
        strict = [] if automatic else ["--strict"]
        for name, *args in (("strict", "--check", *strict, "e.shd"),
                            ("check", "--interpret", "e.shd", "--",
                             "--check")):
            if name == "strict" and re.search(r"^manual\(", text, re.M):
                continue        # along other axes its body is automatic
            status, out, err = self.call(*args)
            if status != 0:
                return failure("explicit " + name, status, err + out + text)
        return None

    def compared(self, stage, option, inputs):
        kind, seed = inputs
        status, said, verdict = oracle.ask(
            self.folder() + "/p.shd", kind, seed, self.folder(), self.call,
            option)
        with self.lock:
            self.elements += verdict.elements
            self.open += verdict.open
        if status != 0 or verdict.why:
            return failure("%s %s" % (stage, kind), status, "%s\n%s" % (
                verdict.why or said, "inputs %s" % (inputs,)))
        return None

    def reference(self, inputs):
        return self.compared("reference", "--interpret", inputs)

    def hostile(self, inputs):
        return self.compared("hostile", "--run", inputs)

    def read(self, name):
        with open("%s/%s" % (self.folder(), name)) as f:
            return f.read()

    def check(self, program, stage, *inputs):
        with open(self.folder() + "/p.shd", "w") as f:
            f.write(program.text())
        return getattr(self, stage)(*inputs)


def unnamed(text):
    """Values by number: a pass that goes on from a dump does not know the
    names of what was removed before, and may use them again."""
    numbers = {}
    return re.sub(r"%[\w.]+", lambda m: "%%%d" % numbers.setdefault(
        m.group(), len(numbers)), text)


def unplaced(text):
    """Without the lines of the source."""
    return re.sub(r"HloModule \w+|source_(file|line)=\S+|"
                  r"extern.declared=\"[^\"]*\"", "", text)


NUMBERS = ["0", "1", "2", "3", "7", "-1", "2147483648", "9223372036854775807"]
WORDS = ["f32", "pred", "i8", "inf", "true", "new", "unreduced", "(", "]", "@",
         "?", "!7", "...", ",", "-"]


def other_word(word, words, draw):
    """Mostly one of its kind, so that the change is not only a syntax error."""
    if draw.random() < 0.1:
        return draw.choice(["", word * 2, draw.choice(WORDS)])
    if word.isdigit():
        return draw.choice(NUMBERS + [w for w in words if w.isdigit()])
    if re.match(r"\w", word):
        return draw.choice([w for w in words if re.match(r"[A-Za-z_]", w)])
    return draw.choice([w for w in words if not re.match(r"[\w\s]", w)])


def change_words(text):
    """One or two words replaced; always the same ones of the same text."""
    draw = random.Random(text)
    words = re.findall(r"\s+|\w+|\.\.\.|->|.", text)
    solid = [i for i, w in enumerate(words) if not w.isspace()]
    for _ in range(draw.choice([1, 1, 2])):
        i = draw.choice(solid)
        words[i] = other_word(words[i], words, draw)
    return "".join(words)


def difference(a, b):
    pairs = [(x, y) for x, y in zip(a.splitlines(), b.splitlines()) if x != y]
    return "\n".join("< %s\n> %s" % pair for pair in pairs[:3])


class Report:
    def __init__(self, checker, args, seed):
        self.checker, self.args, self.seed = checker, args, seed
        self.seen = collections.Counter()
        self.lock = threading.Lock()

    def one(self, index, stage):
        """True if the program passes."""
        program = generate(self.seed, index)
        inputs = self.inputs(index, stage)
        found = self.checker.check(program, stage, *inputs)
        if found is None:
            return True
        with self.lock:
            self.seen[found.key] += 1
            if self.seen[found.key] > self.args.each:
                return False
        self.explain(index, stage, program, found, inputs)
        return False

    def inputs(self, index, stage):
        """What a stage that chooses inputs is told of them."""
        if stage == "reference":
            return [(oracle.KINDS[index % len(oracle.KINDS)], index)]
        return [("hostile", index)] if stage == "hostile" else []

    def explain(self, index, stage, program, found, inputs):
        def fails(q):
            again = self.checker.check(q, stage, *inputs)
            return again is not None and again.key == found.key

        small = shrink(program, fails, self.args.shrink)
        detail = self.checker.check(small, stage, *inputs)
        detail = detail.detail if detail else found.detail + "\n(once)"
        text = "// seed %s, program %d, %s\n%s" % (self.seed, index, stage,
                                                   small.text())
        os.makedirs(self.args.save, exist_ok=True)
        name = "%s/%s-%d-%s" % (self.args.save, self.seed, index, stage)
        with open(name + ".shd", "w") as f:
            f.write(text)
        with open(name + ".txt", "w") as f:
            f.write(detail)
        with self.lock:
            for line in (text + detail).splitlines()[:60]:
                print("# " + line)
            print("# saved as %s.shd" % name, flush=True)

    def stage(self, number, stage, count, pool):
        if stage in ("reference", "hostile") and not oracle:
            print("ok %d - %s # SKIP no numpy" % (number, stage))
            return True
        indices = range(self.args.first, self.args.first + count)
        passed = sum(pool.map(lambda i: self.one(i, stage), indices))
        print("%s %d - %s: %d of %d random programs, seed %s" % (
            "ok" if passed == count else "not ok", number, stage, passed, count,
            self.seed), flush=True)
        return passed == count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shdc")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    for stage, count in FULL.items():
        parser.add_argument("--" + stage, type=int, default=count // 20)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", default="random-failures")
    parser.add_argument("--shrink", type=int, default=400)
    parser.add_argument("--each", type=int, default=1,
                        help="programs to explain for each kind of failure")
    args = parser.parse_args()
    if args.full:
        args.seed = os.urandom(4).hex()
        for stage, count in FULL.items():
            setattr(args, stage, count)
    print("# seed %s" % args.seed)
    print("1..%d" % len(FULL))
    report = Report(Checker(args.shdc), args, args.seed)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        good = [report.stage(number, stage, getattr(args, stage), pool)
                for number, stage in enumerate(FULL, 1)]
    print("# %d explicit programs became legal" % report.checker.legal)
    print("# %d elements compared with numpy's, %d of them open" % (
        report.checker.elements, report.checker.open))
    for key, n in report.seen.most_common():
        print("# %d times: %s" % (n, key))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
