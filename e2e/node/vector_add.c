// A CUDA program as an image brings it: adds two vectors by the kernel in /kernels.ptx and compares every element.
// Prints "devices N" and for each device "GPU-… ok"; exits 1 with the reason where it cannot.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 10000, kBlock = 256 };
typedef unsigned long long Pointer;

static void* library;

static void* Find(const char* name) {
  void* at = dlsym(library, name);
  if (at == NULL) {
    fprintf(stderr, "libcuda has no %s\n", name);
    exit(1);
  }
  return at;
}

static void Check(int result, const char* call) {
  if (result == 0) return;
  fprintf(stderr, "%s: CUDA error %d\n", call, result);
  exit(1);
}

static char* ReadKernels(void) {
  FILE* file = fopen("/kernels.ptx", "r");
  if (file == NULL) exit(1);
  char* text = calloc(1, 1 << 20);
  if (fread(text, 1, (1 << 20) - 1, file) == 0) exit(1);
  fclose(file);
  return text;
}

static void AddOn(int ordinal) {
  int device;
  unsigned char uuid[16];
  void *context, *module, *kernel;
  Pointer a, b, c;
  Check(((int (*)(int*, int))Find("cuDeviceGet"))(&device, ordinal), "cuDeviceGet");
  Check(((int (*)(void*, int))Find("cuDeviceGetUuid_v2"))(uuid, device), "cuDeviceGetUuid");
  Check(((int (*)(void**, int))Find("cuDevicePrimaryCtxRetain"))(&context, device), "cuDevicePrimaryCtxRetain");
  Check(((int (*)(void*))Find("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
  Check(((int (*)(void**, const void*))Find("cuModuleLoadData"))(&module, ReadKernels()), "cuModuleLoadData");
  Check(((int (*)(void**, void*, const char*))Find("cuModuleGetFunction"))(&kernel, module, "gpuop_vector_add"),
        "cuModuleGetFunction");
  int (*allocate)(Pointer*, size_t) = (int (*)(Pointer*, size_t))Find("cuMemAlloc_v2");
  int (*up)(Pointer, const void*, size_t) = (int (*)(Pointer, const void*, size_t))Find("cuMemcpyHtoD_v2");
  int (*down)(void*, Pointer, size_t) = (int (*)(void*, Pointer, size_t))Find("cuMemcpyDtoH_v2");
  float *x = malloc(kCount * sizeof *x), *y = malloc(kCount * sizeof *y), *z = calloc(kCount, sizeof *z);
  for (int i = 0; i < kCount; ++i) x[i] = (float)i * 0.5f, y[i] = (float)(kCount - i) * 0.25f;
  Check(allocate(&a, kCount * sizeof *x), "cuMemAlloc");
  Check(allocate(&b, kCount * sizeof *x), "cuMemAlloc");
  Check(allocate(&c, kCount * sizeof *x), "cuMemAlloc");
  Check(up(a, x, kCount * sizeof *x), "cuMemcpyHtoD");
  Check(up(b, y, kCount * sizeof *x), "cuMemcpyHtoD");
  uint32_t n = kCount;
  void* arguments[] = {&a, &b, &c, &n};
  Check(((int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                  void**))Find("cuLaunchKernel"))(kernel, (kCount + kBlock - 1) / kBlock, 1, 1, kBlock, 1, 1, 0, NULL,
                                                  arguments, NULL),
        "cuLaunchKernel");
  Check(((int (*)(void))Find("cuCtxSynchronize"))(), "cuCtxSynchronize");
  Check(down(z, c, kCount * sizeof *x), "cuMemcpyDtoH");
  for (int i = 0; i < kCount; ++i)
    if (z[i] != x[i] + y[i]) {
      fprintf(stderr, "element %d is %g instead of %g\n", i, (double)z[i], (double)(x[i] + y[i]));
      exit(1);
    }
  printf("GPU-");
  for (int i = 0; i < 16; ++i) printf(i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
  printf(" ok\n");
}

int main(void) {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "no driver: %s\n", dlerror());
    return 1;
  }
  int count = 0;
  Check(((int (*)(unsigned))Find("cuInit"))(0), "cuInit");
  Check(((int (*)(int*))Find("cuDeviceGetCount"))(&count), "cuDeviceGetCount");
  printf("devices %d\n", count);
  for (int i = 0; i < count; ++i) AddOn(i);
  return 0;
}
