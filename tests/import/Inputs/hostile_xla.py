#!/usr/bin/env python3
"""A dump of XLA's, cut off and mangled: it is read, or refused with one message.

    hostile_xla.py DUMP PROGRAM SCRATCH -- SHDC...
"""
import random
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
program, scratch, shdc = sys.argv[2], sys.argv[3], sys.argv[5:]
GROUPS = "mesh['axis_0'=2,'axis_1'=4] {'axis_1'}"
cases = [text[:len(text) * i // 12] for i in range(12)]
for group in ("{{}}", "{{0,1", "{{8,9}}", "{{-1}}", "[0,0]<=[8]", "[2,4]<=[8", "[2,4]<=[3,3]", "[2,4]<=[4,2]T(7,9)",
              "[9999999999999,4]<=[8]", "mesh[", "mesh['a'=0] {'a'}", "mesh['a'=8] {'b'}", "mesh['a'=8] {'a':(3)2}",
              "mesh['a'=8] {'a','a'}", "mesh['a'=8], device_ids=([8]T(1)) {'a'}", "mesh['a'=8], device_ids=(1,2) {'a'}",
              "mesh['a'=8], device_ids=(7,6,5,4,3,2,1,0) {'a'}", "mesh['a'=8] {'a':(2)2}", "{}", "", "{{0,1,2},{3,4,5}}", "{{0,3},{1,2}}"):
    cases.append(text.replace(GROUPS, group))
cases += [text.replace("body=%region_0.2_spmd", "body=%main.0_spmd"), text.replace("constant(6)", "constant(-6)"),
          text.replace("constant(6)", "constant(99999999999999999999)"), text.replace("index=0", "index=-7"),
          text.replace("f32[16,64]", "f32[" + "9" * 400 + "]"), text.replace("(", ""), text.replace(" = ", "="),
          text.replace("stack_frame_id=", "stack_frame_id=-"), text.replace("parent_frame_id=", "parent_frame_id=9"),
          text.replace("file_location_id=", "file_location_id=99999999")]
draw = random.Random(1)
for _ in range(30):
    lines = text.split("\n")
    for _ in range(6):
        at = draw.randrange(len(lines))
        line = lines[at]
        cut = draw.randrange(len(line) + 1)
        lines[at] = draw.choice([line[:cut], line[cut:], line[:cut] + draw.choice("{}()[]%=,\"'") + line[cut:], ""])
    cases.append("\n".join(lines))
bad = 0
for case in cases:
    with open(scratch, "w", encoding="utf-8") as f:
        f.write(case)
    run = subprocess.run([*shdc, "--xla", scratch, program], capture_output=True, text=True, timeout=20, check=False)
    wrong = run.returncode not in (0, 1) or (run.returncode == 1) != (run.stderr.count("error[") == 1)
    bad += wrong
    if wrong:
        print(run.returncode, run.stderr[:300])
print("%d ended otherwise than with 0 or 1" % bad)
