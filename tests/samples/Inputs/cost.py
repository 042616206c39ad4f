"""Prints what a device receives, from --emit=stats on standard input."""
import json
import sys

stats = json.load(sys.stdin)
moves = ["%s%s" % (c["kind"], " x%d" % c["trips"] if c["trips"] != 1 else "")
         for c in stats["collectives"]]
print(stats["wire_bytes"], ", ".join(moves) or "none")
