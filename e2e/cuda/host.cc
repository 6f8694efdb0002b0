// A program of the documented driver API alone: loads a fat binary, runs one kernel of testdata/cuda/kernels.cu and
// compares with the CPU. usage: host KERNELS.fatbin add|reduce|matrix|histogram|memory|illegal|sync
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                   \
  do {                                                \
    const CUresult rc = (call);                       \
    if (rc != CUDA_SUCCESS) return Report(#call, rc); \
  } while (false)

namespace {

/// Prints an error's name; the exit status is 3.
int Report(const char* call, CUresult rc) {
  const char* name = nullptr;
  cuGetErrorName(rc, &name);
  std::printf("%.24s… %s\n", call, name == nullptr ? "?" : name);
  return 3;
}

template <class T>
class Buffer {
 public:
  explicit Buffer(const std::vector<T>& values) : count_(values.size()) {
    if (cuMemAlloc(&address, count_ * sizeof(T)) != CUDA_SUCCESS ||
        cuMemcpyHtoD(address, values.data(), count_ * sizeof(T)) != CUDA_SUCCESS)
      std::exit(4);
  }
  ~Buffer() { cuMemFree(address); }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    if (cuMemcpyDtoH(values.data(), address, count_ * sizeof(T)) != CUDA_SUCCESS) std::exit(4);
    return values;
  }
  CUdeviceptr address = 0;

 private:
  std::size_t count_;
};

int Verdict(bool right) {
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

int Add(CUmodule module) {
  constexpr int n = 100000;
  std::vector<float> a(n), b(n), want(n);
  for (int i = 0; i < n; ++i) a[i] = i * 0.5f, b[i] = 3.0f * i, want[i] = a[i] + b[i];
  Buffer<float> pa(a), pb(b), pc(std::vector<float>(n, -1));
  CUfunction f;
  int count = n;
  void* args[] = {&pa.address, &pb.address, &pc.address, &count};
  CHECK(cuModuleGetFunction(&f, module, "vector_add"));
  CHECK(cuLaunchKernel(f, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
  CHECK(cuCtxSynchronize());
  return Verdict(pc.Read() == want);
}

int Reduce(CUmodule module) {
  int n = 1 << 16;
  Buffer<float> in(std::vector<float>(n, 1)), out(std::vector<float>{0});
  CUfunction f;
  void* args[] = {&in.address, &out.address, &n};
  CHECK(cuModuleGetFunction(&f, module, "reduce"));
  CHECK(cuLaunchKernel(f, 8, 1, 1, 256, 1, 1, 256 * sizeof(float), nullptr, args, nullptr));
  return Verdict(out.Read()[0] == static_cast<float>(n));
}

int Matrix(CUmodule module) {
  int n = 128;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i % 7, b[i] = i % 5 - 2;
  Buffer<float> pa(a), pb(b), pc(std::vector<float>(n * n));
  CUfunction f;
  CUstream stream;
  CUevent begin, end;
  void* args[] = {&pa.address, &pb.address, &pc.address, &n};
  CHECK(cuModuleGetFunction(&f, module, "matrix_product"));
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  CHECK(cuEventRecord(begin, stream));
  CHECK(cuLaunchKernel(f, n / 16, n / 16, 1, 16, 16, 1, 0, stream, args, nullptr));
  CHECK(cuEventRecord(end, stream));
  CHECK(cuEventSynchronize(end));
  float milliseconds = -1;
  CHECK(cuEventElapsedTime(&milliseconds, begin, end));
  const auto c = pc.Read();
  bool right = milliseconds > 0;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      right = right && c[row * n + column] == 2 * sum;
    }
  return Verdict(right);
}

int Histogram(CUmodule module) {
  int n = 50000;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> want(256);
  for (int i = 0; i < n; ++i) ++want[in[i] = static_cast<unsigned char>(i * i + i / 7)];
  Buffer<unsigned char> pin(in);
  Buffer<unsigned> out(std::vector<unsigned>(256));
  CUfunction f;
  void* args[] = {&pin.address, &out.address, &n};
  CHECK(cuModuleGetFunction(&f, module, "histogram"));
  CHECK(cuLaunchKernel(f, 6, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
  return Verdict(out.Read() == want);
}

int Memory() {
  std::size_t free = 0, total = 0;
  CHECK(cuMemGetInfo(&free, &total));
  int count = 0;
  char name[100];
  CHECK(cuDeviceGetCount(&count));
  CHECK(cuDeviceGetName(name, sizeof name, 0));
  CUdeviceptr p;
  const CUresult rc = cuMemAlloc(&p, total + 1);
  std::printf("%d %s %zu MiB %s\n", count, name, total >> 20, rc == CUDA_ERROR_OUT_OF_MEMORY ? "limited" : "unlimited");
  return 0;
}

int Illegal(CUmodule module) {
  int n = 10;
  CUdeviceptr nothing = 64;
  CUfunction f;
  void* args[] = {&nothing, &nothing, &nothing, &n};
  CHECK(cuModuleGetFunction(&f, module, "vector_add"));
  CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  CHECK(cuCtxSynchronize());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  CHECK(cuInit(0));
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  const std::string what = words[2];
  if (what == "memory") return Memory();
  CHECK(cuModuleLoad(&module, words[1]));
  if (what == "add") return Add(module);
  if (what == "reduce") return Reduce(module);
  if (what == "matrix") return Matrix(module);
  if (what == "histogram") return Histogram(module);
  if (what == "illegal") return Illegal(module);
  return 2;
}
