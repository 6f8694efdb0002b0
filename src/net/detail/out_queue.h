#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "net/detail/transport.h"
#include "net/http.h"

namespace gpuop::net::detail {

/// Bytes on their way out of one connection: own text (heads, chunk sizes) and shared pieces, sent as they lie.
class OutQueue {
 public:
  void Push(std::string text);
  void Push(Piece piece);
  bool empty() const { return items_.empty(); }
  /// Bytes not yet taken by the system.
  std::size_t size() const { return size_; }
  /// Writes until nothing is left (kSome), or the transport takes no more (kAgain) or breaks. `bytes`: what went.
  Moved WriteTo(Transport& transport);
  void Clear();

 private:
  struct Item {
    std::string text;
    Piece piece;
    std::string_view view() const { return piece ? std::string_view(*piece) : std::string_view(text); }
  };
  void Drop(std::size_t bytes);

  std::deque<Item> items_;
  std::size_t at_ = 0;  // bytes of the first item that are gone
  std::size_t size_ = 0;
};

/// The size line of a chunk (RFC 9112 §7.1).
std::string ChunkHead(std::size_t size);

}  // namespace gpuop::net::detail
