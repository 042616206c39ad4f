#!/usr/bin/env python3
"""page_data.py FILE.html: what the data of a report's page are about."""
import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
begin = page.index('id="data">') + len('id="data">')
data = json.loads(page[begin:page.index("</script>", begin)])

def folded(what):
    return "%d of %d sorts" % (len(what["rows"]), len(what["sorts"]))


def critical_path(cost):
    """How much of each kind, and whether it is the run, but for what a step's time is rounded to."""
    sums = {(critical, moves): 0 for critical in (True, False) for moves in (True, False)}
    for row in cost["ops"]["rows"]:
        sort = cost["ops"]["sorts"][row[0]]
        sums[sort["critical"], bool(sort["axes"])] += sort["lasts"] * sort["times"]
    whole = abs(sums[True, False] + sums[True, True] - cost["seconds"]) < 1e-11
    return "critical: compute %.1f us, transfers %.1f us, %s of the run; beside it %.1f us, %.1f us" % (
        *[sums[key] * 1e6 for key in ((True, False), (True, True))], "all" if whole else "not all",
        *[sums[key] * 1e6 for key in ((False, False), (False, True))])


print("made by %s: %s" % (data["version"], data["command"]))
print("cost of %s, steps %s" % (data["cost"]["program"], folded(data["cost"]["ops"])))
print("memory, a peak of %d bytes, buffers %s" % (data["memory"]["peak"], folded(data["memory"]["buffers"])))
print(critical_path(data["cost"]))
for branches in data["cost"]["ifs"]:
    print("branch: " + branches)
for row in data["cost"]["others"]["rows"]:
    sort = data["cost"]["others"]["sorts"][row[0]]
    print("of one that does not count: line %d, %s" % (sort["line"], sort["what"]))
print("links: " + "; ".join("%d %s" % (link["row"], link["name"]) for link in data["links"]))
print("remarks %d" % len(data["remarks"]))
print("axes", *[axis["name"] for axis in data["torus"]["axes"]])
print("source of %d lines" % len(data["source"]["lines"]))
print("versus", data["versus"] and data["versus"]["title"])
if data["versus"]:
    print("the other takes %s, this %s" % tuple(
        "%.3g %s" % ((seconds * 1e3, "ms") if seconds >= 1e-3 else (seconds * 1e6, "us"))
        for seconds in (data["versus"]["cost"]["seconds"], data["cost"]["seconds"])))
sweep = data["sweep"]
print("sweep", sweep and "%d of %d combinations can be, the first %s" % (sweep["can"], sweep["combinations"], {
    name: sweep["rows"][0][name] for name in sweep["names"] + ["seconds"]}))
script = page[page.rindex("<script>"):]
links = re.findall(r"""(?:src|href)=["'](?!data:)|https?://(?!www\.w3\.org/2000/svg)""", script + page[:begin])
print("no address in it" if not links else links)
sorts = [data["cost"]["ops"]["sorts"][row[0]] for row in data["cost"]["ops"]["rows"]]
print("of peak:", *["line %d %.3f" % (sort["line"], sort["flops"] / sort["seconds"] / sort["peak"])
                   for sort in sorts if "peak" in sort])
