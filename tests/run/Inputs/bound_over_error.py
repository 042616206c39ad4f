"""bound_over_error.py SHDC PROGRAM SEEDS MOST: of the first so many seeds no result is
wrong or undecided, and each result's bound is at most MOST times its largest error, where
it comes closest."""
import re
import subprocess
import sys

shdc, program = sys.argv[1:-3], sys.argv[-3]  # with the options that tests give it
seeds, most = int(sys.argv[-2]), float(sys.argv[-1])
closest = {}
for seed in range(seeds):
    run = subprocess.run([*shdc, "--interpret", program, "--", "--check", "--random", str(seed)],
                         capture_output=True, text=True, check=False)
    told = re.findall(r"^check (\S+): ok, .*largest error (\S+) \(bound (\S+)\)$", run.stdout,
                      flags=re.M)
    if run.returncode or not told or len(told) != run.stdout.count("\ncheck "):
        sys.exit("seed %d: %s%s" % (seed, run.stdout, run.stderr))
    for name, error, bound in told:
        closest[name] = max(closest.get(name, 0), float(error) / float(bound))
for name, ratio in closest.items():
    print("%s: the bound is at least %.1f times the error" % (name, 1 / ratio if ratio else 0))
if any(ratio * most < 1 for ratio in closest.values()):
    sys.exit("that is more than %g" % most)
