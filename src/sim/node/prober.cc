#include "sim/node/prober.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>

#include "base/text.h"
#include "net/grpc/health.h"
#include "os/system_error.h"

namespace gpuop::sim::node {
namespace {

using std::chrono::steady_clock;

int Left(steady_clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

std::string Words(int error) {
  const std::string text = os::FailErrno(error, "").error().text;
  return text.substr(std::min<std::size_t>(2, text.size()));
}

/// Connects; the empty text, or what Go's dialer says.
std::string Connect(const os::Fd& socket, const std::string& address, std::uint16_t port,
                    steady_clock::time_point until) {
  const std::string dial = "dial tcp " + address + ":" + std::to_string(port) + ": ";
  ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return {};
  if (errno != EINPROGRESS) return dial + "connect: " + Words(errno);
  pollfd ready{socket.get(), POLLOUT, 0};
  if (::poll(&ready, 1, Left(until)) <= 0) return dial + "i/o timeout";
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? std::string() : dial + "connect: " + Words(error);
}

/// Reads up to the end of the header; "" when there was no answer in time.
std::string ReadHead(const os::Fd& socket, steady_clock::time_point until) {
  std::string head;
  while (head.find("\r\n") == std::string::npos && head.size() < 10'240) {
    pollfd ready{socket.get(), POLLIN, 0};
    if (::poll(&ready, 1, Left(until)) <= 0) return {};
    char buffer[2048];
    const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (n <= 0) break;
    head.append(buffer, static_cast<std::size_t>(n));
  }
  return head;
}

}  // namespace

ProbeCount::ProbeCount(const Probe& probe, ProbeKind kind)
    : success_threshold_(kind == ProbeKind::kReadiness ? probe.success : 1), failure_threshold_(probe.failure) {}

std::optional<bool> ProbeCount::Add(bool success) {
  row_ = success == last_ ? row_ + 1 : 1;
  last_ = success;
  if (row_ == (success ? success_threshold_ : failure_threshold_)) return success;
  return std::nullopt;
}

Result<std::uint16_t> PortOf(const ContainerWish& container, const kube::IntOrString& port) {
  if (port.text.empty()) {
    if (port.number < 1 || port.number > 65535)
      return Fail(Code::kInvalid, "invalid port number: " + std::to_string(port.number));
    return static_cast<std::uint16_t>(port.number);
  }
  for (const kube::ContainerPort& p : container.ports)
    if (p.name == port.text) return static_cast<std::uint16_t>(p.container_port);
  return Fail(Code::kNotFound,
              "couldn't find port: " + std::string(port.text.view()) + " in container " + container.name);
}

ProbeAnswer ProbeTcp(os::Fd socket, const std::string& address, std::uint16_t port, Duration limit) {
  std::string why = Connect(socket, address, port, steady_clock::now() + limit);
  return {why.empty(), std::move(why)};
}

ProbeAnswer ProbeHttp(os::Fd socket, const HttpGetAction& action, const std::string& address, std::uint16_t port,
                      Duration limit) {
  const auto until = steady_clock::now() + limit;
  const std::string path = action.path.starts_with('/') ? action.path : "/" + action.path;
  const std::string get = "Get \"http://" + address + ":" + std::to_string(port) + path + "\": ";
  if (std::string why = Connect(socket, address, port, until); !why.empty()) return {false, get + why};
  std::string request =
      "GET " + path + " HTTP/1.1\r\nUser-Agent: kube-probe/1.36\r\nAccept: */*\r\nConnection: close\r\n";
  bool host = false;
  for (const HttpHeader& h : action.headers) {
    host = host || EqualsIgnoreCase(h.name, "host");
    request.append(h.name).append(": ").append(h.value).append("\r\n");
  }
  if (!host) request += "Host: " + address + ":" + std::to_string(port) + "\r\n";
  request += "\r\n";
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0)
    return {false, get + "write: " + Words(errno)};
  const std::string head = ReadHead(socket, until);
  const auto words = Split(std::string_view(head).substr(0, head.find("\r\n")), ' ');
  if (head.empty()) {
    const bool late = Left(until) == 0;
    return {false, get + (late ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)" : "EOF")};
  }
  const auto status = words.size() > 1 ? ParseInt(words[1]) : std::nullopt;
  if (!status) return {false, get + "malformed HTTP response"};
  if (*status >= 200 && *status < 400) return {true, {}};
  return {false, "HTTP probe failed with statuscode: " + std::to_string(*status)};
}

ProbeAnswer ProbeGrpc(os::Fd socket, const GrpcAction& action, const std::string& address, Duration limit) {
  const auto until = steady_clock::now() + limit;
  const std::string to = address + ":" + std::to_string(action.port);
  std::string why = Connect(socket, address, static_cast<std::uint16_t>(action.port), until);
  if (!why.empty()) return {false, "error: failed to connect service at " + Quote(to) + ": " + why};
  const auto status = net::GrpcHealth(std::move(socket), action.service, std::chrono::milliseconds(Left(until)));
  if (status && *status == 1) return {true, {}};
  constexpr std::string_view kNames[] = {"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"};
  if (status)
    return {false, "service unhealthy (responded with " + Quote(kNames[static_cast<std::size_t>(*status) % 4]) + ")"};
  if (status.error().code == Code::kUnsupported)
    return {false, "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " +
                       status.error().text};
  if (status.error().code == Code::kTimeout)
    return {false, "timeout: health rpc did not complete within " +
                       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit).count()) + "s"};
  return {false, "error: health rpc probe failed: " + status.error().text};
}

}  // namespace gpuop::sim::node
