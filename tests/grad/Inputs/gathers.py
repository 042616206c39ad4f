"""gathers.py < STATS: how many all-gathers a run has, and GiB of memory at the peak."""
import json
import sys

stats = json.load(sys.stdin)
print(sum(c["trips"] for c in stats["collectives"] if c["kind"] == "all-gather"), "all-gathers,",
      "%.1f GiB" % (stats["memory_peak"] / 2**30))
