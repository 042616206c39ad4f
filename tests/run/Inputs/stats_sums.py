"""The lines of --stats add up to its header and to its last line.

    ./prog --stats | stats_sums.py [BYTES]      the header says BYTES, too
"""
import re
import sys

text = sys.stdin.read()
header = int(re.search(r"(\d+) bytes received", text).group(1))
rows = re.findall(r"^([a-z-]+) +(?:[^ ]+ +)?(\d+) +(\d+) +(\d+) +([\d.]+) +([\d.]+)  \S", text, re.M)
total = re.search(r"^all +(\d+) +(\d+) +([\d.]+)$", text, re.M)
assert rows and total, text
for row in rows:
    assert int(row[1]) * int(row[2]) == int(row[3]), row
assert sum(int(row[3]) for row in rows) == header == int(total.group(2)), text
assert sum(int(row[1]) for row in rows) == int(total.group(1)), text
assert abs(sum(float(row[5]) for row in rows) - float(total.group(3))) < 1e-3 * len(rows), text
assert len(sys.argv) == 1 or header == int(sys.argv[1]), (header, sys.argv)
