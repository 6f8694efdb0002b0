#pragma once
// What a program of node feature discovery is told: its flags, and a settings file below them.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "container/flags.h"
#include "data/json.h"
#include "data/regex.h"
#include "os/fs.h"

namespace gpuop::operands::nfd {

/// A flag as a table has it: "name", "-name" and "--name" are the same.
struct FlagText {
  const char* name;
  const char* otherwise;
  bool is_switch;
  const char* help;
};

/// `flags`, and those that ask for help ("help").
std::vector<container::FlagSpec> FlagsOf(std::span<const FlagText> flags);
/// What is said of `flags`, a line each.
std::string HelpOf(std::span<const FlagText> flags);

/// The settings: the file that the flag "config" names, and over it, member by member, those of the flag "options".
/// The usual file need not be there; one that was asked for must be. kInvalid names the file or the flag.
Result<data::Json> ReadSettings(const container::FlagValues& flags, const os::Fs& fs);

/// That `path` has something else than `what`.
std::unexpected<Error> Expected(std::string_view path, std::string_view what, const data::Json& got);
/// The value at `path`; null where there is none or it is null.
const data::Json* FindSetting(const data::Json& settings, std::string_view path);
/// Sets `out` where there is a value.
Result<> ReadBool(const data::Json& settings, std::string_view path, bool& out);
Result<std::optional<std::string>> ReadText(const data::Json& settings, std::string_view path);
/// The expression `text`; nullopt when it is empty. kInvalid begins with `name`.
Result<std::optional<data::Regex>> ReadPattern(std::string_view name, const std::string& text);

}  // namespace gpuop::operands::nfd
