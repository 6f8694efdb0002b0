#pragma once
// Kernels in PTX, run in a test's own memory.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>

#include "machine/cuda/exec/launch.h"
#include "machine/cuda/exec/program.h"
#include "machine/cuda/ptx/parser.h"

namespace gpuop::machine::exec {

/// A module, memory for it, and launches. Buffers are addresses that kernels take.
class TestModule {
 public:
  /// `body`: everything after the header, or a whole module.
  explicit TestModule(std::string body)
      : text_(body.find(".version") != std::string::npos
                  ? std::move(body)
                  : ".version 8.0\n.target sm_80\n.address_size 64\n" + std::move(body)) {
    auto module = ptx::Parse(text_);
    if (!module) {
      ADD_FAILURE() << module.error().text;
      return;
    }
    module_ = std::move(*module);
    std::uint64_t bytes = 0;
    data_ = LayOut(module_, bytes);
    base_ = Buffer(std::vector<std::byte>(bytes + 1));
    auto image = InitialBytes(module_, data_, base_, bytes);
    if (image && bytes > 0) std::memcpy(Host(base_), image->data(), bytes);
    if (!image) ADD_FAILURE() << image.error().text;
  }

  template <class T>
  std::uint64_t Buffer(const std::vector<T>& values) {
    auto& bytes = buffers_.emplace_back(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    const std::uint64_t address = next_;
    next_ += (bytes.size() + 0xffff) & ~std::uint64_t{0xff};
    ranges_.push_back({address, bytes.size(), bytes.data()});
    return address;
  }
  std::byte* Host(std::uint64_t address) {
    const MemoryMap memory(ranges_);
    const auto* range = memory.Find(address);
    return range == nullptr ? nullptr : range->host + (address - range->base);
  }
  template <class T>
  std::vector<T> Read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), Host(address), count * sizeof(T));
    return values;
  }
  std::uint64_t Address(std::string_view name) const {
    for (const auto& item : data_.items)
      if (item.name == name) return base_ + item.address;
    return 0;
  }

  Result<std::unique_ptr<Program>> TryDecode(std::string_view name) { return Decode(module_, name, data_, base_); }

  /// Runs kernel `name`; the arguments have the sizes of its parameters.
  template <class... Args>
  Fault Run(std::string_view name, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
            Args... args) {
    auto program = TryDecode(name);
    if (!program) {
      ADD_FAILURE() << program.error().text;
      return {Trap::kStopped, program.error().text};
    }
    std::vector<std::byte> params((*program)->param_bytes);
    std::size_t i = 0;
    const auto put = [&](const auto& arg) {
      const auto& param = (*program)->params.at(i++);
      std::memcpy(params.data() + param.offset, &arg, param.size);
    };
    (put(args), ...);
    Launch launch;
    if (cooperative) launch.workspace = Buffer(std::vector<std::byte>(64));
    const MemoryMap memory(ranges_);
    launch.program = program->get();
    launch.memory = &memory;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared = dynamic_shared;
    launch.params = params;
    launch.cooperative = cooperative;
    launch.print = [this](std::string_view text) { printed += text; };
    return exec::Run(launch, threads);
  }

  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  unsigned threads = 2;
  std::string printed;

 private:
  std::string text_;
  ptx::Module module_;
  ModuleData data_;
  std::uint64_t base_ = 0, next_ = 0x7f0000000000;
  std::deque<std::vector<std::byte>> buffers_;
  std::vector<MemoryMap::Range> ranges_;
};

}  // namespace gpuop::machine::exec
