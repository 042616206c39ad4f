"""The memory that a built program touches is what was planned, to the byte.

usage: touched.py SHDC... SAMPLES: all programs there.
"""
import glob
import re
import subprocess
import sys

*shdc, samples = sys.argv[1:]
programs = sorted(glob.glob(samples + "/*.shd"))
wrong = []
for program in programs:
    run = subprocess.run(shdc + ["--run", program, "--", "--stats"], capture_output=True, text=True)
    told = re.search(r"memory touched: (\d+) bytes of (\d+)", run.stdout)
    if not told or told[1] != told[2]:
        wrong.append("%s: %s" % (program, told[0] if told else run.stderr))
print("\n".join(wrong) or "all of %d programs touch what is planned" % len(programs))
