"""What samples/training/characters.shd learns in 190 steps of a quarter of the windows that it has.

    characters.py SHDC SAMPLE TEXT FOLDER

The mean loss of the last 20 steps is below 1.5; what is written from the weights then,
with a cache and a character at a time, is about as likely to the model, which sees it
all at once: a cache that is wrong makes it write what it does not expect.
"""
import csv
import os
import shlex
import shutil
import subprocess
import sys

import numpy as np

shdc, sample, text, folder = shlex.split(sys.argv[1]), *sys.argv[2:]
STEPS, WINDOWS, BATCH, LENGTH = 190, 8, 4, 128
os.makedirs(folder, exist_ok=True)
os.chdir(folder)


def run(entry, *arguments, before=()):
    command = shdc + ["--run", sample, "--entry", entry, *before, "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


shutil.copy(text, "text.txt")
run("init", "--out", "start.safetensors")
run("main", "--steps", str(STEPS), "--log", "log.csv", "--in", "text=text.txt",
    "--in", "start.safetensors", "--out", "trained.safetensors", before=["-D", "B=%d" % WINDOWS])
with open("log.csv") as f:
    losses = [float(row["loss"]) for row in csv.DictReader(f)]
assert len(losses) == STEPS, len(losses)
trained = np.mean(losses[-20:])
print("the last 20 steps: %.3f" % trained)
assert trained < 1.5

for seed in range(3):
    run("generate", "--in", "trained.safetensors", "--random", "seed=%d..%d" % (seed, seed + 1),
        "--out", "text=written.txt")
    with open("written.txt", "rb") as f:
        written = f.read()
    assert len(written) == 200 and max(written) < 128
    window = np.frombuffer(written[:LENGTH + 1], np.uint8).astype(np.int32)
    np.save("window.npy", np.tile(window, (BATCH, 1)))
    told = run("loss", "--in", "text=window.npy", "--in", "trained.safetensors", before=["-D", "B=%d" % BATCH])
    likely = float(told.split()[2])
    print("%.3f %s" % (likely, written))
    assert likely < 1.2
