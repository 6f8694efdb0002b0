#include "cli/nvidia_smi/arguments.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpuop::cli::nvidia_smi {
namespace {

constexpr std::string_view kInvalid = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n";

std::vector<std::string> Items(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view item : Split(text, ','))
    if (const auto trimmed = Trim(item); !trimmed.empty()) items.emplace_back(trimmed);
  return items;
}

/// Walks the arguments: "--name=value", "--name value" and "-n value" alike.
class Walk {
 public:
  explicit Walk(const std::vector<std::string>& args) : args_(args) {}

  /// The next option's name; nullopt at the end.
  std::optional<std::string> Next() {
    if (at_ == args_.size()) return std::nullopt;
    std::string name = args_[at_++];
    attached_.reset();
    if (name.starts_with("--"))
      if (const auto cut = Cut(name, '=')) {
        attached_ = std::string(cut->second);
        name = std::string(cut->first);
      }
    return name;
  }
  Result<std::string> Value(std::string_view name) {
    if (attached_) return *attached_;
    if (at_ == args_.size())
      return Fail(Code::kInvalid, "Option \"" + std::string(name) + "\" is missing its value.\n");
    return args_[at_++];
  }
  /// The value if one follows that is no option.
  std::string ValueIfAny() {
    if (attached_) return *attached_;
    if (at_ == args_.size() || args_[at_].starts_with("-")) return {};
    return args_[at_++];
  }

 private:
  const std::vector<std::string>& args_;
  std::size_t at_ = 0;
  std::optional<std::string> attached_;
};

Result<std::vector<unsigned>> Numbers(std::string_view name, std::string_view text) {
  std::vector<unsigned> numbers;
  for (const std::string& item : Items(text)) {
    const auto number = ParseInt(item);
    if (!number || *number < 0 || *number > 0xffff)
      return Fail(Code::kInvalid, "Option \"" + std::string(name) + "\": \"" + item + "\" is no instance ID.\n");
    numbers.push_back(static_cast<unsigned>(*number));
  }
  return numbers;
}

Result<> ReadFormat(std::string_view text, Arguments& out) {
  bool csv = false;
  for (const std::string& item : Items(text)) {
    if (item == "csv")
      csv = true;
    else if (item == "noheader")
      out.header = false;
    else if (item == "nounits")
      out.units = false;
    else
      return Fail(Code::kInvalid, "\"--format=\" has no option \"" + item + "\".\n");
  }
  if (!csv) return Fail(Code::kInvalid, "\"--format=\" switch is missing the mandatory option \"csv\".\n");
  return {};
}

struct MigFlag {
  std::string_view brief, full;
  Arguments::Mig mig;
  enum class Takes { kNothing, kProfiles, kMaybeProfiles } takes = Takes::kNothing;
};
constexpr std::array kMigFlags = {
    MigFlag{"-lgip", "--list-gpu-instance-profiles", Arguments::Mig::kListGpuInstanceProfiles},
    MigFlag{"-lgipp", "--list-gpu-instance-possible-placements", Arguments::Mig::kListGpuInstancePlacements},
    MigFlag{"-lgi", "--list-gpu-instances", Arguments::Mig::kListGpuInstances},
    MigFlag{"-lcip", "--list-compute-instance-profiles", Arguments::Mig::kListComputeInstanceProfiles},
    MigFlag{"-lcipp", "--list-compute-instance-possible-placements", Arguments::Mig::kListComputeInstancePlacements},
    MigFlag{"-lci", "--list-compute-instances", Arguments::Mig::kListComputeInstances},
    MigFlag{"-cgi", "--create-gpu-instance", Arguments::Mig::kCreateGpuInstances, MigFlag::Takes::kProfiles},
    MigFlag{"-cci", "--create-compute-instance", Arguments::Mig::kCreateComputeInstances,
            MigFlag::Takes::kMaybeProfiles},
    MigFlag{"-dgi", "--destroy-gpu-instance", Arguments::Mig::kDestroyGpuInstances},
    MigFlag{"-dci", "--destroy-compute-instance", Arguments::Mig::kDestroyComputeInstances},
};

Result<> ReadMigFlag(const MigFlag& flag, const std::string& name, Walk& walk, Arguments& out) {
  if (out.mig != Arguments::Mig::kNone) return Fail(Code::kInvalid, std::string(kInvalid));
  out.mig = flag.mig;
  if (flag.takes == MigFlag::Takes::kNothing) return {};
  std::string profiles;
  if (flag.takes == MigFlag::Takes::kProfiles) {
    ASSIGN(profiles, walk.Value(name));
  } else {
    profiles = walk.ValueIfAny();
  }
  out.profiles = Items(profiles);
  return {};
}

Result<Arguments> ParseMig(Walk& walk) {
  Arguments out;
  out.what = Arguments::What::kMig;
  while (const auto name = walk.Next()) {
    const auto* const flag =
        std::ranges::find_if(kMigFlags, [&](const MigFlag& f) { return *name == f.brief || *name == f.full; });
    if (flag != kMigFlags.end()) {
      TRY(ReadMigFlag(*flag, *name, walk, out));
    } else if (*name == "-h" || *name == "--help") {
      out.what = Arguments::What::kHelp;
    } else if (*name == "-C" || *name == "--default-compute-instance") {
      out.default_compute = true;
    } else if (*name == "-i" || *name == "--id") {
      ASSIGN(const std::string ids, walk.Value(*name));
      out.ids = Items(ids);
    } else if (*name == "-gi" || *name == "--gpu-instance-id") {
      ASSIGN(const std::string ids, walk.Value(*name));
      ASSIGN(out.gpu_instances, Numbers(*name, ids));
    } else if (*name == "-ci" || *name == "--compute-instance-id") {
      ASSIGN(const std::string ids, walk.Value(*name));
      ASSIGN(out.compute_instances, Numbers(*name, ids));
    } else {
      return Fail(Code::kInvalid, std::string(kInvalid));
    }
  }
  if (out.what == Arguments::What::kMig && out.mig == Arguments::Mig::kNone)
    return Fail(Code::kInvalid, std::string(kInvalid));
  return out;
}

/// "topo" and "nvlink": a command that takes one flag, and -i.
Result<Arguments> ParseLinks(Walk& walk, Arguments::What what, std::string_view brief, std::string_view full) {
  Arguments out;
  while (const auto name = walk.Next()) {
    if (*name == brief || *name == full) {
      out.what = what;
    } else if (*name == "-h" || *name == "--help") {
      out.what = Arguments::What::kHelp;
    } else if (*name == "-i" || *name == "--id") {
      ASSIGN(const std::string ids, walk.Value(*name));
      out.ids = Items(ids);
    } else {
      return Fail(Code::kInvalid, std::string(kInvalid));
    }
  }
  if (out.what == Arguments::What::kSummary) return Fail(Code::kInvalid, std::string(kInvalid));
  return out;
}

/// -l and -lms: seconds, 5 without a number, or milliseconds.
Result<int> ReadAgain(const std::string& name, Walk& walk) {
  const bool fine = name == "-lms" || name == "--loop-ms";
  const std::string text = walk.ValueIfAny();
  if (text.empty() && !fine) return 5000;
  const auto number = ParseInt(text);
  if (!number || *number < 1 || *number > 1'000'000)
    return Fail(Code::kInvalid, "Option \"" + name + "\": \"" + text + "\" is no time.\n");
  return static_cast<int>(*number) * (fine ? 1 : 1000);
}

struct Flag {
  std::string_view brief, full;
  Arguments::What what;
  enum class Takes { kNothing, kValue, kFields } takes = Takes::kNothing;
};
constexpr std::array kFlags = {
    Flag{"-L", "--list-gpus", Arguments::What::kList},
    Flag{"-q", "--query", Arguments::What::kReport},
    Flag{"-h", "--help", Arguments::What::kHelp},
    Flag{"-r", "--gpu-reset", Arguments::What::kReset},
    Flag{"", "--version", Arguments::What::kVersions},
    Flag{"", "--help-query-gpu", Arguments::What::kListFields},
    Flag{"-mig", "--multi-instance-gpu", Arguments::What::kSetMig, Flag::Takes::kValue},
    Flag{"-pm", "--persistence-mode", Arguments::What::kSetPersistence, Flag::Takes::kValue},
    Flag{"-c", "--compute-mode", Arguments::What::kSetComputeMode, Flag::Takes::kValue},
    Flag{"", "--query-gpu", Arguments::What::kQueryGpu, Flag::Takes::kFields},
    Flag{"", "--query-compute-apps", Arguments::What::kQueryApps, Flag::Takes::kFields},
};

Result<> ReadFlag(const Flag& flag, const std::string& name, Walk& walk, Arguments& out) {
  if (out.what != Arguments::What::kSummary) return Fail(Code::kInvalid, std::string(kInvalid));
  out.what = flag.what;
  if (flag.takes == Flag::Takes::kNothing) return {};
  ASSIGN(std::string value, walk.Value(name));
  if (flag.takes == Flag::Takes::kFields)
    out.fields = Items(value);
  else
    out.value = std::move(value);
  return {};
}

}  // namespace

Result<Arguments> ParseArguments(const std::vector<std::string>& args) {
  Walk walk(args);
  Arguments out;
  bool formatted = false;
  while (const auto name = walk.Next()) {
    if (*name == "mig") return ParseMig(walk);
    if (*name == "topo") return ParseLinks(walk, Arguments::What::kTopology, "-m", "--matrix");
    if (*name == "nvlink") return ParseLinks(walk, Arguments::What::kLinkStatus, "-s", "--status");
    const auto* const flag =
        std::ranges::find_if(kFlags, [&](const Flag& f) { return *name == f.brief || *name == f.full; });
    if (flag != kFlags.end()) {
      TRY(ReadFlag(*flag, *name, walk, out));
    } else if (*name == "-i" || *name == "--id") {
      ASSIGN(const std::string ids, walk.Value(*name));
      out.ids = Items(ids);
    } else if (*name == "-f" || *name == "--filename") {
      ASSIGN(out.file, walk.Value(*name));
    } else if (*name == "-l" || *name == "--loop" || *name == "-lms" || *name == "--loop-ms") {
      ASSIGN(out.again_ms, ReadAgain(*name, walk));
    } else if (*name == "-d" || *name == "--display") {
      ASSIGN(const std::string sections, walk.Value(*name));
      out.sections = Items(sections);
    } else if (*name == "--format") {
      ASSIGN(const std::string format, walk.Value(*name));
      TRY(ReadFormat(format, out));
      formatted = true;
    } else {
      return Fail(Code::kInvalid, "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
    }
  }
  const bool query = out.what == Arguments::What::kQueryGpu || out.what == Arguments::What::kQueryApps;
  if (query && !formatted) return Fail(Code::kInvalid, "\"--format=\" is required for this query.\n");
  if ((formatted && !query) || (!out.sections.empty() && out.what != Arguments::What::kReport))
    return Fail(Code::kInvalid, std::string(kInvalid));
  return out;
}

}  // namespace gpuop::cli::nvidia_smi
