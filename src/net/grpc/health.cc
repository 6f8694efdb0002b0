#include "net/grpc/health.h"

#include "net/grpc/caller.h"

namespace gpuop::net {
namespace {

constexpr std::size_t kMostBytes = 4096;

/// HealthCheckRequest{service = 1}; a service's name is shorter than 128 bytes.
std::string Request(const std::string& service) {
  if (service.empty()) return {};
  std::string out = {'\x0a', static_cast<char>(service.size())};
  return out + service;
}

/// HealthCheckResponse{status = 1}.
int StatusIn(const std::string& bytes) { return bytes.size() >= 2 && bytes[0] == '\x08' ? bytes[1] & 0x7f : 0; }

}  // namespace

Result<int> GrpcHealth(os::Fd socket, const std::string& service, Duration limit) {
  if (service.size() > 127) return Fail(Code::kInvalid, "service: longer than 127 bytes");
  GrpcCaller caller(std::move(socket), "health", kMostBytes);
  int status = 0;
  TRY(caller.Call({.method = "/grpc.health.v1.Health/Check",
                   .request = Request(service),
                   .until = SystemClock().Now() + limit,
                   .stop = {}},
                  [&](const std::string& message) {
                    status = StatusIn(message);
                    return true;
                  }));
  return status;
}

}  // namespace gpuop::net
