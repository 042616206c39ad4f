"""Makes a failing program smaller: shrink(program, fails) -> program.

fails(program) says whether the same thing still goes wrong.  Each step is
tried as long as it helps; a step that makes the program wrong is refused by
`fails`, so steps need not be careful.
"""
import copy
import re

from program import Block, Assign

PLACED = re.compile(
    r"@(\((?:[^()]|\([^()]*\))*\)|\?|\w+(:\(\d+\)\d+)?)(!\d+)?"
    r"| (replicated|unreduced)\([^()]*(\([^()]*\)\w*)*\)")


def prune(p):
    """Leaves out what no result needs."""
    needed = {r.name for r in p.results}
    kept = []
    for s in reversed(p.statements):
        if any(x.name in needed for x in s.values):
            kept.append(s)
            needed.update(s.uses)
    kept.reverse()
    if p.helper and len(kept) != len(p.statements):
        first, end, form = p.helper
        inside = [i for i, s in enumerate(kept)
                  if s in p.statements[first:end]]
        p.helper = (inside[0], inside[-1] + 1, form) if inside else None
    p.statements = kept
    p.params = [x for x in p.params if x.name in needed]
    return p


def values(p):
    return p.params + [x for s in p.walk() for x in s.known()] + p.results


def lists(p):
    """Where statements stand: the program, and each body."""
    return [p.statements] + [body for s in p.walk() if isinstance(s, Block)
                             for _, body in s.bodies]


def single_results(p):
    for x in p.params + [x for s in p.statements for x in s.values]:
        if len(p.results) == 1 and p.results[0].name == x.name:
            break           # or two results would take turns
        q = copy.deepcopy(p)
        q.results = [copy.deepcopy(x)]
        q.results[0].placement = None
        q.result_names = [None]
        q.typed_results = False
        yield q
    for i in range(len(p.results)):
        if len(p.results) > 1:
            q = copy.deepcopy(p)
            del q.results[i], q.result_names[i]
            yield q


def given_statements(p):
    """A statement becomes parameters, an assignment nothing."""
    for k, statements in reversed(list(enumerate(lists(p)))):
        for i in reversed(range(len(statements))):
            if isinstance(statements[i], Assign) and statements[i].fixed:
                continue
            q = copy.deepcopy(p)
            s = lists(q)[k].pop(i)
            q.helper = None
            give(q, s.values)
            yield q


def give(q, values):
    for x in values:
        x.placement = None
        q.params.append(x)


def plain_blocks(p):
    """Loops and branches become what stands in them, or have less of it."""
    blocks = [i for i, s in enumerate(p.walk()) if isinstance(s, Block)]
    for i in blocks:
        s = list(p.walk())[i]
        for k in range(len(s.bodies)):
            q = copy.deepcopy(p)
            again = list(q.walk())[i]
            if s.bodies[k][0] is not None:
                again.bodies = [(None, again.bodies[k][1])]
                give(q, again.variables)
                again.variables = []
                yield q
        if len(s.bodies) > 1:
            q = copy.deepcopy(p)
            list(q.walk())[i].bodies.pop()
            yield q
        for k in range(len(s.values)):
            q = copy.deepcopy(p)
            again = list(q.walk())[i]
            give(q, [again.values.pop(k)])
            again.inits.pop(k)
            yield q


def bypassed(p):
    """A result of a statement is replaced by another value of its type."""
    for i, s in enumerate(p.statements):
        known = {x.name: x for x in values(p)}
        for x in s.values:
            for name in s.uses + [y.name for y in p.params]:
                y = known[name]
                if (y.dtype, y.dims) == (x.dtype, x.dims):
                    q = copy.deepcopy(p)
                    q.helper = None
                    rename(q, x.name, name, i + 1)
                    yield q
                    break


def rename(q, old, new, first):
    word = re.compile(r"\b%s\b" % old)
    for s in q.statements[first:]:
        s.change(lambda text: word.sub(new, text))
    for r in q.results:
        if r.name == old:
            r.name = new


def plain_forms(p):
    for field, value in (("helper", None), ("named_dims", False),
                         ("named_types", False),
                         ("typed_results", False)):
        if getattr(p, field) != value:
            q = copy.deepcopy(p)
            setattr(q, field, value)
            yield q
    for i, s in enumerate(p.statements):
        if s.inline:
            q = copy.deepcopy(p)
            q.statements[i].inline = False
            yield q
    if any(p.result_names):
        q = copy.deepcopy(p)
        q.result_names = [None] * len(p.results)
        yield q


def fewer_placements(p):
    for i, x in enumerate(values(p)):
        if x.placement is None:
            continue
        q = copy.deepcopy(p)
        values(q)[i].placement = None
        yield q
        for field, least in (("replicated", []), ("unreduced", []),
                             ("whole", False), ("all_open", False)):
            if getattr(x.placement, field) != least:
                q = copy.deepcopy(p)
                setattr(values(q)[i].placement, field, least)
                yield q
        for d in range(len(x.dims)):
            for field, least in (("priority", None), ("open", False)):
                if getattr(x.placement, field)[d] != least:
                    q = copy.deepcopy(p)
                    getattr(values(q)[i].placement, field)[d] = least
                    yield q
            for a in range(len(x.placement.axes[d])):
                q = copy.deepcopy(p)
                del values(q)[i].placement.axes[d][a]
                yield q
    for i, s in enumerate(p.walk()):
        if s.text is not None and PLACED.search(s.text):
            q = copy.deepcopy(p)
            list(q.walk())[i].change(lambda text: PLACED.sub("", text))
            yield q


def without_axis(placement, axis):
    if placement is None:
        return

    def left(axes):
        return [a for a in axes if a.split(":")[0] != axis]
    placement.axes = list(map(left, placement.axes))
    placement.replicated = left(placement.replicated)
    placement.unreduced = left(placement.unreduced)


def smaller_meshes(p):
    for i, (name, size) in enumerate(p.mesh):
        if len(p.mesh) > 1:
            q = copy.deepcopy(p)
            del q.mesh[i]
            for x in values(q):
                without_axis(x.placement, name)
            yield q
        for n in range(1, size):
            if size % n == 0 or n == 2:
                q = copy.deepcopy(p)
                q.mesh[i] = (name, n)
                yield q


def smaller_sizes(p):
    sizes = sorted({d for x in values(p) for d in x.dims if d > 1},
                   reverse=True)
    for old in sizes:
        for new in [n for n in (1, 2, 3, 4, 6, 8, 12) if n < old]:
            q = copy.deepcopy(p)
            for x in values(q):
                x.dims = [new if d == old else d for d in x.dims]
            word = re.compile(r"\b%d\b" % old)
            for s in q.statements:
                s.change(lambda text: word.sub(str(new), text))
            yield q


STEPS = [single_results, given_statements, plain_blocks, bypassed, plain_forms,
         fewer_placements, smaller_meshes, smaller_sizes]


def shrink(p, fails, most=400):
    """At most `most` questions are asked of fails()."""
    asked, again = 0, True
    while again and asked < most:
        again = False
        for step in STEPS:
            smaller = True
            while smaller and asked < most:
                smaller = False
                for q in step(p):
                    asked += 1
                    prune(q)
                    if q.text() != p.text() and fails(q):
                        p, smaller, again = q, True, True
                        break
                    if asked >= most:
                        break
    return p
