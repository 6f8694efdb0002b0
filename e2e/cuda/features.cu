// What ordinary CUDA programs use beyond a plain kernel, compiled with -cudart shared. Each check prints a line when it
// fails; the last line counts them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

static int failed = 0;
static void check(bool right, const char* what) {
  if (right) return;
  ++failed;
  std::printf("wrong: %s (%s)\n", what, cudaGetErrorName(cudaGetLastError()));
}
static void good(cudaError_t error, const char* what) { check(error == cudaSuccess, what); }
#define GOOD(call) good(call, #call)

template <class T>
static T* shared_array(size_t count) {
  T* made = nullptr;
  GOOD(cudaMallocManaged(&made, count * sizeof(T)));
  std::memset(static_cast<void*>(made), 0, count * sizeof(T));
  return made;
}

__global__ void votes(unsigned* out) {
  const unsigned lane = threadIdx.x & 31, all = 0xffffffffu;
  int sum = static_cast<int>(lane);
  for (int d = 16; d != 0; d /= 2) sum += __shfl_xor_sync(all, sum, d);
  int same = 0;
  unsigned* o = out + threadIdx.x * 8;
  o[0] = sum;
  o[1] = __shfl_up_sync(all, lane, 3);
  o[2] = static_cast<unsigned>(__shfl_sync(all, static_cast<long long>(lane) << 40, 9) >> 40);
  o[3] = __ballot_sync(all, lane % 3 == 0);
  o[4] = __match_any_sync(all, lane / 4);
  o[5] = __match_all_sync(all, 5, &same) + same;
  o[6] = __reduce_add_sync(all, lane) + __reduce_max_sync(all, lane);
  o[7] = __any_sync(all, lane == 31) * 2 + __all_sync(all, lane < 31);
}
__global__ void barriers(int* out) {
  const int t = threadIdx.x;
  out[t] = __syncthreads_count(t % 3 == 0) + 1000 * __syncthreads_and(t >= 0) + 2000 * __syncthreads_or(t == 300);
}
__global__ void narrow(const __half* a, __half* b, __half2* c, __nv_bfloat16* d) {
  const int i = threadIdx.x;
  b[i] = __hfma(a[i], a[i], __float2half(1.5f));
  c[i] = __hmul2(__halves2half2(a[i], b[i]), __float2half2_rn(2.0f));
  d[i] = __float2bfloat16(__half2float(a[i])) + __float2bfloat16(0.25f);
}
__global__ void functions(double* x) {
  const double v = x[threadIdx.x];
  x[threadIdx.x] = sin(v) * exp(-v) + pow(v, 1.5) + erf(v) + lgamma(v + 1) + cbrt(v) + atan2(v, 2.0) + log1p(v);
}
__global__ void whole_grid(int* data, int count) {
  const cg::grid_group grid = cg::this_grid();
  const int rank = static_cast<int>(grid.thread_rank());
  data[rank] = rank;
  grid.sync();
  const int other = data[(rank * 7 + 13) % count];
  grid.sync();
  data[rank] = other;
}
__global__ void tiles(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(tile, static_cast<int>(threadIdx.x), cg::plus<int>());
  if (threadIdx.x % 2 == 1) out[threadIdx.x] += 1000 * static_cast<int>(cg::coalesced_threads().size());
}
__global__ void atomics(unsigned long long* a, float* f, double* d, int* i, unsigned* u, unsigned short* h) {
  __shared__ int block;
  if (threadIdx.x == 0) block = 0;
  __syncthreads();
  atomicAdd(&block, 1), atomicAdd(a, 1ull), atomicAdd(f, 0.5f), atomicAdd(d, 0.25);
  atomicMax(i, static_cast<int>(threadIdx.x)), atomicMin(i + 1, -static_cast<int>(threadIdx.x));
  atomicInc(u, 9), atomicOr(u + 1, 1u << (threadIdx.x % 32));
  unsigned short old = *h, assumed;
  do assumed = old, old = atomicCAS(h, assumed, static_cast<unsigned short>(assumed + 1));
  while (old != assumed);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(i + 2, block);
}
__device__ __managed__ int counter = 5;
__global__ void count() { counter += 3; }
__global__ void reversed(int* out) {
  extern __shared__ int values[];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursive(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x); }
struct Base {
  __device__ virtual int value() { return 1; }
};
struct Derived : Base {
  __device__ int value() override { return 2; }
};
__global__ void virtuals(int* out) {
  Derived derived;
  Base* const both[2] = {&derived, &derived};
  out[threadIdx.x] = both[threadIdx.x % 2]->value();
}
__global__ void speak() { printf("block %d of %d says %s\n", blockIdx.x, gridDim.x, "hello"); }
__global__ void textured(cudaTextureObject_t texture, float* out) { *out = tex2D<float>(texture, 0.5f, 0.5f); }

static void kernels() {
  auto* words = shared_array<unsigned>(64 * 8);
  votes<<<1, 64>>>(words);
  GOOD(cudaDeviceSynchronize());
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned want[8] = {496, lane < 3 ? lane : lane - 3, 9, 0x49249249, 0xfu << (lane / 4 * 4), 0, 527, 2};
    check(std::memcmp(words + (32 + lane) * 8, want, sizeof want) == 0, "shuffles, votes, match, redux");
  }
  auto* ints = shared_array<int>(4096);
  barriers<<<1, 256>>>(ints);
  GOOD(cudaDeviceSynchronize());
  check(ints[3] == 1086, "barriers that count");
  auto *a = shared_array<__half>(256), *b = shared_array<__half>(256);
  auto* pairs = shared_array<__half2>(256);
  auto* brain = shared_array<__nv_bfloat16>(256);
  for (int i = 0; i < 256; ++i) a[i] = __float2half(i * 0.0625f);
  narrow<<<1, 256>>>(a, b, pairs, brain);
  GOOD(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) {
    const float x = i * 0.0625f;
    check(__half2float(b[i]) == __half2float(__float2half(x * x + 1.5f)) && __half2float(__low2half(pairs[i])) == 2 * x &&
              std::fabs(__bfloat162float(brain[i]) - x - 0.25f) < 0.07f,
          "half and bfloat16");
  }
  auto* reals = shared_array<double>(256);
  for (int i = 0; i < 256; ++i) reals[i] = i * 0.05;
  functions<<<1, 256>>>(reals);
  GOOD(cudaDeviceSynchronize());
  for (int i = 0; i < 256; ++i) {
    const double v = i * 0.05;
    const double want = std::sin(v) * std::exp(-v) + std::pow(v, 1.5) + std::erf(v) + std::lgamma(v + 1) + std::cbrt(v) +
                        std::atan2(v, 2.0) + std::log1p(v);
    check(std::fabs(reals[i] - want) <= 1e-13 * std::fabs(want) + 1e-300, "functions of doubles");
  }
  int many = 512;
  void* args[] = {&ints, &many};
  GOOD(cudaLaunchCooperativeKernel(whole_grid, dim3(4), dim3(128), args, 0, nullptr));
  GOOD(cudaDeviceSynchronize());
  for (int i = 0; i < many; ++i) check(ints[i] == (i * 7 + 13) % many, "a barrier of the grid");
  tiles<<<1, 32>>>(ints);
  GOOD(cudaDeviceSynchronize());
  check(ints[0] == 28 && ints[9] == 92 + 16000, "tiles and coalesced groups");
  auto* bytes = shared_array<char>(256);
  atomics<<<4, 64>>>(reinterpret_cast<unsigned long long*>(bytes), reinterpret_cast<float*>(bytes + 16),
                     reinterpret_cast<double*>(bytes + 8), reinterpret_cast<int*>(bytes + 32),
                     reinterpret_cast<unsigned*>(bytes + 64), reinterpret_cast<unsigned short*>(bytes + 96));
  GOOD(cudaDeviceSynchronize());
  const int* numbers = reinterpret_cast<int*>(bytes);
  check(numbers[0] == 256 && *reinterpret_cast<double*>(bytes + 8) == 64 && *reinterpret_cast<float*>(bytes + 16) == 128 &&
            numbers[8] == 63 && numbers[9] == -63 && numbers[10] == 256 && numbers[16] == 6 && numbers[17] == -1 &&
            *reinterpret_cast<unsigned short*>(bytes + 96) == 256,
        "atomics");
  count<<<1, 1>>>();
  GOOD(cudaDeviceSynchronize());
  check(counter == 8, "a managed variable");
  recursive<<<1, 16>>>(ints);
  GOOD(cudaDeviceSynchronize());
  check(ints[15] == 610, "recursion");
  virtuals<<<1, 2>>>(ints);
  GOOD(cudaDeviceSynchronize());
  check(ints[0] == 2 && ints[1] == 2, "virtual functions");
  GOOD(cudaFuncSetAttribute(reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304));
  reversed<<<1, 256, 98304>>>(ints);
  GOOD(cudaDeviceSynchronize());
  check(ints[0] == 255 && ints[255] == 0, "dynamic shared memory");
  reversed<<<1, 256, 300000>>>(ints);
  check(cudaGetLastError() == cudaErrorInvalidValue, "too much shared memory");
  textured<<<1, 1>>>(0, nullptr);
  check(cudaGetLastError() == cudaErrorInvalidPtx, "a kernel with a texture is refused, alone");
  speak<<<2, 1>>>();
  GOOD(cudaDeviceSynchronize());
}

static void streams() {
  cudaStream_t first, second;
  cudaEvent_t begin, end;
  int *device = nullptr, *host = nullptr;
  GOOD(cudaStreamCreate(&first));
  GOOD(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  GOOD(cudaEventCreate(&begin));
  GOOD(cudaEventCreate(&end));
  GOOD(cudaMalloc(&device, 4096));
  GOOD(cudaMallocHost(&host, 4096));
  GOOD(cudaEventRecord(begin, first));
  reversed<<<1, 256, 1024, first>>>(device);
  GOOD(cudaEventRecord(end, first));
  GOOD(cudaStreamWaitEvent(second, end));
  GOOD(cudaMemcpyAsync(host, device, 1024, cudaMemcpyDeviceToHost, second));
  GOOD(cudaStreamSynchronize(second));
  float milliseconds = -1;
  GOOD(cudaEventElapsedTime(&milliseconds, begin, end));
  check(host[0] == 255 && milliseconds >= 0, "streams and events");
  GOOD(cudaLaunchHostFunc(first, [](void* at) { *static_cast<int*>(at) = 99; }, host));
  GOOD(cudaStreamSynchronize(first));
  check(host[0] == 99, "a function of the host");
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusActive;
  GOOD(cudaStreamIsCapturing(first, &capturing));
  check(capturing == cudaStreamCaptureStatusNone, "no capture");
  check(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal) == cudaErrorNotSupported, "captures are refused");
  cudaGetLastError();
}

static void memory() {
  cudaMemPool_t pool;
  void* from_pool = nullptr;
  GOOD(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t keep = 1 << 20;
  GOOD(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  GOOD(cudaMallocFromPoolAsync(&from_pool, 1000, pool, nullptr));
  GOOD(cudaFreeAsync(from_pool, nullptr));
  cudaPitchedPtr volume;
  GOOD(cudaMalloc3D(&volume, make_cudaExtent(100, 10, 3)));
  GOOD(cudaMemset3D(volume, 7, make_cudaExtent(100, 10, 3)));
  std::vector<char> bytes(3000);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = volume;
  copy.dstPtr = make_cudaPitchedPtr(bytes.data(), 100, 100, 10);
  copy.extent = make_cudaExtent(100, 10, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  GOOD(cudaMemcpy3D(&copy));
  check(bytes == std::vector<char>(3000, 7), "copies of volumes");
  auto* managed = shared_array<int>(1024);
  GOOD(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  GOOD(cudaMemPrefetchAsync(managed, 4096, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, nullptr));
  void* much = nullptr;
  check(cudaMalloc(&much, size_t{1} << 45) == cudaErrorMemoryAllocation, "out of memory");
  cudaGetLastError();
  int *here = nullptr, *there = nullptr, got = 0;
  GOOD(cudaMalloc(&here, 1 << 22));
  GOOD(cudaMemset(here, 3, 1 << 22));
  GOOD(cudaSetDevice(1));
  GOOD(cudaMalloc(&there, 1 << 22));
  GOOD(cudaMemcpyPeer(there, 1, here, 0, 1 << 22));
  GOOD(cudaMemcpy(&got, there + (1 << 20) - 1, 4, cudaMemcpyDeviceToHost));
  check(got == 0x03030303, "a copy between devices comes after what was asked before");
  GOOD(cudaSetDevice(0));
}

int main() {
  kernels();
  streams();
  memory();
  std::printf("%d wrong\n", failed);
  return failed != 0;
}
