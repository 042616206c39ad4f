"""The memory that a built program touches is what was planned, to the byte; with
--keep-inputs, of every third, a second run on the same inputs has the right results, too.

usage: touched.py SHDC... SAMPLES: all programs there and in its training/.
"""
import glob
import re
import subprocess
import sys

from how_tested import sizes

*shdc, samples = sys.argv[1:]
programs = sorted(glob.glob(samples + "/*.shd") + glob.glob(samples + "/training/*.shd"))
if "--keep-inputs" in shdc:
    programs = programs[::3]
wrong = []
for program in programs:
    keeps = ["--time=1", "--check"] if "--keep-inputs" in shdc else []
    run = subprocess.run(shdc + sizes(program) + ["--run", program, "--", "--stats"] + keeps, capture_output=True, text=True)
    told = re.search(r"memory touched: (\d+) bytes of (\d+)", run.stdout)
    if run.returncode or not told or told[1] != told[2]:
        wrong.append("%s: %s" % (program, run.stdout + run.stderr))
print("\n".join(wrong) or "all of %d programs touch what is planned" % len(programs))
