"""The plan of a device's memory, read from its reports.

Two buffers that are live at the same step may not share a byte; all lie in the
slab, whose size is the same in every report, and no smaller than what is live
at once.  A value that is written over another in place has the other's buffer.
"""
import re


def overlap(a, b):
    bytes_ = a["offset"] < b["offset"] + b["bytes"] and \
        b["offset"] < a["offset"] + a["bytes"]
    return bytes_ and a["first"] <= b["last"] and b["first"] <= a["last"]


def most_live(plan):
    """What is live at once, at the fullest step."""
    steps = {b["first"] for b in plan["buffers"]}
    return max([sum(b["bytes"] for b in plan["buffers"]
                    if b["first"] <= s <= b["last"]) for s in steps] or [0])


def offsets(c):
    """Places of the slab that the C mentions."""
    found = re.findall(r"slab(?: \+ (\d+)|\[(\d+)\])|\.offset = (\d+)", c)
    return {int(next(filter(None, words), 0)) for words in found}


def wrong_plan(plan, stats, c):
    """What is wrong with it; None: nothing."""
    buffers, peak = plan["buffers"], plan["peak"]
    end = peak - plan["scratch"]
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            if overlap(a, b):
                return "overlap: %s and %s" % (a, b)
        if a["offset"] < 0 or a["offset"] + a["bytes"] > end:
            return "outside: %s of %d" % (a, end)
    if stats["memory_peak"] != peak:
        return "peak %d, and %d in stats" % (peak, stats["memory_peak"])
    slab = int(re.search(r"\.slab_bytes = (\d+)", c)[1])
    apart = 1 + any(re.match(r"[iu]4\[", b["type"]) for b in buffers)    # these have a byte here
    if slab != end * apart + plan["scratch"]:
        return "peak %d, and a slab of %d" % (peak, slab)
    if most_live(plan) > end or plan["live"] > end:
        return "live %d and %d of %d" % (most_live(plan), plan["live"], peak)
    strange = [at for at in offsets(c) if at != end * apart and not any(
        b["offset"] <= at / apart < b["offset"] + b["bytes"] for b in buffers)]
    return "no buffer at %s" % strange if strange else None
