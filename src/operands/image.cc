#include "operands/image.h"

namespace gpuop::operands {

Result<std::string> ResolveImage(const api::ImageSource& source, std::string_view env, const Facts& facts,
                                 std::string_view field) {
  if (source.unset()) {
    const auto it = facts.image_env.find(std::string(env));
    if (it != facts.image_env.end() && !it->second.empty()) return it->second;
    return Fail(Code::kInvalid, std::string(field)
                                    .append(": no image: set repository, image and version, or the operator's ")
                                    .append("environment variable ")
                                    .append(env));
  }
  if (source.repository.empty() && source.version.empty()) return source.image;
  if (source.repository.empty() || source.image.empty() || source.version.empty()) {
    const char* missing = source.repository.empty() ? "repository" : source.image.empty() ? "image" : "version";
    return Fail(Code::kInvalid, std::string(field)
                                    .append(": invalid image specification: ")
                                    .append(missing)
                                    .append(" is missing (repository, image and version belong together)"));
  }
  const char* join = source.version.starts_with("sha256:") ? "@" : ":";
  return source.repository + "/" + source.image + join + source.version;
}

std::string WithOsTag(std::string image, std::string_view os_tag) {
  if (image.find("sha256:") != std::string::npos) return image;
  return image.append("-").append(os_tag);
}

std::string PullPolicy(std::string_view policy) {
  return policy == "Always" || policy == "Never" ? std::string(policy) : "IfNotPresent";
}

Result<std::string> OperatorImage(const api::ImageSource& validator, const Facts& facts) {
  if (!facts.operator_image.empty()) return facts.operator_image;
  return ResolveImage(validator, "VALIDATOR_IMAGE", facts, "spec.validator");
}

}  // namespace gpuop::operands
