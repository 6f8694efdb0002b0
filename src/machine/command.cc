#include "machine/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "machine/host/enter.h"
#include "machine/host/machine_folder.h"
#include "machine/show.h"
#include "machine/spec/data_files.h"
#include "os/temp_folder.h"

namespace gpuop::machine {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kHelp = R"(gpu-operator machine: simulated GPU machines

usage: gpu-operator machine list                        the ready-made machines
       gpu-operator machine print MACHINE               a machine's file
       gpu-operator machine schema                      JSON schema of machine files
       gpu-operator machine faults                      what can break
       gpu-operator machine create FOLDER MACHINE       make a machine in FOLDER
       gpu-operator machine run [--fault FAULT]… MACHINE [--] PROGRAM …
                                                        run a program on it
       gpu-operator machine show FOLDER                 its devices and what is wrong with them
       gpu-operator machine fault FOLDER NAME [gpu=N] [value=N] [call=NAME]
       gpu-operator machine clear FOLDER NAME [gpu=N] [value=N]
       gpu-operator machine reset FOLDER GPU            reset one GPU
       gpu-operator machine reboot FOLDER

MACHINE is the name of a ready-made one, a machine file, or (for run) a FOLDER that create made; a machine that run makes
itself is gone when the program ends. FAULT is a fault in one word: "xid,gpu=0,value=79".
)";

Result<Spec> SpecOf(const std::string& machine) {
  if (const auto text = ReadyMadeMachine(machine)) return ReadSpec(*text, machine + ".yaml");
  std::ifstream in(machine, std::ios::binary);
  if (!in)
    return Fail(Code::kNotFound,
                Quote(machine) + " is neither a ready-made machine nor a file; `gpu-operator machine list` names them");
  return ReadSpec(std::string(std::istreambuf_iterator<char>(in), {}), machine);
}

Result<int> List(const Words&) {
  for (const std::string& name : ReadyMadeMachines()) {
    ASSIGN(const Spec spec, SpecOf(name));
    fmt::print("{:<12} {}\n", name, spec.description);
  }
  return 0;
}

Result<int> Print(const Words& words) {
  if (const auto text = ReadyMadeMachine(words[0])) {
    std::fwrite(text->data(), 1, text->size(), stdout);
    return 0;
  }
  ASSIGN(const Spec spec, SpecOf(words[0]));
  std::fputs(WriteSpec(spec).c_str(), stdout);
  return 0;
}

Result<int> Schema(const Words&) {
  std::fputs(SpecSchema().c_str(), stdout);
  return 0;
}

Result<int> Faults(const Words&) {
  for (const FaultKind& kind : FaultKinds())
    fmt::print("{:<20} {:<8} {}\n", kind.name, kind.scope == FaultScope::kGpu ? "gpu" : "machine", kind.help);
  return 0;
}

Result<int> Create(const Words& words) {
  ASSIGN(Spec spec, SpecOf(words[1]));
  TRY(MachineFolder::Create(words[0], std::move(spec), OwnDriverFiles()));
  return 0;
}

Result<int> Show(const Words& words) {
  ASSIGN(auto machine, MachineFolder::Open(words[0], OwnDriverFiles()));
  std::fputs(ShowMachine(*machine.state().Read()).c_str(), stdout);
  return 0;
}

Result<int> Inject(const Words& words) {
  ASSIGN(const Fault fault, ParseFault(std::span(words).subspan(1)));
  ASSIGN(auto machine, MachineFolder::Open(words[0], OwnDriverFiles()));
  TRY(machine.Inject(fault));
  return 0;
}

Result<int> Clear(const Words& words) {
  ASSIGN(const Fault fault, ParseFault(std::span(words).subspan(1)));
  ASSIGN(auto machine, MachineFolder::Open(words[0], OwnDriverFiles()));
  TRY(machine.Clear(fault));
  return 0;
}

Result<int> Reset(const Words& words) {
  const auto gpu = ParseInt(words[1]);
  if (!gpu || *gpu < 0 || *gpu > 255) return Fail(Code::kInvalid, Quote(words[1]) + ": expected the index of a GPU");
  ASSIGN(auto machine, MachineFolder::Open(words[0], OwnDriverFiles()));
  TRY(machine.ResetGpu(static_cast<std::uint32_t>(*gpu)));
  return 0;
}

Result<int> RebootIt(const Words& words) {
  ASSIGN(auto machine, MachineFolder::Open(words[0], OwnDriverFiles()));
  TRY(machine.Inject({.fault = "reboot"}));
  return 0;
}

/// "xid,gpu=0,value=79" as its words.
Result<Fault> FaultOf(const std::string& text) {
  Words words;
  for (const std::string_view word : Split(text, ',')) words.emplace_back(word);
  return ParseFault(words);
}

Result<int> Run(const Words& words) {
  std::vector<Fault> faults;
  std::size_t i = 0;
  for (; i + 1 < words.size() && words[i] == "--fault"; i += 2) {
    ASSIGN(faults.emplace_back(), FaultOf(words[i + 1]));
  }
  if (i < words.size() && words[i] == "--machine") ++i;
  if (i >= words.size()) return Fail(Code::kInvalid, "run: expected a machine");
  const std::string name = words[i++];
  if (i < words.size() && words[i] == "--") ++i;
  const Words program(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  if (program.empty()) return Fail(Code::kInvalid, "run: expected a program");
  if (::access((name + "/machine.yaml").c_str(), F_OK) == 0) {
    ASSIGN(auto machine, MachineFolder::Open(name, OwnDriverFiles()));
    for (const Fault& fault : faults) TRY(machine.Inject(fault));
    return RunOnMachine(name, program);
  }
  ASSIGN(Spec spec, SpecOf(name));
  ASSIGN(const auto folder, os::TempFolder::Make());
  ASSIGN(auto machine, MachineFolder::Create(folder.path(), std::move(spec), OwnDriverFiles()));
  for (const Fault& fault : faults) TRY(machine.Inject(fault));
  return RunOnMachine(folder.path(), program);
}

struct Command {
  std::string_view name;
  std::size_t least, most;  ///< how many words follow
  Result<int> (*run)(const Words&);
};
constexpr std::size_t kMany = 1000;
constexpr Command kCommands[] = {
    {"list", 0, 0, List},     {"print", 1, 1, Print}, {"schema", 0, 0, Schema},   {"faults", 0, 0, Faults},
    {"create", 2, 2, Create}, {"run", 2, kMany, Run}, {"show", 1, 1, Show},       {"fault", 2, 5, Inject},
    {"clear", 2, 5, Clear},   {"reset", 2, 2, Reset}, {"reboot", 1, 1, RebootIt},
};

}  // namespace

int RunMachine(std::span<char* const> args) {
  Words words(args.begin(), args.end());
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::fwrite(kHelp.data(), 1, kHelp.size(), words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  for (const Command& command : kCommands) {
    if (command.name != words[0]) continue;
    words.erase(words.begin());
    if (words.size() < command.least || words.size() > command.most) break;
    const auto status = command.run(words);
    if (status) return *status;
    fmt::print(stderr, "gpu-operator machine: {}\n", status.error().text);
    return 1;
  }
  std::fwrite(kHelp.data(), 1, kHelp.size(), stderr);
  return 2;
}

}  // namespace gpuop::machine
