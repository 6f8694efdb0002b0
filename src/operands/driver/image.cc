#include "operands/driver/image.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "operands/image.h"
#include "operands/labels.h"

namespace gpuop::operands::driver {
namespace {

/// "repo/name:tag" and "repo/name@sha256:…": what stands behind the name, or "".
std::string_view TagOrDigest(std::string_view image) {
  const std::size_t digest = image.find('@');
  if (digest != std::string_view::npos) return image.substr(digest);
  const std::size_t slash = image.rfind('/'), colon = image.rfind(':');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) return {};
  return image.substr(colon);
}

/// Letters, digits and "._-/:" between them, no upper case in the path: what distribution/reference asks, as far as
/// typing errors break it.
bool LooksLikeReference(std::string_view image) {
  std::string_view name = image.substr(0, image.size() - TagOrDigest(image).size());
  if (name.empty() || name.starts_with('/') || name.ends_with('/') || name.contains("//")) return false;
  const std::string_view tail = TagOrDigest(image);
  if (tail == ":" || (tail.starts_with('@') && (!tail.starts_with("@sha256:") || tail.size() != 8 + 64))) return false;
  const std::size_t first = name.find('/');
  const std::string_view path = first == std::string_view::npos ? name : name.substr(first + 1);
  const auto plain = [](char c) { return IsLower(c) || IsDigit(c) || c == '.' || c == '_' || c == '-' || c == '/'; };
  const auto tag_char = [&](char c) { return plain(c) || IsUpper(c) || c == ':' || c == '@'; };
  return std::ranges::all_of(path, plain) && std::ranges::all_of(tail, tag_char) && tail.find('/') == std::string::npos;
}

Result<std::string> WholeReference(const api::NvidiaDriverSpec& driver) {
  const bool tagged = !TagOrDigest(driver.image).empty();
  if (driver.repository.empty() && driver.version.empty()) {
    if (!tagged)
      return Fail(Code::kInvalid, "spec.image: invalid image specification: \"" + driver.image +
                                      "\" has neither tag nor digest, and spec.version is missing");
    return driver.image;
  }
  if (tagged)
    return Fail(Code::kInvalid, "spec.image: invalid image specification: \"" + driver.image +
                                    "\" has a tag or digest beside spec.repository and spec.version");
  if (driver.version.empty())
    return Fail(Code::kInvalid, "spec.version: invalid image specification: missing beside spec.repository");
  const std::string path = driver.repository.empty() ? driver.image : driver.repository + "/" + driver.image;
  return path + (driver.version.starts_with("sha256:") ? "@" : ":") + driver.version;
}

}  // namespace

bool HasImages(std::string_view os_id) {
  static constexpr std::array kIds = {"ubuntu", "rhel", "rocky", "ol", "centos", "rhcos", "sles", "sl-micro"};
  return std::ranges::find(kIds, os_id) != kIds.end();
}

bool IsNvidiasImage(const api::PolicyDriver& driver, const Facts& facts) {
  const auto image = ResolveImage(driver, "DRIVER_IMAGE", facts, "spec.driver");
  return image && image->starts_with("nvcr.io/nvidia/driver");
}

Result<std::string> PolicyDriverImage(const api::PolicyDriver& driver, const Facts& facts, const NodeGroup& group) {
  const std::string tag = OsTag(group.os_id, group.os_version);
  ASSIGN(std::string image, ResolveImage(driver, "DRIVER_IMAGE", facts, "spec.driver"));
  if (driver.UsesPrecompiled()) {
    if (image.contains("sha256:"))
      return Fail(Code::kInvalid,
                  "spec.driver.version: a digest names one kernel's image and cannot be used with usePrecompiled");
    image += "-" + group.kernel;
  }
  return WithOsTag(std::move(image), tag);
}

Result<std::string> OwnDriverImage(const api::NvidiaDriverSpec& driver, const NodeGroup& group) {
  ASSIGN(std::string image, WholeReference(driver));
  if (!LooksLikeReference(image))
    return Fail(Code::kInvalid, "spec.image: invalid image specification: \"" + image + "\" is not an image reference");
  if (driver.UsesPrecompiled()) {
    if (image.contains("@sha256:"))
      return Fail(Code::kInvalid,
                  "spec.version: a digest names one kernel's image and cannot be used with usePrecompiled");
    image += "-" + group.kernel;
  }
  return WithOsTag(std::move(image), OsTag(group.os_id, group.os_version));
}

}  // namespace gpuop::operands::driver
