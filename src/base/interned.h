#pragma once
// Text that many objects repeat, kept once.

#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace gpuop {

class Interned;
/// std::string, std::string_view, literals: what reads as text and is not interned yet.
template <class T>
concept TextLike = std::convertible_to<const T&, std::string_view> && !std::same_as<T, Interned>;

/// An immutable text of eight bytes: equal texts share one copy, which is freed with its last user. Comparing for
/// equality is comparing pointers; ordering is by text. Worth it where values repeat (label keys, reasons, zones).
/// Thread-safe: different objects may be used from different threads, even when they share a text.
class Interned {
 public:
  Interned() = default;
  /// Implicit, so that an Interned is assigned like a string.
  template <TextLike T>
  Interned(const T& text) : Interned(Intern(text)) {}
  Interned(const Interned& other) : rep_(other.rep_) {
    if (rep_ != nullptr) rep_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Interned(Interned&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Interned& operator=(Interned other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Interned() {
    if (rep_ != nullptr) Release(rep_);
  }

  std::string_view view() const { return rep_ == nullptr ? std::string_view() : rep_->text(); }
  operator std::string_view() const { return view(); }
  bool empty() const { return rep_ == nullptr; }

  friend bool operator==(const Interned& a, const Interned& b) { return a.rep_ == b.rep_; }
  template <TextLike T>
  friend bool operator==(const Interned& a, const T& b) {
    return a.view() == std::string_view(b);
  }
  friend std::strong_ordering operator<=>(const Interned& a, const Interned& b) { return a.view() <=> b.view(); }
  template <TextLike T>
  friend std::strong_ordering operator<=>(const Interned& a, const T& b) {
    return a.view() <=> std::string_view(b);
  }

  /// Texts alive in the process, for tests and a memory metric.
  static std::size_t Count();

 private:
  friend struct InternedPool;
  struct Rep {
    std::atomic<std::uint32_t> refs;
    std::uint32_t size;
    std::uint64_t hash;
    std::string_view text() const { return {reinterpret_cast<const char*>(this + 1), size}; }
  };

  explicit Interned(Rep* rep) : rep_(rep) {}
  /// Null for an empty text.
  static Rep* Intern(std::string_view text);
  static void Release(Rep* rep);

  Rep* rep_ = nullptr;
};

}  // namespace gpuop

template <>
struct std::hash<gpuop::Interned> {
  std::size_t operator()(const gpuop::Interned& s) const { return std::hash<std::string_view>()(s.view()); }
};
