#include "kube/json_walker.h"

#include <algorithm>

namespace gpuop::kube {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// Quotes and brackets: all that counts between the beginning and the end of a nested value. A table, because most of a
/// cluster's bytes are passed over here.
constexpr auto kMarks = [] {
  std::array<bool, 256> out{};
  for (const char c : {'"', '{', '}', '[', ']'}) out[static_cast<unsigned char>(c)] = true;
  return out;
}();

}  // namespace

char JsonWalker::Peek() {
  while (at_ < text_.size() && kBlank.find(text_[at_]) != std::string_view::npos) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

std::string_view JsonWalker::Value() {
  const char first = Peek();
  const std::size_t begin = at_;
  if (first == '"') return String() ? Since(begin) : std::string_view();
  if (first == '{' || first == '[') return Nested() ? Since(begin) : std::string_view();
  at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
  return Since(begin);
}

bool JsonWalker::String() {
  for (std::size_t end = text_.find('"', at_ + 1); end != std::string_view::npos; end = text_.find('"', end + 1)) {
    std::size_t slashes = 0;
    while (text_[end - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 != 0) continue;
    at_ = end + 1;
    return true;
  }
  at_ = text_.size();
  return false;
}

bool JsonWalker::Nested() {
  std::size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (!kMarks[static_cast<unsigned char>(c)]) {
      ++at_;
    } else if (c == '"') {
      if (!String()) return false;
    } else {
      ++at_;
      if (c == '{' || c == '[') {
        ++depth;
      } else if (--depth == 0) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace gpuop::kube
