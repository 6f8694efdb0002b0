#pragma once

#include <cstddef>

namespace gpuop::gpu {

/// Which of a struct's function pointers `member` is, counted from 0. Table holds nothing else.
template <class Table, class Pointer>
std::size_t MemberIndex(Pointer Table::* member) {
  const Table none;
  const auto* const begin = reinterpret_cast<const std::byte*>(&none);
  const auto* const found = reinterpret_cast<const std::byte*>(&(none.*member));
  return static_cast<std::size_t>(found - begin) / sizeof(void*);
}

}  // namespace gpuop::gpu
