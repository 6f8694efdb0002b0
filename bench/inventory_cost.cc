// What reading a machine's GPUs costs: usage: inventory_cost [libnvidia-ml.so.1 [refreshes]]
// Without a library (or an empty name) an eight-GPU machine in this process answers, half of it in MIG mode. Ends with
// status 1 when a promise of docs/benchmarks.md is broken: 5 ms for a pass, 2 MB for the inventory and its reader, no
// growth.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <new>
#include <vector>

#include "gpu/inventory_reader.h"
#include "gpu/nvml_fake.h"
#include "os/real_fs.h"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace gpuop::gpu {
namespace {

constexpr double kPassLimitMs = 5;
constexpr long kMemoryLimitKib = 2048, kGrowthLimitKib = 256;

long ResidentKib() {
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

void MakeDgx(FakeNvml& fake) {
  for (unsigned i = 0; i < 8; ++i) {
    FakeGpu& gpu = fake.gpus.emplace_back();
    gpu.uuid = fmt::format("GPU-12345678-1234-1234-1234-12345678000{}", i);
    gpu.pci = fmt::format("00000000:{:02X}:00.0", 7 + i);
    gpu.minor = i;
    gpu.mig = FindMigModel("A100-40GB");
    gpu.links.assign(12, "switch");
    if (i < 4) continue;
    gpu.mig_enabled = gpu.mig_pending = true;
    for (int n = 0; n < 7; ++n) gpu.AddInstance("1g.5gb");
  }
}

int Measure(const Nvml& nvml, std::size_t refreshes) {
  const auto host = os::RealFs::Open("/");
  const long before = ResidentKib();
  InventoryReader reader(nvml, host ? host->get() : nullptr);
  const auto begin = std::chrono::steady_clock::now();
  auto first = reader.Read();
  const std::chrono::duration<double, std::milli> first_took = std::chrono::steady_clock::now() - begin;
  if (!first) {
    fmt::print(stderr, "inventory_cost: {}\n", first.error().text);
    return 2;
  }
  const long memory = ResidentKib() - before;
  std::vector<double> passes;
  std::size_t allocated = 0;
  long settled = 0;
  for (std::size_t i = 0; i < refreshes; ++i) {
    const std::size_t count = allocations;
    const auto start = std::chrono::steady_clock::now();
    const auto pass = reader.Read();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!pass || *pass != *first) {
      fmt::print(stderr, "inventory_cost: pass {} differs\n", i);
      return 2;
    }
    if (passes.size() < 1000) passes.push_back(took.count());
    allocated = allocations - count;
    if (i == 1000) settled = ResidentKib();
  }
  const long growth = refreshes > 1000 ? ResidentKib() - settled : 0;
  std::ranges::sort(passes);
  const double median = passes[passes.size() / 2];
  fmt::print(
      "{} GPUs: the first pass takes {:.3f} ms, a further one {:.3f} ms (median) and {} allocations; memory {} "
      "KiB; growth over {} passes {} KiB\n",
      first->devices.size(), first_took.count(), median, allocated, memory, refreshes, growth);
  return median <= kPassLimitMs && memory <= kMemoryLimitKib && growth <= kGrowthLimitKib ? 0 : 1;
}

int Run(int argc, char** argv) {
  const std::size_t refreshes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 100000;
  FakeNvml fake;
  MakeDgx(fake);
  auto nvml = argc > 1 && *argv[1] != '\0' ? Nvml::Open({argv[1]}) : Nvml::Start(fake.Table());
  if (!nvml) {
    fmt::print(stderr, "inventory_cost: {}\n", nvml.error().text);
    return 2;
  }
  return Measure(**nvml, refreshes);
}

}  // namespace
}  // namespace gpuop::gpu

int main(int argc, char** argv) { return gpuop::gpu::Run(argc, argv); }
