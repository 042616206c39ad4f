"""The lines of --stats add up to its header and to their last lines, and stand in columns.

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

# Picoseconds: times have six decimals, of microseconds.
def picoseconds(us):
    whole, decimals = us.split(".")
    assert len(decimals) == 6, us
    return int(whole + decimals)


clock = picoseconds(re.search(r"([\d.]+) us \(emulated\b", text).group(1))
steps = re.findall(r"^ *\S+  \S.*?  +(\d+) +([\d.]+) +([\d.]+) +[\d.]+ %  \w+$", text, re.M)
waiting = re.search(r"^ +waiting for other devices +0 +([\d.]+) ", text, re.M)
total = re.search(r"^ +all +(\d+) +([\d.]+)  100 %$", text, re.M)
times = [picoseconds(us) for count, each, us in steps]
assert steps and times == sorted(times, reverse=True), text
for count, each, us in steps:
    assert int(count) * picoseconds(each) == picoseconds(us), (count, each, us)
rows = [m.end(1) - m.start() for m in re.finditer(r"^ *\S+  \S.*?  +(\d+) +[\d.]+ +[\d.]+ +[\d.]+ %  \w+$", text, re.M)]
head = re.search(r"^  line  what +times", text, re.M)
assert set(rows) == {len(head.group())} == {total.end(1) - total.start()}, text
assert sum(int(step[0]) for step in steps) == int(total.group(1)), text
assert sum(times) + (picoseconds(waiting.group(1)) if waiting else 0) == clock, text
assert clock == picoseconds(total.group(2)), text
assert len(sys.argv) == 1 or header == int(sys.argv[1]), (header, sys.argv)
