#!/usr/bin/env python3
"""What is hidden: steps of training on slices of many sizes, one after the other, in
order, begun early, and in pieces, beside the least that any order takes.

    tests/bench/overlap.py SHDC [--only NAME] [--targets v4,v5e,v5p] [--way async]

A row each: program, slice, milliseconds; `over`: how much longer `auto` (or --way) takes
than the least; the transfers with the largest exposed part, its share of the time, and what
waits for one of them, or why it can't begin earlier: the dependence that stands in the way.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

from predict import BLOCK

# A chip has so many rows of a batch of 512 tokens.
TRAIN = '''
fn loss(x, Wq, Wk, Wv, Wo, Wi, Wu) {
  var h: [B@data, T, D] = x;
  %s
  return mean(square(f32(h)));
}
type Heads = bf16[L, D@data, H@model, K];
fn main(x: bf16[B@data, T, D], Wq: Heads, Wk: Heads, Wv: Heads,
        Wo: bf16[L, H@model, K, D@data], Wi: bf16[L, D@data, F@model],
        Wu: bf16[L, F@model, D@data])
    -> (loss: f32, q: Heads, k: Heads, v: Heads, o: bf16[L, H@model, K, D@data],
        i: bf16[L, D@data, F@model], u: bf16[L, F@model, D@data]) {
  let (l, gq, gk, gv, go, gi, gu) =
    value_and_grad(loss, wrt=(Wq, Wk, Wv, Wo, Wi, Wu))(x, Wq, Wk, Wv, Wo, Wi, Wu);
  return l, Wq - 0.01 * gq, Wk - 0.01 * gk, Wv - 0.01 * gv, Wo - 0.01 * go,
    Wi - 0.01 * gi, Wu - 0.01 * gu;
}
'''
SCAN = 'for (q, k, v, o, i, u) in (Wq, Wk, Wv, Wo, Wi, Wu) { h = layer(h, q, k, v, o, i, u); }'
UNROLLED = ('for unroll i in 0..L '
            '{ h = layer(h, Wq[i], Wk[i], Wv[i], Wo[i], Wi[i], Wu[i]); }')
AGAIN = '''checkpoint fn layer(x, q, k, v, o, i, u) { return block(x, q, k, v, o, i, u); }
'''
FEED_FORWARD = '''
fn main(x: bf16[B@data, D], W1: bf16[D@data, F@model], W2: bf16[F@model, D@data])
    -> (y: bf16[B@data, D]) {
  return einsum("bf,fd->bd", relu(einsum("bd,df->bf", x, W1)), W2);
}
'''
MIXTURE = '''
fn main(x: bf16[E, S@data, D], Wi: bf16[E@data, D, F@model], Wo: bf16[E@data, F@model, D])
    -> (y: bf16[E, S@data, D]) {
  let rows: [E@data, S, D] = x;
  let h = relu(einsum("esd,edf->esf", rows, Wi));
  let y: [E@data, S, D] = einsum("esf,efd->esd", h, Wo);
  return y;
}
'''
SLICES = {
    'v4': ['4x4x4', '8x8x8', '16x16x16'],
    'v5e': ['8x8', '16x16'],
    'v5p': ['4x4x4', '8x8x8', '16x16x16'],
}
T5 = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'samples', 'published', 't5.shd')
T5_MODEL = {'v4': 16, 'v5e': 32, 'v5p': 16}
MODEL = {'4x4x4': 4, '8x8x8': 8, '16x16x16': 16, '8x8': 4, '16x16': 8}


def chips(shape):
    n = 1
    for size in shape.split('x'):
        n *= int(size)
    return n


def transformer(loop):
    return BLOCK + AGAIN + TRAIN % loop


def t5():
    """T5-11B, whatever the mesh."""
    with open(T5, encoding='utf-8') as source:
        return re.sub(r'^mesh .*?;', '', source.read(), flags=re.M | re.S)


def programs(target, shape):
    """Name, sizes of the mesh, text, and dims that fit them."""
    model = MODEL[shape]
    data = chips(shape) // model
    for name, text, options in of_mesh(data, model):
        yield name, data, model, text, options
    data = chips(shape) // T5_MODEL[target]
    yield 't5', data, T5_MODEL[target], t5(), ['-D', 'GBS=%d' % (8 * data), '-D', 'M=2', '-D', 'REMAT=24']


def of_mesh(data, model):
    sizes = ['-D', 'B=%d' % (2 * data)]
    yield 'feed-forward', 'dim B = 8192, D = 8192, F = 32768;' + FEED_FORWARD, [
        '-D', 'B=%d' % (2048 * data)]
    yield 'mixture', 'dim E = 64, S = 8192, D = 4096, F = 14336;' + MIXTURE, [
        '-D', 'E=%d' % data, '-D', 'S=%d' % (64 * data)]
    yield 'scan', transformer(SCAN), sizes
    yield 'unrolled', transformer(UNROLLED), sizes


def cost(shdc, path, options):
    """What it takes, and what is said of its transfers."""
    done = subprocess.run([shdc, '--emit=cost.json', '-Rschedule', *options, path],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout), done.stderr


def dependence(remarks, kind, axes, line):
    """Of such a transfer that is exposed: what is said behind that."""
    said = re.findall(r':%s:\d+: remark\[-Rschedule\]: %s over %s of .*? (?:exposed), (.*)' % (
        line, kind, axes), remarks)
    return max(said, key=said.count, default='')


def stands_in_the_way(answer, remarks):
    """The largest exposed transfers of a program."""
    exposed = {}
    for op in answer['ops']:
        what = op['kind'], ' '.join(op['axes']), op['line']
        exposed[what] = exposed.get(what, 0) + op['exposed_seconds']
    worst = max(exposed, key=exposed.get)
    return '%s over %s, line %s (%.1f %% exposed): %s' % (
        *worst, 100 * exposed[worst] / answer['seconds'], dependence(remarks, *worst))


def row(shdc, path, name, target, shape, options, way):
    answers = {o: cost(shdc, path, options + ['--overlap=' + o]) for o in ('none', way)}
    (best, remarks), (plain, _) = answers[way], answers['none']
    over = best['seconds'] / best['lower_seconds'] - 1
    print('| %s | %s %s | %.4g | %.4g | %.4g | %.4g | %.4g | %.1f %% | %s |' % (
        name, target, shape, 1e3 * plain['serial_seconds'], 1e3 * plain['seconds'],
        1e3 * best['seconds'], 1e3 * best['compute_seconds'], 1e3 * best['lower_seconds'],
        100 * over, 'does not fit' if best['memory_peak'] > best['memory_limit'] else stands_in_the_way(best, remarks)),
        flush=True)
    return over <= 0.1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('shdc')
    parser.add_argument('--only')
    parser.add_argument('--targets', default='v4,v5e,v5p')
    parser.add_argument('--way', default='auto')
    args = parser.parse_args()
    near = rows = 0
    print('| program | slice | serial | none | %s | compute | at least | over | in the way |' % args.way)
    print('|---|---|---|---|---|---|---|---|---|')
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/step.shd'
        for target in args.targets.split(','):
            for shape in SLICES[target]:
                for name, data, model, text, options in programs(target, shape):
                    if args.only and name != args.only:
                        continue
                    with open(path, 'w') as out:
                        out.write('mesh [data=%d, model=%d] on "%s:%s";\n%s' % (
                            data, model, target, shape, text))
                    near += row(args.shdc, path, name, target, shape, options, args.way)
                    rows += 1
    print('%d of %d are within 10 %% of the least' % (near, rows))


if __name__ == '__main__':
    main()
