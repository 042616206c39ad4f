#!/usr/bin/env python3
"""The tables of samples/README.md: what programs send and hold.

    cost.py SHDC README             silent if the tables there are right
    cost.py SHDC README --write     makes them so

A row is what --emit=stats says of one or two programs.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "..", "samples")
AUTO = os.path.join(HERE, "automatic.shd")
LARGE = "-D S=1024 -D D=256 -D F=512 -D E=16"

# what, the program by hand, and by the compiler ("": as in the row above).
# NAME:ENTRY of a sample, auto:ENTRY of automatic.shd, options.
BY_HAND = [
    ("all-gather of i32[4], X=4", "manual_collectives:gather", "auto:gather"),
    ("all-reduce of i32[4], X=4", "manual_collectives:add", "auto:add"),
    ("reduce-scatter of i32[4], X=4", "manual_collectives:add_and_split", "auto:add_and_split"),
    ("all-to-all of i32[4], X=4", "manual_collectives:exchange", "auto:exchange"),
    ("all-reduce of f32[8, 8], X=4", "manual_all_reduce:whole", "auto:whole"),
    ("... in two halves", "manual_all_reduce:halves", ""),
    ("case 2, [8, 64] x [64, 128], X=2",
     "manual_matmul:case2 --mesh X=2 -D I=8 -D J=64 -D K=128", "case2:main --mesh X=2,Y=1"),
    ("case 3, [32, 64] x [64, 16], X=2",
     "manual_matmul:case3 --mesh X=2 -D I=32 -D J=64 -D K=16", "auto:case3 --mesh X=2,Y=1"),
    ("case 4, [128, 16] x [16, 32], X=2, by rows",
     "manual_matmul:case4_rows --mesh X=2 -D I=128 -D J=16 -D K=32", "case4:main --mesh X=2,Y=1"),
    ("... by columns", "manual_matmul:case4_columns --mesh X=2 -D I=128 -D J=16 -D K=32", ""),
    ("all-gather in a ring, i32[8, 8], X=4", "rings:all_gather_one", "auto:gather_rows"),
    ("... in both directions", "rings:all_gather_both", ""),
    ("reduce-scatter in a ring, i32[32, 8], X=4", "rings:reduce_scatter_one", "auto:split_rows"),
    ("... in both directions", "rings:reduce_scatter_both", ""),
    ("all-reduce in a ring, i32[32, 8], X=4", "rings:all_reduce_one", "auto:sum_rows"),
    ("... in both directions", "rings:all_reduce_both", ""),
    ("all-gather matmul, X=4", "collective_matmul:all_gather_matmul", "auto:all_gather_matmul"),
    ("reduce-scatter matmul, X=4", "collective_matmul:reduce_scatter_matmul",
     "auto:reduce_scatter_matmul"),
    ("all-reduce matmul in 4 tiles, X=4", "collective_matmul:all_reduce_matmul",
     "auto:all_reduce_matmul"),
    ("feed-forward of the first two, X=4", "collective_matmul:feed_forward", "auto:feed_forward"),
    ("... in both directions", "collective_matmul:feed_forward_both", ""),
    ("attention over 32 positions, X=4", "ring_attention:attention", "auto:attention"),
    ("4 layers in a pipeline, 6 microbatches, stage=4", "pipeline:pipeline", "auto:pipeline"),
    ("start of each shard averaged, X=2, Y=4", "slice_and_average:main",
     "auto:slice_and_average --mesh X=2,Y=4"),
    ("a training step, X=4, Y=2, manual along X, in 4 microbatches",
     "data_parallel:main", "data_parallel:automatic"),
    ("average within each shard", "shard_average_manual:main", "shard_average:main"),
    ("roll within each shard", "shard_roll_manual:main", "shard_roll:main"),
    ("mixture of experts, X=4, Y=2, gathering tokens", "moe_gather:main", "moe:main"),
    ("... sending them to experts, a round", "moe_ragged:main", ""),
    ("... two experts a token, gathering tokens", "moe_top_k_gather:main", "moe_top_k:main"),
]
MOE = [
    ("on one device", "`moe.shd --entry unsharded`", "moe:unsharded " + LARGE),
    ("by the compiler", "`moe.shd`", "moe:main " + LARGE),
    ("by hand, gathering tokens", "`moe_gather.shd`", "moe_gather:main " + LARGE),
    ("by hand, sending tokens, a round", "`moe_ragged.shd`", "moe_ragged:main " + LARGE),
    ("two experts a token, by the compiler", "`moe_top_k.shd`", "moe_top_k:main " + LARGE),
    ("... by hand, gathering tokens", "`moe_top_k_gather.shd`", "moe_top_k_gather:main " + LARGE),
]


def stats(shdc, program):
    name, _, rest = program.partition(":")
    entry, *options = rest.split()
    path = AUTO if name == "auto" else os.path.join(SAMPLES, name + ".shd")
    command = shdc + ["--emit=stats", "--entry", entry, *options, path]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def words(collectives):
    """"all-gather, 6 permutes"; those of a `while` count once."""
    times = {}
    for c in collectives:
        kind = c["kind"].replace("collective-", "")
        times[kind] = times.get(kind, 0) + (c["trips"] or 1)
    return ", ".join(k if n == 1 else "%d %ss" % (n, k) for k, n in times.items()) or "none"


def cost(shdc, program):
    if not program:
        return " | "
    s = stats(shdc, program)
    return "%s | %s" % (words(s["collectives"]), format(s["wire_bytes"], ","))


def tables(shdc):
    rows = ["| what | by hand | bytes | by the compiler | bytes |", "|---|---|---|---|---|"]
    rows += ["| %s | %s | %s |" % (what, cost(shdc, hand), cost(shdc, auto))
             for what, hand, auto in BY_HAND]
    yield rows
    rows = ["| how | program | collectives | bytes | memory |", "|---|---|---|---|---|"]
    for how, name, program in MOE:
        s = stats(shdc, program)
        rows.append("| %s | %s | %s | %s | %s |" % (
            how, name, words(s["collectives"]), format(s["wire_bytes"], ","),
            format(s["memory_peak"], ",")))
    yield rows


def hold(readme, tables, write):
    """Whether a table differs from that of the README, or writes them there."""
    with open(readme, encoding="utf-8") as f:
        text = f.read()
    failed = False
    for rows in tables:
        old = re.search(re.escape(rows[0]) + r"\n(\|.*\n)*", text)
        new = "\n".join(rows) + "\n"
        if old and write:
            text = text.replace(old.group(), new)
        elif not old or old.group() != new:
            failed = True
            print("%s should have:\n%s" % (readme, new))
    if write:
        with open(readme, "w", encoding="utf-8") as f:
            f.write(text)
    return failed


def main(tables):
    paths = [a for a in sys.argv[1:] if a != "--write"]
    return hold(paths[-1], tables(paths[:-1]), "--write" in sys.argv)


if __name__ == "__main__":
    sys.exit(main(tables))
