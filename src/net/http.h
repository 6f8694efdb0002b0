#pragma once
// HTTP/1.1 messages (RFC 9110, RFC 9112) as the server and the client of this room speak of them.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuop::net {

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};

/// Header fields in order. Names compare without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  /// The first field of that name, or nullptr.
  const std::string* Find(std::string_view name) const;
  /// The first field of that name, or "".
  std::string_view Get(std::string_view name) const;
  /// Whether a field of that name lists `token`, as "Connection: keep-alive, Upgrade" lists "upgrade".
  bool Lists(std::string_view name, std::string_view token) const;
  void Add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  /// Adds a field in place of all of that name.
  void Set(std::string_view name, std::string value);
  void Remove(std::string_view name);

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  bool empty() const { return fields_.empty(); }
  std::size_t size() const { return fields_.size(); }

 private:
  std::vector<Header> fields_;
};

/// A part of a body, shared with whoever else keeps or sends the same bytes.
using Piece = std::shared_ptr<const std::string>;
/// A body in pieces: sent as they are, never copied into one buffer.
using Body = std::vector<Piece>;

Piece MakePiece(std::string bytes);
Body MakeBody(std::string bytes);
std::size_t SizeOf(const Body& body);

/// The usual phrase for a status ("Not Found"), or "Unknown".
std::string_view ReasonPhrase(int status);

/// Whether `text` can stand as a header value: no control characters but tab.
bool IsHeaderValue(std::string_view text);
/// Whether `text` is a token (RFC 9110 §5.6.2): a header name or a method.
bool IsToken(std::string_view text);

}  // namespace gpuop::net
