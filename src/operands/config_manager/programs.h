#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/fs.h"

namespace gpuop::operands::config_manager {

/// Programs that run beside this one.
class Programs {
 public:
  virtual ~Programs() = default;
  /// Sends `signal` to those that were started as `name`; how many got it. Children that a program has not made another
  /// program of yet (they look like it) get none.
  virtual Result<std::size_t> Signal(const std::string& name, int signal) = 0;
};

/// Whether a program whose argv[0] is `argv0` was started as `name`. A bare name and a path to it are the same.
bool StartedAs(std::string_view argv0, std::string_view name);

/// Those in /proc: the Pod's, when it shares its process namespace.
class RealPrograms final : public Programs {
 public:
  explicit RealPrograms(const os::Fs& fs) : fs_(fs) {}
  Result<std::size_t> Signal(const std::string& name, int signal) override;

 private:
  const os::Fs& fs_;
};

/// Remembers what was sent.
class FakePrograms final : public Programs {
 public:
  std::map<std::string, std::size_t> running;
  std::vector<std::pair<std::string, int>> sent;

  Result<std::size_t> Signal(const std::string& name, int signal) override {
    sent.emplace_back(name, signal);
    return running[name];
  }
};

}  // namespace gpuop::operands::config_manager
