#include "os/kernel_events.h"

#include <linux/netlink.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <thread>

#include "base/text.h"
#include "os/fd.h"
#include "os/system_error.h"

namespace gpuop::os {
namespace {

constexpr std::uint32_t kFromKernel = 1;  // the group that the kernel itself speaks to; 2 is udevd's

class NetlinkEvents final : public KernelEvents {
 public:
  explicit NetlinkEvents(std::function<void(const KernelEvent&)> callback) : callback_(std::move(callback)) {}
  ~NetlinkEvents() override {
    if (!thread_.joinable()) return;
    ::eventfd_write(end_.get(), 1);
    thread_.join();
  }

  Result<> Begin() {
    socket_ = Fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
    end_ = Fd(::eventfd(0, EFD_CLOEXEC));
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = kFromKernel;
    if (!socket_.valid() || !end_.valid() ||
        ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return Fail(Code::kUnsupported, FailErrno(errno, "listen to the kernel's events").error().text);
    thread_ = std::jthread([this] { Run(); });
    return {};
  }

 private:
  void Run() {
    std::array<pollfd, 2> wait{pollfd{socket_.get(), POLLIN, 0}, pollfd{end_.get(), POLLIN, 0}};
    for (;;) {
      if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return;
      if (wait[1].revents != 0) return;
      if (wait[0].revents != 0) Drain();
    }
  }

  void Drain() {
    std::array<char, 8192> buffer;
    for (;;) {
      sockaddr_nl from{};
      socklen_t size = sizeof from;
      const ssize_t got =
          ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 0 && errno == ENOBUFS) {
        callback_({});
        continue;
      }
      if (got < 0) return;
      if (from.nl_pid != 0) continue;  // another process, not the kernel
      if (const auto event = ParseKernelEvent({buffer.data(), static_cast<std::size_t>(got)})) callback_(*event);
    }
  }

  const std::function<void(const KernelEvent&)> callback_;
  Fd socket_, end_;
  std::jthread thread_;
};

}  // namespace

Result<KernelEvent> ParseKernelEvent(std::string_view message) {
  KernelEvent out;
  const auto fields = Split(message, '\0');
  const auto head = Cut(fields.front(), '@');
  if (!head) return Fail(Code::kInvalid, "no event of the kernel");
  out.action = head->first;
  out.path = head->second;
  for (const std::string_view field : fields)
    if (field.starts_with("SUBSYSTEM=")) out.subsystem = field.substr(10);
  if (out.subsystem.empty()) return Fail(Code::kInvalid, "an event without a subsystem");
  return out;
}

Result<std::unique_ptr<KernelEvents>> KernelEvents::Start(std::function<void(const KernelEvent&)> callback) {
  auto events = std::make_unique<NetlinkEvents>(std::move(callback));
  TRY(events->Begin());
  return std::unique_ptr<KernelEvents>(std::move(events));
}

}  // namespace gpuop::os
