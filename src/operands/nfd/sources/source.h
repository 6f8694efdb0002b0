#pragma once
// What a node has, source by source.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "operands/nfd/features.h"
#include "operands/nfd/rules/rule.h"
#include "operands/nfd/sources/host.h"

namespace gpuop::operands::nfd {

/// The part of the worker's settings that sources read (nfd-worker.conf: sources).
struct SourceSettings {
  struct Cpu {
    /// CPUID flags without a label; a whitelist stands for it when there is one.
    std::vector<std::string> blacklist, whitelist;
  } cpu;
  struct Kernel {
    std::string config_file;
    std::vector<std::string> config_options;
  } kernel;
  struct Devices {
    std::vector<std::string> classes, fields;
  };
  Devices pci, usb;
  /// Rules of the configuration and of custom.d.
  std::vector<RuleList> custom;

  /// With the defaults of all.
  static SourceSettings Default();
};

/// One source's answer. Labels of most sources are named "<source>-<name>" later; `verbatim` ones stay.
struct Found {
  Features features;
  TextMap labels;
  /// When it is to be asked again although nothing tells of a change.
  std::optional<WallTime> until = {};
  /// Something could not be read just now (not: is not there): what was found before still counts.
  bool failed = false;
  /// What was passed over, for the log: said when it is new.
  std::vector<std::string> complaints = {};

  bool SaysTheSameAs(const Found& other) const { return features == other.features && labels == other.labels; }
};

/// What sources are asked with.
struct Question {
  const Host& host;
  const SourceSettings& settings;
  const Clock& clock;
  std::string node_name;
};

/// One of the ways to know something of a node.
struct Source {
  std::string_view name;
  /// A label of a higher one wins.
  int priority = 0;
  /// Its labels have whole names.
  bool verbatim = false;
  /// What it says can change without any event that the kernel tells: it is asked in every pass.
  bool changes_silently = false;
  Found (*find)(const Question& question) = nullptr;
};

/// All sources but custom, which needs what the others found.
std::span<const Source> Sources();

/// The labels of the rules in `settings.custom` and of those that are built in. `features` are those of all sources and
/// get rule.matched. What is wrong with rules goes to `complaints`.
TextMap CustomLabels(const SourceSettings& settings, Features& features, std::vector<std::string>& complaints);

/// What each says (docs/node-feature-discovery.md). A file that is not there is nothing found.
Found FindCpu(const Question& question);
Found FindKernel(const Question& question);
Found FindLocal(const Question& question);
Found FindMemory(const Question& question);
Found FindNetwork(const Question& question);
Found FindPci(const Question& question);
Found FindStorage(const Question& question);
Found FindSystem(const Question& question);
Found FindUsb(const Question& question);
/// For tests of rules: the same three kinds of features on every node. Only asked when named.
Found FindFake(const Question& question);

/// Whether a device class ("0302") begins with one of these.
bool ClassListed(std::string_view device_class, const std::vector<std::string>& classes);
/// "0302_10de": the attributes named by `fields`, in the order of `known`; the defaults when none is known.
std::string DeviceLabel(const TextMap& device, const std::vector<std::string>& fields,
                        std::span<const std::string_view> known, const std::vector<std::string>& defaults);

}  // namespace gpuop::operands::nfd
