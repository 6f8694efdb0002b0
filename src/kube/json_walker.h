#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gpuop::kube {

/// Walks JSON text without building anything. It delimits values; it does not judge them.
class JsonWalker {
 public:
  explicit JsonWalker(std::string_view text) : text_(text) {}

  /// Takes `c` if it comes next, blanks aside.
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  /// The next character that is no blank; '\0' at the end.
  char Peek();
  /// The next value's text; empty when there is none or it does not end.
  std::string_view Value();
  /// How many bytes were walked.
  std::size_t at() const { return at_; }

 private:
  std::string_view Since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }
  bool String();
  bool Nested();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace gpuop::kube
