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


print("cost of %s, steps %s" % (data["cost"]["program"], folded(data["cost"]["ops"])))
print("memory, a peak of %d bytes, buffers %s" % (data["memory"]["peak"], folded(data["memory"]["buffers"])))
print("remarks %d" % len(data["remarks"]))
print("axes", *[axis["name"] for axis in data["torus"]["axes"]])
print("source of %d lines" % len(data["source"]["lines"]))
print("versus", data["versus"] and data["versus"]["title"])
script = page[page.rindex("<script>"):]
links = re.findall(r"""(?:src|href)=["'](?!data:)|https?://(?!www\.w3\.org/2000/svg)""", script + page[:begin])
print("no address in it" if not links else links)
