#include "operands/nfd/program.h"

#include <cstdio>
#include <cstdlib>

#include "base/text.h"
#include "operands/status_server.h"
#include "os/real_fs.h"
#include "os/signals.h"

namespace gpuop::operands::nfd {

int RunProgram(const ProgramText& program, std::span<char* const> args, const ProgramBody& body) {
  const auto run = [&]() -> Result<> {
    ASSIGN(const auto flags, container::ParseFlags(FlagsOf(program.flags), {args.begin(), args.end()}, std::getenv));
    if (flags.On("help")) {
      std::printf("%s: %s\n\n%s", program.name, program.does, HelpOf(program.flags).c_str());
      return {};
    }
    ASSIGN(const auto signals, os::StopSignals::Catch());
    ASSIGN(const auto fs, os::RealFs::Open("/"));
    return body(flags, *fs, signals->token());
  };
  const Result<> done = run();
  if (done) return 0;
  std::fprintf(stderr, "%s: %s\n", program.name, done.error().text.c_str());
  return 1;
}

Result<std::unique_ptr<net::Server>> ServeHealth(net::IoThread& io, const MetricRegistry& metrics, int port) {
  if (port == 0) return std::unique_ptr<net::Server>();
  return ServeStatus(io, ":" + std::to_string(port), metrics, [] { return std::string(); });
}

Result<int> ReadPort(const std::string& text) {
  const auto port = ParseInt(text);
  if (!port || *port < 0 || *port > 65535) return Fail(Code::kInvalid, "-port: " + Quote(text) + " is no port");
  return static_cast<int>(*port);
}

}  // namespace gpuop::operands::nfd
