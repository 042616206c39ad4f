"""many_parts.py SHDC N SECONDS: of N tensors of which devices hold parts of a sum one is put
together, in at most so many seconds of the processor's; prints the collectives."""
import json
import resource
import subprocess
import sys

shdc, n, seconds = sys.argv[1:-2], int(sys.argv[-2]), float(sys.argv[-1])
names = ["x%d" % i for i in range(n)]
program = "mesh [X=2];\nfn main(%s) -> f32[%d] { return concat((%s)); }\n" % (
    ", ".join("%s: f32[1] unreduced(X)" % name for name in names), n, ", ".join(names))
run = subprocess.run([*shdc, "--emit=stats", "-"], input=program, capture_output=True, text=True,
                     check=True)
for c in json.loads(run.stdout)["collectives"]:
    print(c["kind"], c["result"])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
took = used.ru_utime + used.ru_stime
if took > seconds:
    sys.exit("that took %.1f seconds" % took)
