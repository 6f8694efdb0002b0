#include "gpu/mig_name.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/text.h"
#include "gpu/nvml/constants.h"

namespace gpuop::gpu {
namespace {

/// A number followed by `unit`, taken off the front of `text`.
std::optional<unsigned> TakeNumber(std::string_view& text, std::string_view unit) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || !text.substr(digits).starts_with(unit)) return std::nullopt;
  text.remove_prefix(digits + unit.size());
  return value;
}

Result<> CheckAttribute(std::string_view attribute, const std::vector<std::string>& before) {
  if (attribute.empty()) return Fail(Code::kInvalid, "an attribute is empty");
  if (!std::ranges::all_of(attribute, [](char c) { return IsAlphanumeric(c) || c == '.'; }))
    return Fail(Code::kInvalid,
                "attribute " + Quote(attribute) + " holds something else than letters, digits and dots");
  if (IsDigit(attribute.front())) return Fail(Code::kInvalid, "attribute " + Quote(attribute) + " begins with a digit");
  if (attribute.front() == '.' || attribute.back() == '.')
    return Fail(Code::kInvalid, "attribute " + Quote(attribute) + " begins or ends with a dot");
  if (std::ranges::find(before, attribute) != before.end())
    return Fail(Code::kInvalid, "attribute " + Quote(attribute) + " is there twice");
  return {};
}

Result<std::vector<std::string>> ParseAttributes(std::string_view text) {
  std::vector<std::string> attributes;
  for (const std::string_view attribute : Split(text, ',')) {
    TRY(CheckAttribute(attribute, attributes));
    attributes.emplace_back(attribute);
  }
  return attributes;
}

Result<MigName> Parse(std::string_view text) {
  MigName name;
  const auto c = TakeNumber(text, "c.");
  const auto g = TakeNumber(text, "g.");
  if (!g) return Fail(Code::kInvalid, "expected <number>g.<number>gb");
  const auto gb = TakeNumber(text, "gb");
  if (!gb) return Fail(Code::kInvalid, "expected <number>gb after the \"g.\"");
  name.g = *g;
  name.c = c.value_or(*g);
  name.gb = *gb;
  if (text.empty()) return name;
  const char sign = text.front();
  if (sign != '+' && sign != '-')
    return Fail(Code::kInvalid, "expected \"+\" or \"-\" and attributes, or nothing, after \"gb\"");
  if (text.find(sign == '+' ? '-' : '+') != std::string_view::npos)
    return Fail(Code::kInvalid, "\"+\" and \"-\" attributes do not go together");
  ASSIGN((sign == '+' ? name.with : name.without), ParseAttributes(text.substr(1)));
  return name;
}

}  // namespace

Result<MigName> ParseMigName(std::string_view text) {
  auto name = Parse(text);
  if (!name) return std::unexpected(std::move(name).error().During("MIG profile " + Quote(text)));
  return name;
}

std::string ToText(const MigName& name) {
  std::string text;
  if (name.c != name.g) text += std::to_string(name.c) + "c.";
  text += std::to_string(name.g) + "g." + std::to_string(name.gb) + "gb";
  if (!name.with.empty()) text += "+" + Join(name.with, ",");
  if (!name.without.empty()) text += "-" + Join(name.without, ",");
  return text;
}

std::string ToResourceText(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(text, [](char c) { return c == '+' || c == ','; }, '.');
  return text;
}

unsigned MigNameGigabytes(std::uint64_t memory_mib, std::uint64_t total_bytes) {
  if (total_bytes == 0) return 0;
  constexpr double kGib = 1ULL << 30U, kMib = 1ULL << 20U;
  const double share = static_cast<double>(memory_mib) * kMib / static_cast<double>(total_bytes);
  const double eighths = std::ceil(share * 8) / 8;
  return static_cast<unsigned>(std::round(eighths * std::ceil(static_cast<double>(total_bytes) / kGib)));
}

std::string_view MigNameSuffix(unsigned nvml_profile) {
  switch (nvml_profile) {
    case nvml::kGpuInstanceProfile1SliceRev1:
    case nvml::kGpuInstanceProfile2SliceRev1: return "+me";
    case nvml::kGpuInstanceProfile1SliceGfx:
    case nvml::kGpuInstanceProfile2SliceGfx:
    case nvml::kGpuInstanceProfile3SliceGfx:
    case nvml::kGpuInstanceProfile4SliceGfx: return "+gfx";
    case nvml::kGpuInstanceProfile1SliceNoMe:
    case nvml::kGpuInstanceProfile2SliceNoMe: return "-me";
    case nvml::kGpuInstanceProfile1SliceAllMe:
    case nvml::kGpuInstanceProfile2SliceAllMe: return "+me.all";
    default: return "";
  }
}

}  // namespace gpuop::gpu
