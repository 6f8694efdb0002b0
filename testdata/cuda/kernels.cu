// Kernels that the interpreter's tests run; kernels.ptx is what nvcc makes of them: tools/cuda/ptx.
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

struct Params {
  int add;
  float factor;
  double table[3];
};

__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int counter = 7;
__device__ int* counter_address = &counter;
__device__ const char* greeting = "hello";

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int* out, Params p) {
  const int i = threadIdx.x;
  out[i] = fibonacci(i) + p.add + static_cast<int>(p.table[i % 3]);
}

extern "C" __global__ void print(float value) { printf("%d: %5.2f %s %c%% %llx\n", threadIdx.x, value, greeting, 'x', 1ull << 40); }

extern "C" __global__ void reduce(const float* in, float* out, int n) {
  extern __shared__ float partial[];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  partial[t] = sum;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 32; k >>= 1) {
    if (t < k) partial[t] += partial[t + k];
    __syncthreads();
  }
  if (t < 32) {
    sum = partial[t] + partial[t + 32];
    for (int k = 16; k; k >>= 1) sum += __shfl_down_sync(~0u, sum, k);
    if (t == 0) atomicAdd(out, sum);
  }
}

extern "C" __global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[y][x] = a[row * n + k + x];
    tile_b[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += tile_a[y][j] * tile_b[j][x];
    __syncthreads();
  }
  c[row * n + column] = sum * coefficients[1];
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void grid_barrier(int* x) {
  const cg::grid_group grid = cg::this_grid();
  atomicAdd(x, 1);
  grid.sync();
  if (grid.thread_rank() == 0) x[1] = x[0];
}

typedef int (*Function)(int);
__device__ int add_one(int a) { return a + 1; }
__device__ int twice(int a) { return a * 2; }
__device__ Function functions[2] = {add_one, twice};
extern "C" __global__ void indirect(int* out, int k) { out[threadIdx.x] = functions[(threadIdx.x + k) & 1](threadIdx.x); }

extern "C" __global__ void branches(int* out) {
  int x = out[threadIdx.x];
  switch (x) {
    case 0: x = 5; break;
    case 1: x = 99; break;
    case 2: x *= x + 7; break;
    case 3: x = out[x]; break;
    case 4: x ^= 77; break;
    case 5: x = x / 3; break;
    case 6: x = x % 7; break;
    default: x = -1;
  }
  out[threadIdx.x] = x;
}

extern "C" __global__ void mathematics(double* d, float* f) {
  const int i = threadIdx.x;
  d[i] = sin(d[i]) / sqrt(d[i + 1]) + exp(d[i]);
  f[i] = __sinf(f[i]) + sinf(f[i]) + f[i] / f[i + 1] + powf(f[i], f[i + 2]) + rsqrtf(f[i]);
}

// Each thread of a warp takes the same lock: the ones that wait must not starve the one that holds it.
extern "C" __global__ void spin_lock(int* lock, int* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *value = *value + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void warp_votes(unsigned* out) {
  const unsigned t = threadIdx.x;
  unsigned result = 0;
  if (t % 2 == 0) {
    const unsigned active = __activemask();
    result = __ballot_sync(0x55555555, t < 8) ^ __match_any_sync(0x55555555, t / 4);
    if (__popc(active) != 16) result = 0;
  } else {
    result = __reduce_add_sync(0xaaaaaaaa, t);
  }
  __syncwarp();
  out[t] = result + __shfl_xor_sync(~0u, t, 1) * 1000000;
}

extern "C" __global__ void barrier_votes(int* out) {
  const int t = threadIdx.x;
  const int count = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 1000), any = __syncthreads_or(t == 77);
  out[t] = count * 100 + all * 10 + any;
}

extern "C" __global__ void device_heap(int** out) {
  int* p = static_cast<int*>(malloc(64));
  if (p) {
    p[3] = threadIdx.x;
    out[threadIdx.x] = p;
  }
}
