"""Five kernels as numba users write them, each held to numpy."""
import math
import warnings

import numpy as np
from numba import cuda, float32, int32

warnings.filterwarnings("ignore")
rng = np.random.default_rng(1)


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def product(a, b, c):
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 8), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // 8):
        tile_a[tx, ty] = a[x, ty + k * 8]
        tile_b[tx, ty] = b[tx + k * 8, y]
        cuda.syncthreads()
        for j in range(8):
            total += tile_a[tx, j] * tile_b[j, ty]
        cuda.syncthreads()
    c[x, y] = total


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


@cuda.jit
def warp_sum(values, out):
    i = cuda.grid(1)
    total = values[i]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit
def mandelbrot(out, most):
    x, y = cuda.grid(2)
    if x < out.shape[0] and y < out.shape[1]:
        c = complex(-2 + 3 * x / out.shape[0], -1 + 2 * y / out.shape[1])
        z = 0j
        n = int32(0)
        while n < most and z.real * z.real + z.imag * z.imag <= 4:
            z = z * z + c
            n += 1
        out[x, y] = n + math.sqrt(float(n))


def reference_mandelbrot(shape, most):
    out = np.zeros(shape)
    for x in range(shape[0]):
        for y in range(shape[1]):
            c, z, n = complex(-2 + 3 * x / shape[0], -1 + 2 * y / shape[1]), 0j, 0
            while n < most and z.real * z.real + z.imag * z.imag <= 4:
                z, n = z * z + c, n + 1
            out[x, y] = n + math.sqrt(n)
    return out


a = np.arange(1000, dtype=np.float32)
c = np.zeros_like(a)
add[8, 128](a, 2 * a, c)
assert (c == 3 * a).all()

m, n = rng.integers(-4, 5, (32, 24)).astype(np.float32), rng.integers(-4, 5, (24, 16)).astype(np.float32)
p = np.zeros((32, 16), dtype=np.float32)
product[(4, 2), (8, 8)](m, n, p)
assert (p == m @ n).all()

v = rng.integers(0, 50, 5000)
bins = np.zeros(50, dtype=np.int64)
histogram[40, 128](v, bins)
assert (bins == np.bincount(v, minlength=50)).all()

w = np.arange(256, dtype=np.int32)
s = np.zeros(1, dtype=np.int32)
warp_sum[2, 128](w, s)
assert s[0] == w.sum()

image = np.zeros((24, 16))
mandelbrot[(3, 2), (8, 8)](image, 50)
assert np.allclose(image, reference_mandelbrot(image.shape, 50))
print("five right on", cuda.get_current_device().name)
