#pragma once
// A machine as the kubelet's side sees it: a process that runs containers (machine_process.h).

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "os/fd.h"
#include "sim/node/engine/messages.h"

namespace gpuop::sim::node {

/// What the machine answered: descriptors, and the process's number as the machine sees it.
struct EngineAnswer {
  std::vector<os::Fd> fds;
  std::int64_t pid = 0;
};

/// Owns one machine's process. Everything is called and calls back on one executor, which runs one task at a time.
/// Destroying it switches the machine off: when the destructor has returned its processes, mounts and namespaces are
/// gone.
class Engine {
 public:
  struct Options {
    /// How this program is started to become a machine: {"/proc/self/exe", "sim-machine"}.
    std::vector<std::string> program;
    std::string folder;   ///< the machine's root, absolute
    std::string name;     ///< its host name
    std::string address;  ///< its IPv4 address
  };
  struct Events {
    /// The machine is up, or could not start (and never will). The descriptor listens where programs on the machine's
    /// own network look for the API server.
    std::function<void(Result<os::Fd>)> ready;
    /// A process has ended; `status` as wait(2) has it, `output` what was to be kept of it.
    std::function<void(const std::string& id, int status, const std::string& output)> exited;
    /// The machine's process has ended by itself; what was asked and not answered never will be.
    std::function<void()> gone;
  };
  using Done = std::function<void(Result<EngineAnswer>)>;

  static Result<std::unique_ptr<Engine>> Start(Executor& executor, Options options, Events events);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Asks for something. `done` gets the machine's answer (its words as kInternal) later; never from inside Ask.
  void Ask(EngineRequest request, Done done, const std::vector<int>& fds = {});

  /// The machine's files as its programs see them, from outside; empty before it is ready.
  std::string view() const;

 private:
  struct State;
  explicit Engine(std::shared_ptr<State> state, std::jthread reader);

  std::shared_ptr<State> state_;
  std::jthread reader_;
};

}  // namespace gpuop::sim::node
