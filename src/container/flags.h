#pragma once
// Command lines as NVIDIA's programs take them: every flag has several names, and variables of the environment behind
// it.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpuop::container {

/// One flag. A switch is true when it stands alone.
struct FlagSpec {
  /// The first one is its name everywhere else; "-r" style names begin with one dash.
  std::vector<std::string> names;
  /// Read in this order when the flag is not given.
  std::vector<std::string> variables = {};
  std::string otherwise = {};
  bool is_switch = false;
  bool repeatable = false;
};

/// What was given.
class FlagValues {
 public:
  std::string Text(const std::string& name) const;
  bool On(const std::string& name) const;
  /// All values as they were given; none when it was not.
  std::vector<std::string> Each(const std::string& name) const;
  /// All values, those with commas taken apart.
  std::vector<std::string> List(const std::string& name) const;
  /// Whether the flag or one of its variables was set at all.
  bool given(const std::string& name) const { return given_.contains(name); }

 private:
  friend Result<FlagValues> ParseFlags(std::span<const FlagSpec>, const std::vector<std::string>&,
                                       const std::function<const char*(const char*)>&, std::vector<std::string>*);
  std::map<std::string, std::vector<std::string>> values_;
  std::map<std::string, bool> given_;
};

/// `variable` is getenv(3). Words that are no flags go to `rest`; without it they are errors, as are unknown flags and
/// a switch that is neither true nor false (kInvalid names it).
Result<FlagValues> ParseFlags(std::span<const FlagSpec> specs, const std::vector<std::string>& arguments,
                              const std::function<const char*(const char*)>& variable,
                              std::vector<std::string>* rest = nullptr);

}  // namespace gpuop::container
