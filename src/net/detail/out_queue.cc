#include "net/detail/out_queue.h"

#include <fmt/core.h>

namespace gpuop::net::detail {

void OutQueue::Push(std::string text) {
  if (text.empty()) return;
  size_ += text.size();
  items_.push_back({std::move(text), nullptr});
}

void OutQueue::Push(Piece piece) {
  if (piece->empty()) return;
  size_ += piece->size();
  items_.push_back({{}, std::move(piece)});
}

Moved OutQueue::WriteTo(Transport& transport) {
  std::size_t total = 0;
  while (!items_.empty() || transport.Holds()) {
    std::array<std::string_view, 64> views;
    std::size_t n = 0;
    for (auto it = items_.begin(); it != items_.end() && n < views.size(); ++it) views[n++] = it->view();
    if (n > 0) views[0].remove_prefix(at_);
    const Moved m = transport.Write({views.data(), n});
    if (m.state != Moved::kSome) return {m.state, total + m.bytes};
    total += m.bytes;
    Drop(m.bytes);
  }
  return {Moved::kSome, total};
}

void OutQueue::Drop(std::size_t bytes) {
  size_ -= bytes;
  at_ += bytes;
  while (!items_.empty() && at_ >= items_.front().view().size()) {
    at_ -= items_.front().view().size();
    items_.pop_front();
  }
}

void OutQueue::Clear() {
  items_.clear();
  at_ = size_ = 0;
}

std::string ChunkHead(std::size_t size) { return fmt::format("{:x}\r\n", size); }

}  // namespace gpuop::net::detail
