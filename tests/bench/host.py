#!/usr/bin/env python3
"""What overlap costs here: samples that run as built with --overlap=none and
with `--overlap=auto`, in turn, and how much longer the second takes on this machine.

    tests/bench/host.py SHDC [--rounds 7] [--seconds 0.3] [--way auto] [SAMPLE ...]

A row each: the least milliseconds a run of both, and the median, over the rounds, of
their ratio. A row over 1.03 is timed again, four times as long, before it is marked.
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, '..', '..', 'samples')
ALLOWED = 1.03
MILLISECONDS = {'ns': 1e-6, 'us': 1e-3, 'ms': 1.0, 's': 1e3}


def built(shdc, sample, way, folder):
    """The program, or None if more is needed than the sample's text."""
    program = os.path.join(folder, os.path.basename(sample) + '.' + way)
    done = subprocess.run([shdc, sample, '--overlap=' + way, '-o', program],
                          capture_output=True, text=True)
    return program if done.returncode == 0 else None


def run_time(program, runs):
    """Median milliseconds of so many runs, or None where it needs inputs that it has not."""
    done = subprocess.run([program, '--time', str(runs)], capture_output=True, text=True)
    found = re.search(r'median ([\d.]+) ?(ns|us|ms|s)\b', done.stdout + done.stderr)
    return float(found[1]) * MILLISECONDS[found[2]] if found else None


def compared(programs, rounds, milliseconds):
    """Both programs' least median, and the median of their ratios, round by round."""
    once = run_time(programs[0], 3)
    if once is None:
        return None
    runs = max(3, min(2000, int(milliseconds / max(once, 1e-3))))
    pairs = []
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        times = {which: run_time(programs[which], runs) for which in order}
        pairs.append((times[0], times[1]))
    ratio = statistics.median(b / a for a, b in pairs)
    return min(a for a, _ in pairs), min(b for _, b in pairs), ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('shdc')
    parser.add_argument('samples', nargs='*')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--seconds', type=float, default=0.3)
    parser.add_argument('--way', default='auto')
    options = parser.parse_args()
    samples = options.samples or sorted(glob.glob(os.path.join(SAMPLES, '**', '*.shd'),
                                                  recursive=True))
    slower = counted = 0
    print(f'{"sample":34} {"none ms":>9} {options.way + " ms":>9} {"ratio":>6}')
    for sample in samples:
        with tempfile.TemporaryDirectory() as folder:
            programs = [built(options.shdc, sample, way, folder)
                        for way in ('none', options.way)]
            found = None
            if all(programs):
                found = compared(programs, options.rounds, 1e3 * options.seconds)
            if found and found[2] > ALLOWED:
                found = compared(programs, 2 * options.rounds, 2e3 * options.seconds)
        name = os.path.relpath(sample, SAMPLES)
        if not found:
            print(f'{name:34} {"not run":>9}', flush=True)
            continue
        counted += 1
        slower += found[2] > ALLOWED
        mark = '  slower' if found[2] > ALLOWED else ''
        print(f'{name:34} {found[0]:9.3f} {found[1]:9.3f} {found[2]:6.3f}{mark}', flush=True)
    print(f'{counted - slower} of {counted} are no slower by more than 3 %')
    return 0


if __name__ == '__main__':
    sys.exit(main())
