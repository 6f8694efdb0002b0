// An ordinary CUDA program, compiled with -cudart shared.
#include <cstdio>
#include <vector>

__constant__ float scale[2];
__device__ int blocks_done;

__global__ void scaled_add(const float* a, const float* b, float* c, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) c[i] = scale[0] * a[i] + scale[1] * b[i];
  if (threadIdx.x == 0) atomicAdd(&blocks_done, 1);
}

int main() {
  constexpr int n = 10000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 2 * i;
  float *pa, *pb, *pc;
  if (cudaMalloc(&pa, n * 4) != cudaSuccess || cudaMalloc(&pb, n * 4) != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 3;
  }
  cudaMallocManaged(&pc, n * 4);
  cudaMemcpy(pa, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(pb, b.data(), n * 4, cudaMemcpyHostToDevice);
  const float factors[2] = {2, 0.5f};
  cudaMemcpyToSymbol(scale, factors, sizeof factors);
  scaled_add<<<(n + 127) / 128, 128>>>(pa, pb, pc, n);
  if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) return 3;
  int done = 0;
  cudaMemcpyFromSymbol(&done, blocks_done, sizeof done);
  bool right = done == (n + 127) / 128;
  for (int i = 0; i < n; ++i) right = right && pc[i] == 2 * a[i] + 0.5f * b[i];
  scaled_add<<<1, 2000>>>(pa, pb, pc, n);
  right = right && cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess;
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%s on %s, %d.%d\n", right ? "right" : "wrong", properties.name, properties.major, properties.minor);
  return right ? 0 : 1;
}
