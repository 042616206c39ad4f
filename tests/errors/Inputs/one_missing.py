"""one_missing.py SAMPLES STEP SHDC...: every STEP-th `;`, `)` and `]` of the samples is left
out, one at a time.  Each is one error, in the statement that lacks it; 98 of 100 name the mark
and the line."""
import glob
import re
import subprocess
import sys

step, shdc = int(sys.argv[2]), sys.argv[3:]
cases, exact = 0, 0
for path in sorted(glob.glob(sys.argv[1] + "/*.shd")):
    text = open(path, encoding="utf-8").read()
    code = re.sub(r'//.*|"[^"\n]*"', lambda m: " " * len(m.group()), text)
    for m in list(re.finditer(r"[;)\]]", code))[::step]:
        at, mark = m.start(), m.group()
        run = subprocess.run([*shdc, "--check", "-"], input=text[:at] + text[at + 1:], text=True,
                             capture_output=True, check=False)
        errors = re.findall(r":(\d+):\d+: error\[\w+\]: (.*)", run.stderr)
        first = code.count("\n", 0, at) + 1
        ends = re.compile("[;{]").search(code, at)
        last = code.count("\n", 0, ends.start() if ends else len(code)) + 1
        if run.returncode != 1 or len(errors) != 1 or not first <= int(errors[0][0]) <= last:
            sys.exit("%s:%d without '%s':\n%s" % (path, first, mark, run.stderr))
        exact += errors[0] == (str(first), "'%s' is missing here" % mark)
        cases += 1
if exact * 100 < cases * 98:
    sys.exit("%d of %d name the mark and its line" % (exact, cases))
print("one error each" if cases > 300 else "%d only" % cases)
