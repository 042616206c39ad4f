#!/usr/bin/env python3
"""XLA's own HLO parser on .hlo files: one TAP line each.

usage: parse.py FILE.hlo ...

Exits 77 (skipped) where jaxlib is not installed.  A module that XLA parses is
printed again and parsed once more, so that what it understood is a program.
"""
import sys

try:
    from jaxlib import _hlo
except ImportError:
    print("1..0 # SKIP jaxlib is not installed")
    sys.exit(77)


def parse(path):
    """What XLA says against the file, or None."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        module = _hlo.hlo_module_from_text(text)
        _hlo.hlo_module_from_text(module.to_string())
    except Exception as error:  # whatever class it has this year
        return str(error)
    return None


def main(paths):
    failures = 0
    for number, path in enumerate(paths, 1):
        error = parse(path)
        failures += error is not None
        print(f"{'not ok' if error else 'ok'} {number} - {path}")
        for line in (error or "").splitlines()[:8]:
            print(f"#   {line}")
    print(f"1..{len(paths)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
