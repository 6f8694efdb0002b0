#include "os/heap.h"

#include <link.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>

namespace gpuop::os {
namespace {

/// Lets go of what nobody can have written to in one loaded file. What the loader wrote (relocations) is in segments
/// that are writable, be it until it had done so.
int LetGo(dl_phdr_info* info, std::size_t, void*) {
  const std::uintptr_t page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const bool is_kernels = info->dlpi_addr != 0 && info->dlpi_addr == ::getauxval(AT_SYSINFO_EHDR);
  for (const auto& segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (is_kernels || segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (info->dlpi_addr + segment.p_vaddr) / page * page;
    const std::uintptr_t end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void KeepHeapSmall() {
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 32 << 10);
  ::mallopt(M_TOP_PAD, 16 << 10);
}

void TrimHeap() { ::malloc_trim(0); }

void SettleDown() {
  TrimHeap();
  ::dl_iterate_phdr(LetGo, nullptr);
}

}  // namespace gpuop::os
