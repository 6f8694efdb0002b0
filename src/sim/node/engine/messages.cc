#include "sim/node/engine/messages.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

#include "os/system_error.h"

namespace gpuop::sim::node {
namespace {

constexpr std::size_t kMostFds = 8;

}  // namespace

Result<> SendPacket(int socket, std::string_view text, const std::vector<int>& fds) {
  if (text.size() > kMaxPacket)
    return Fail(Code::kTooLarge, "a container's specification of " + std::to_string(text.size()) + " bytes");
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFds)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return Fail(Code::kUnavailable, "the machine is off");
    return os::FailErrno(errno, "send to the machine");
  }
  return {};
}

Result<std::optional<Packet>> ReceivePacket(int socket) {
  Packet packet;
  packet.text.resize(kMaxPacket);
  iovec part{packet.text.data(), packet.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFds)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<Packet>();
  if (got < 0 && errno == ECONNRESET) return std::optional(Packet());
  if (got < 0) return os::FailErrno(errno, "receive from the machine");
  packet.text.resize(static_cast<std::size_t>(got));
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    std::vector<int> fds((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(fds.data(), CMSG_DATA(h), fds.size() * sizeof(int));
    for (int fd : fds) packet.fds.emplace_back(fd);
  }
  return std::optional(std::move(packet));
}

}  // namespace gpuop::sim::node
