#include "container/version.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gpuop::container {
namespace {

struct Branch {
  std::uint64_t driver;
  std::string_view cuda;
};
/// From the release notes of the CUDA toolkit ("CUDA driver"), by the first branch that serves each.
constexpr std::array kBranches = {Branch{384, "9.0"},  Branch{387, "9.1"},  Branch{396, "9.2"},  Branch{410, "10.0"},
                                  Branch{418, "10.1"}, Branch{440, "10.2"}, Branch{450, "11.0"}, Branch{455, "11.1"},
                                  Branch{460, "11.2"}, Branch{465, "11.3"}, Branch{470, "11.4"}, Branch{495, "11.5"},
                                  Branch{510, "11.6"}, Branch{515, "11.7"}, Branch{520, "11.8"}, Branch{525, "12.0"},
                                  Branch{530, "12.1"}, Branch{535, "12.2"}, Branch{545, "12.3"}, Branch{550, "12.4"},
                                  Branch{555, "12.5"}, Branch{560, "12.6"}, Branch{565, "12.7"}, Branch{570, "12.8"},
                                  Branch{575, "12.9"}, Branch{580, "13.0"}, Branch{590, "13.1"}};

}  // namespace

std::optional<Version> ParseVersion(std::string_view text) {
  Version out;
  for (const std::string_view part : Split(text, '.')) {
    const auto number = ParseInt(part);
    if (!number || *number < 0 || part.starts_with('+')) return std::nullopt;
    out.push_back(static_cast<std::uint64_t>(*number));
  }
  return out;
}

std::strong_ordering CompareVersions(const Version& a, const Version& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::uint64_t left = i < a.size() ? a[i] : 0, right = i < b.size() ? b[i] : 0;
    if (left != right) return left <=> right;
  }
  return std::strong_ordering::equal;
}

std::string CudaOfDriver(std::string_view driver_version) {
  const auto version = ParseVersion(driver_version);
  if (!version || (*version)[0] > kBranches.back().driver) return "";
  std::string_view cuda;
  for (const Branch& branch : kBranches)
    if (branch.driver <= (*version)[0]) cuda = branch.cuda;
  return std::string(cuda);
}

}  // namespace gpuop::container
