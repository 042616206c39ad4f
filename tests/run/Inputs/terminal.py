#!/usr/bin/env python3
"""Runs a command with a terminal for its standard error; prints what is written there, a line
for each that takes the place of another."""
import os
import subprocess
import sys

ours, theirs = os.openpty()
command = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
text = b""
try:
    while piece := os.read(ours, 4096):
        text += piece
except OSError:     # the other end is closed
    pass
print(text.decode().replace("\r", "\n"))
sys.exit(command.wait())
