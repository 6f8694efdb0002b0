#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "net/detail/core.h"

namespace gpuop::net::detail {

std::string Address::Text() const {
  char host[INET6_ADDRSTRLEN] = "?";
  if (family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, bytes.data(), sizeof in);
    inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
    return fmt::format("{}:{}", host, ntohs(in.sin_port));
  }
  if (family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, bytes.data(), sizeof in);
    inet_ntop(AF_INET6, &in.sin6_addr, host, sizeof host);
    return fmt::format("[{}]:{}", host, ntohs(in.sin6_port));
  }
  if (family == AF_UNIX && size > offsetof(sockaddr_un, sun_path)) {
    const char* path = bytes.data() + offsetof(sockaddr_un, sun_path);
    return "unix:" + std::string(path, strnlen(path, size - offsetof(sockaddr_un, sun_path)));
  }
  return family == AF_UNIX ? "unix:" : "?";
}

Result<Address> NumericAddress(std::string_view host, std::uint16_t port) {
  const std::string text(host);
  Address a;
  sockaddr_in in4{};
  sockaddr_in6 in6{};
  if (inet_pton(AF_INET, text.c_str(), &in4.sin_addr) == 1) {
    in4.sin_family = AF_INET;
    in4.sin_port = htons(port);
    a.family = AF_INET;
    a.size = sizeof in4;
    std::memcpy(a.bytes.data(), &in4, sizeof in4);
    return a;
  }
  if (inet_pton(AF_INET6, text.c_str(), &in6.sin6_addr) == 1) {
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(port);
    a.family = AF_INET6;
    a.size = sizeof in6;
    std::memcpy(a.bytes.data(), &in6, sizeof in6);
    return a;
  }
  return Fail(Code::kInvalid, fmt::format("\"{}\" is not an IP address", host));
}

Result<Address> UnixAddress(const std::string& path) {
  sockaddr_un un{};
  if (path.empty() || path.size() >= sizeof un.sun_path)
    return Fail(Code::kInvalid, fmt::format("unix:{}: a socket path has 1 to {} bytes", path, sizeof un.sun_path - 1));
  un.sun_family = AF_UNIX;
  std::memcpy(un.sun_path, path.data(), path.size());
  Address a;
  a.family = AF_UNIX;
  a.size = static_cast<std::uint32_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  std::memcpy(a.bytes.data(), &un, a.size);
  return a;
}

std::string SystemText(int error) {
  std::string text = std::strerror(error);
  // "Connection refused" reads better in the middle of a sentence without the capital.
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace gpuop::net::detail
