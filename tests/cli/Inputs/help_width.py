"""No line of any help is wider than 80 columns, and each option is in its group.

    help_width.py SHDC OPTIONS.def PROG
"""
import re
import subprocess
import sys

shdc, table, prog = sys.argv[1].split(), sys.argv[2], sys.argv[3]


def lines(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    assert r.returncode == 0 and r.stdout, (command, r.stderr)
    wide = [l for l in r.stdout.split("\n") if len(l) > 80]
    assert not wide, (command, wide)
    return r.stdout


rows = re.findall(r'^(GROUP|SHORT|OPTION)\("?([\w-]+)"?', open(table).read(), re.M)
assert len(rows) > 20
whole, group = lines(*shdc, "--help"), ""
for kind, name in rows:
    if kind == "GROUP":
        group = lines(*shdc, "--help=" + name)
        assert group in whole, name
    else:
        end = r"(?![\w-])" if name[1] == "-" else ""
        assert re.search("(^  |, )" + re.escape(name) + end, group, re.M), name
for more in "emit", "functions", "targets":
    assert "--help=" + more in whole, more
    lines(*shdc, "--help=" + more)
for code in sorted(set(re.findall(r"SHD\d{4}", open(sys.argv[4]).read()))):
    lines(*shdc, "--explain-error=" + code)
assert lines(*shdc, "-h") == whole
assert lines(*shdc, "-V") == lines(*shdc, "--version")
assert lines(prog, "-h") == lines(prog, "--help")
assert lines(prog, "-V") == lines(prog, "--version")
