"""A program of so many placed lets."""
import sys

n = int(sys.argv[1])
print("mesh [X=2];\nfn main(x: f32[8@X]) -> f32[8] @? {")
for i in range(1, n + 1):
    print("  let a%d: [8@X] = %s + 1.0;" % (i, "a%d" % (i - 1) if i > 1 else "x"))
print("  return a%d;\n}" % n)
