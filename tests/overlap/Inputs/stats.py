"""--emit=stats tells of the program without its schedule: but for what the schedule is about
all is the same with each --overlap, and of a dump of the schedule.

    stats.py SHDC FILE.shd...
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../random"))
from stats import unscheduled  # noqa: E402


def stats(*command):
    """None where there is nothing to be told of."""
    r = subprocess.run(command, capture_output=True, text=True)
    return r.stdout if r.returncode == 0 else None


def entries(path):
    """A program without one is asked for each function."""
    with open(path, encoding="utf-8") as f:
        words = f.read().replace("(", " ").split("\nfn ")[1:]
    names = [w.split()[0] for w in words]
    return [[]] if "main" in names else [["--entry=" + n] for n in names]


def main():
    shdc, paths = sys.argv[1].split(), sys.argv[2:]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "dump.hlo")
        for path, entry in ((p, e) for p in paths for e in entries(p)):
            plain = stats(*shdc, "--emit=stats", "--overlap=none", *entry, path)
            if not plain:
                continue
            for mode in "auto", "async", "xla":
                options = [*entry, "--overlap=" + mode, path]
                told = stats(*shdc, "--emit=stats,schedule=" + dump, *options)
                again = stats(*shdc, "--emit=stats", dump)
                if not told or told != again or unscheduled(told) != unscheduled(plain):
                    print(*options, "dump" if told != again else "", sep=" ")
                    wrong += 1
    sys.exit(wrong > 0)


main()
