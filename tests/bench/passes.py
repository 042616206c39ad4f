#!/usr/bin/env python3
"""What the passes cost, by length of the program and size of the mesh.

    tests/bench/passes.py SHDC [--runs N] [--cpu] [--overlap async|auto]

Feed-forward layers repeated until there are 1,000, 10,000 and 100,000 ops,
each on 8 and on 65,536 devices, a transformer of 96 layers, and steps that train 24 to
192 such layers, written one after the other and as a loop, 250 to 4,000 loops, and 400 and
800 reshapes of a product that is asked for elsewhere; the least of N runs, in microseconds
an op (of the others: milliseconds, and microseconds each).  A pass that is linear has one figure in its column.  --overlap: collectives may begin early,
which is what the pass of that name is for.  --cpu counts the processor's time instead of
the clock's, for machines that are not quiet.
"""
import argparse
import collections
import os
import subprocess
import tempfile

FEED_FORWARD = '''dim B=65536, D=65536, F=131072;
fn ffn(x: f32[B, D], W1: f32[D, F], W2: f32[F, D]) -> f32[B, D] {
  let h = relu(einsum("bd,df->bf", x, W1));
  let y = einsum("bf,fd->bd", h, W2);
  return x + y * sigmoid(y);
}
fn main(x0: f32[B@X, D], W1: f32[D, F@Y], W2: f32[F@Y, D]) -> f32[B@X, D] {
'''

# The body of a layer, of x and its weights; `attention` is a function of q, k and v.
LAYER = '''  let n = rms_norm(x);
  let q = einsum("btd,dhk->bthk", n, Wq);
  let k = einsum("btd,dhk->bthk", n, Wk);
  let v = einsum("btd,dhk->bthk", n, Wv);
  let r = x + einsum("bthk,hkd->btd", attention(q, k, v), Wo);
  let h = gelu(einsum("btd,df->btf", rms_norm(r), Wi));
  return r + einsum("btf,fd->btd", h, Wu);
}
'''

TRANSFORMER = '''mesh [data=2, model=4];
dim B=8, T=128, D=512, H=8, K=64, F=2048;
fn attention(q: f32[B,T,H,K], k: f32[B,T,H,K], v: f32[B,T,H,K])
    -> f32[B,T,H,K] {
  let s = einsum("bqhk,bshk->bhqs", q, k) / 8.0;
  let i = iota(i32[T,T], dim=0);
  let j = iota(i32[T,T], dim=1);
  let p = softmax(where(j <= i, s, -1e9));
  return einsum("bhqs,bshk->bqhk", p, v);
}
fn block(x: f32[B@data,T,D], Wq: f32[D,H@model,K], Wk: f32[D,H@model,K],
    Wv: f32[D,H@model,K], Wo: f32[H@model,K,D], Wi: f32[D,F@model],
    Wu: f32[F@model,D]) -> f32[B@data,T,D] {
''' + LAYER + '''fn main(x0: f32[B@data,T,D]'''

WEIGHTS = ''',
    Wq{0}: f32[D,H@model,K], Wk{0}: f32[D,H@model,K], Wv{0}: f32[D,H@model,K],
    Wo{0}: f32[H@model,K,D], Wi{0}: f32[D,F@model], Wu{0}: f32[F@model,D]'''


# Types of a layer's weights, and how `block` is called of them.
TYPES = {'Wq': 'D,H@model,K', 'Wk': 'D,H@model,K', 'Wv': 'D,H@model,K', 'Wo': 'H@model,K,D',
         'Wi': 'D,F@model', 'Wu': 'F@model,D'}
ADAMW = 'step, 0.001, beta1=0.9, beta2=0.99, eps=1e-8, decay=0.1'


def feed_forward(nops, x, y):
    layers = [f'  let x{i + 1} = ffn(x{i}, W1, W2);\n'
              for i in range(nops // 10)]
    return (f'mesh [X={x}, Y={y}];\n' + FEED_FORWARD + ''.join(layers) +
            f'  return x{len(layers)};\n}}\n')


def transformer(layers):
    weights = ''.join(WEIGHTS.format(i) for i in range(layers))
    calls = [f'  let x{i + 1} = block(x{i}, Wq{i}, Wk{i}, Wv{i}, Wo{i}, '
             f'Wi{i}, Wu{i});\n' for i in range(layers)]
    return (TRANSFORMER + weights + ') -> (y: f32[B@data,T,D]) {\n' +
            ''.join(calls) + f'  return x{layers};\n}}\n')


def declared(types):
    return ', '.join(f'{name}: f32[{dims}]' for name, dims in types.items())


def training_step(types, layers):
    """AdamW, of the weights with these types; `layers` are statements that change h."""
    moments = {f'{name}_{m}': dims for name, dims in types.items() for m in 'mv'}
    names, state = ', '.join(types), declared(types | moments)
    gradients = ', '.join(f'd_{name}' for name in types)
    updates = ''.join(f'  let (n_{n}, m_{n}, v_{n}) = adamw({n}, d_{n}, {n}_m, {n}_v, {ADAMW});\n'
                      for n in types)
    new = ', '.join([f'n_{n}' for n in types] + [f'{m}_{n}' for n in types for m in 'mv'])
    rows = 'x: f32[B@data,T,D], t: f32[B@data,T,D]'
    return ('import "optim.shd";\n' + TRANSFORMER[:TRANSFORMER.index('fn main')] +
            f'fn loss({rows}, {declared(types)}) -> f32 {{\n  var h = x;\n{layers}'
            '  return mean(square(h - t));\n}\n'
            f'fn main({rows}, step: f32, {state}) -> (loss: f32, step: f32, {state}) {{\n'
            f'  let (l, {gradients}) = value_and_grad(loss, wrt=({names}))(x, t, {names});\n'
            f'{updates}  return l, step + 1.0, {new};\n}}\n')


def training_unrolled(layers):
    types = {f'{name}{i}': dims for i in range(layers) for name, dims in TYPES.items()}
    calls = ['  h = block(h, ' + ', '.join(f'{name}{i}' for name in TYPES) + ');\n'
             for i in range(layers)]
    return training_step(types, ''.join(calls))


def training_loop(layers):
    types = {name: f'{layers},{dims}' for name, dims in TYPES.items()}
    each, stacks = ', '.join(TYPES).lower(), ', '.join(TYPES)
    return training_step(types, f'  for ({each}) in ({stacks}) {{ h = block(h, {each}); }}\n')


def loops(n):
    """One after the other, which all read one tensor."""
    each = ''.join(f'  for w in ws {{ y = relu(matmul(y, w)) * {i + 1}.0; }}\n' for i in range(n))
    return ('mesh [X=4, Y=2];\nfn main(x: bf16[64@Y, 64], ws: bf16[4, 64@X, 64])'
            f' -> bf16[64@Y, 64] {{\n  var y = x;\n{each}  return y;\n}}\n')


def reshapes(n):
    """One of the other, of a product, which is asked for where its other dim is split."""
    each = ''.join(f'  let y{i + 1} = reshape(y{i}, {"[8, 8]" if i % 2 else "[2, 4, 8]"});\n'
                   for i in range(n))
    return ('mesh [X=2, Y=2];\nfn main(a: f32[8@X, 8], b: f32[8, 8]) -> f32[8, 8@Y] {\n'
            f'  let y0 = matmul(a, b);\n{each}  return y{n};\n}}\n')


SHIM = '''#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t);
int clock_gettime(clockid_t clock, struct timespec *t)
{
  return (int)syscall(SYS_clock_gettime,
    clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, t);
}
'''


def environment(folder, cpu):
    """That of a run: under --cpu its clock is the processor's."""
    if not cpu:
        return dict(os.environ)
    source, library = folder + '/shim.c', folder + '/shim.so'
    with open(source, 'w') as out:
        out.write(SHIM)
    subprocess.run(['cc', '-D_GNU_SOURCE', '-O2', '-shared', '-fPIC', source,
                    '-o', library], check=True)
    return dict(os.environ, LD_PRELOAD=library)


def milliseconds(shdc, path, env):
    """By pass, with the verifier's shares added up."""
    run = subprocess.run([*shdc, '--time-passes', '--emit=stats=/dev/null',
                          path], env=env, capture_output=True, text=True,
                         check=True)
    passes = collections.Counter()
    for line in run.stderr.splitlines():
        passes[line.split()[2]] += float(line.split()[0])
    return passes


def least(shdc, text, runs, folder, env):
    path = folder + '/program.shd'
    with open(path, 'w') as out:
        out.write(text)
    each = [milliseconds(shdc, path, env) for _ in range(runs)]
    return {name: min(run[name] for run in each) for name in each[0]}


def show(title, passes, scale):
    print(f'{title:32}' + ''.join(f'  {name} {ms * scale:.2f}'
                                  for name, ms in passes.items()) +
          f'  sum {sum(passes.values()) * scale:.2f}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('shdc')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--cpu', action='store_true')
    parser.add_argument('--overlap', default='none')
    args = parser.parse_args()
    shdc = [args.shdc, '--overlap=' + args.overlap]
    with tempfile.TemporaryDirectory() as folder:
        env = environment(folder, args.cpu)
        for nops in (1000, 10000, 100000):
            runs = max(args.runs, 20000 // nops)
            for x, y in ((2, 4), (256, 256)):
                show(f'{nops} ops, {x * y} devices',
                     least(shdc, feed_forward(nops, x, y), runs, folder,
                           env), 1000 / nops)
        show('96 layers, 8 devices, ms',
             least(shdc, transformer(96), args.runs, folder, env), 1)
        for layers in (24, 48, 96, 192):
            show(f'training {layers} layers, us each',
                 least(shdc, training_unrolled(layers), args.runs, folder, env),
                 1000 / layers)
        for layers in (24, 96, 192):
            show(f'training, a loop of {layers}, ms',
                 least(shdc, training_loop(layers), args.runs, folder, env), 1)
        for n in (250, 1000, 4000):
            show(f'{n} loops, us each', least(shdc, loops(n), args.runs, folder, env), 1000 / n)
        for n in (400, 800):
            show(f'{n} reshapes, us each',
                 least(shdc, reshapes(n), args.runs, folder, env), 1000 / n)


if __name__ == '__main__':
    main()
