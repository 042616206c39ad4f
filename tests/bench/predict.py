#!/usr/bin/env python3
"""What a prediction costs: a transformer of 96 layers, unrolled and as a scan.

    tests/bench/predict.py SHDC [--sweep] [--count]

On 8, 4,096 and 65,536 chips, with and without a topology: milliseconds of
--emit=cost beyond the passes, and of all; --count: millions of instructions of
all, under callgrind.  --explain: what -Rreshard, explain and report take, all
processors together.  --sweep: a sweep of 1,000 combinations.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import time

from passes import LAYER

BLOCK = '''
dim L = 96, B = 65536, T = 1024, D = 8192, H = 64, K = 128, F = 32768;
fn attention(q: bf16[B, T, H, K], k, v) {
  let s = f32(einsum("bqhk,bshk->bhqs", q, k)) / sqrt(K);
  let before = iota(i32[T, T], dim=0) >= iota(i32[T, T], dim=1);
  let p = bf16(softmax(where(before, s, -1e9), dim=-1));
  return einsum("bhqs,bshk->bqhk", p, v);
}
fn block(x: bf16[B, T, D], Wq, Wk, Wv, Wo, Wi, Wu) {
''' + LAYER
BODY = BLOCK + '''fn main(x: bf16[B@data, T, D], Wq: bf16[L, D@data, H@model, K],
        Wk: bf16[L, D@data, H@model, K], Wv: bf16[L, D@data, H@model, K],
        Wo: bf16[L, H@model, K, D@data], Wi: bf16[L, D@data, F@model],
        Wu: bf16[L, F@model, D@data]) -> (y: bf16[B@data, T, D]) {
  var h: [B@data, T, D] = x;
'''
SCAN = '''  for (q, k, v, o, i, u) in (Wq, Wk, Wv, Wo, Wi, Wu) { h = block(h, q, k, v, o, i, u); }
  return h;
}
'''
UNROLLED = '''  for unroll i in 0..L { h = block(h, Wq[i], Wk[i], Wv[i], Wo[i], Wi[i], Wu[i]); }
  return h;
}
'''
SLICES = [('8 chips', 'data=2, model=4', '--on=v4:2x2x2'),
          ('4,096', 'data=256, model=16', '--on=v4:16x16x16'),
          ('65,536', 'data=4096, model=16', '--on=16*v4:16x16x16'),
          ('65,536, no topology', 'data=4096, model=16', '--on=v4')]
SWEEP = ['--sweep=data*model=4096', '--sweep=B=4096..65536*2',
         '--sweep=F=16384,24576,32768,40960', '--sweep=T=512,1024,2048,4096']


def run(command):
    """Its messages, and the seconds that it and its children computed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, (after.ru_utime - before.ru_utime +
                  after.ru_stime - before.ru_stime)


def instructions(command):
    done, _ = run(['valgrind', '--tool=callgrind',
                   '--callgrind-out-file=/dev/null'] + command)
    return int(done.stderr.rsplit('refs:', 1)[1].split()[0].replace(',', ''))


def prediction(shdc, path, on, count):
    command = [shdc, '--emit=cost=/dev/null', on, path]
    least, beyond = 1e9, 1e9
    for _ in range(3):
        done, seconds = run(command + ['--time-passes'])
        passes = {}
        for line in done.stderr.splitlines():
            if line.split()[1:2] == ['ms']:
                name = line.split()[2]
                passes[name] = passes.get(name, 0) + float(line.split()[0])
        after = passes.pop('plan') + passes.pop('timeline')
        least = min(least, seconds * 1e3)
        beyond = min(beyond, max(after, seconds * 1e3 - sum(passes.values())))
    text = f'beyond the passes {beyond:.0f} ms, all {least:.0f} ms'
    if count:
        text += f', {instructions(command) / 1e6:.0f} M instructions'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('shdc')
    for option in ('--count', '--explain', '--sweep'):
        parser.add_argument(option, action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = folder + '/transformer.shd'
        for name, loop in (('scan', SCAN), ('unrolled', UNROLLED)):
            for chips, mesh, on in SLICES:
                with open(path, 'w') as out:
                    out.write(f'mesh [{mesh}] on "{on[5:]}";' + BODY + loop)
                print(f'{name}, {chips}:',
                      prediction(args.shdc, path, on, args.count), flush=True)
            for kind in (['-Rreshard', '--emit=cost=/dev/null'],
                         ['--emit=explain=/dev/null'],
                         ['--emit=report=/dev/null']) if args.explain else []:
                _, seconds = run([args.shdc, *kind, path])
                print(f'{name}, {kind[0]}: {seconds:.2f} s of processors',
                      flush=True)
            if args.sweep:
                begun = time.time()
                done, seconds = run([args.shdc, '--emit=cost.csv', *SWEEP,
                                     '--on=v4:16x16x16', path])
                rows = done.stdout.splitlines()[1:]
                print(f'{name}, {len(rows)} combinations: '
                      f'{time.time() - begun:.0f} s, {seconds:.0f} s of '
                      f'{os.cpu_count()} processors', flush=True)


if __name__ == "__main__":
    main()
