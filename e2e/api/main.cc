// api_suite: plays the API suite against any API server.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "e2e/api/transcript.h"
#include "e2e/api/wire.h"

namespace gpuop::e2e {
namespace {

constexpr char kUsage[] =
    "usage: api_suite record|compare --kubeconfig FILE --golden FOLDER [--only SCENARIO]\n"
    "  record   writes what the server answers into FOLDER, one file a scenario\n"
    "  compare  plays the suite and prints every step in which the server differs from FOLDER; exit 1 if any does\n"
    "The server should be fresh: each scenario makes a namespace named after it.\n";

struct Options {
  bool record = false;
  std::string kubeconfig, golden, only;
};

std::optional<Options> Parse(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  Options options;
  const std::string_view verb = argv[1];
  if (verb != "record" && verb != "compare") return std::nullopt;
  options.record = verb == "record";
  const std::map<std::string_view, std::string*> names = {
      {"--kubeconfig", &options.kubeconfig}, {"--golden", &options.golden}, {"--only", &options.only}};
  for (int i = 2; i < argc; i += 2) {
    const auto it = names.find(argv[i]);
    if (it == names.end() || i + 1 == argc) return std::nullopt;
    *it->second = argv[i + 1];
  }
  if (options.kubeconfig.empty() || options.golden.empty()) return std::nullopt;
  return options;
}

/// Waits on the wire: looks again whenever a little time has passed, since a remote server tells nobody when it is
/// done.
bool PumpWire(const std::function<bool()>& done, Duration limit) {
  std::mutex mu;
  std::condition_variable never;
  const auto end = std::chrono::steady_clock::now() + limit;
  std::unique_lock lock(mu);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    never.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

int Run(const Options& options) {
  auto wire = Wire::FromKubeconfig(options.kubeconfig);
  if (!wire) return std::fprintf(stderr, "api_suite: %s\n", wire.error().text.c_str()), 2;
  const DoorFactory doors = [&](const std::string& user, const std::vector<std::string>& groups) {
    auto door = (*wire)->DoorFor(user, groups);
    if (!door) throw std::runtime_error(door.error().text);
    return *std::move(door);
  };
  std::size_t checks = 0;
  std::size_t differences = 0;
  for (const Scenario& scenario : AllScenarios()) {
    if (!options.only.empty() && options.only != scenario.name) continue;
    const Transcript transcript = Play(scenario, doors, PumpWire);
    checks += transcript.checks;
    if (options.record) {
      if (auto written = WriteGolden(options.golden, transcript); !written)
        return std::fprintf(stderr, "api_suite: %s\n", written.error().text.c_str()), 2;
      continue;
    }
    const auto golden = ReadGolden(options.golden, scenario.name);
    if (!golden) return std::fprintf(stderr, "api_suite: %s\n", golden.error().text.c_str()), 2;
    const std::string report = Differences(*golden, transcript.text, &differences);
    if (!report.empty()) std::printf("%s\n%s", scenario.name, report.c_str());
  }
  std::printf("%zu checks, %zu differences\n", checks, differences);
  return differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gpuop::e2e

int main(int argc, char** argv) {
  const auto options = gpuop::e2e::Parse(argc, argv);
  if (!options) return std::fputs(gpuop::e2e::kUsage, stderr), 2;
  return gpuop::e2e::Run(*options);
}
