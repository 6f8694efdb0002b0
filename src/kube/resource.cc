#include "kube/resource.h"

#include <vector>

#include "base/text.h"
#include "net/url.h"

namespace gpuop::kube {
namespace {

/// The decoded, non-empty path elements; nullopt when one is badly encoded.
std::optional<std::vector<std::string>> Elements(std::string_view path) {
  std::vector<std::string> out;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty()) continue;
    auto decoded = net::PercentDecode(part);
    if (!decoded) return std::nullopt;
    out.push_back(*std::move(decoded));
  }
  return out;
}

}  // namespace

std::string Resource::ApiVersion() const { return group.empty() ? version : group + "/" + version; }
std::string Resource::GroupPlural() const { return group.empty() ? plural : plural + "." + group; }

std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!key.empty()) key += '/';
  return key += name;
}

std::pair<std::string_view, std::string_view> SplitKey(std::string_view key) {
  if (const auto parts = Cut(key, '/')) return *parts;
  return {std::string_view(), key};
}

std::string PathOf(const ObjectRef& ref) {
  const Resource& r = ref.resource;
  std::string path = r.group.empty() ? "/api/" + r.version : "/apis/" + r.group + "/" + r.version;
  if (!ref.ns.empty()) path.append("/namespaces/").append(net::PercentEncode(ref.ns));
  path.append("/").append(r.plural);
  if (!ref.name.empty()) path.append("/").append(net::PercentEncode(ref.name));
  if (!ref.subresource.empty()) path.append("/").append(ref.subresource);
  return path;
}

std::optional<RequestPath> ParsePath(std::string_view path) {
  const auto elements = Elements(path);
  if (!elements || elements->size() < 2) return std::nullopt;
  RequestPath out;
  auto at = elements->begin();
  const auto end = elements->end();
  if (*at == "api") {
    ++at;
  } else if (*at == "apis" && elements->size() >= 3) {
    out.group = *++at;
    ++at;
  } else {
    return std::nullopt;
  }
  out.version = *at++;
  // "namespaces/x/pods" is scoped; "namespaces/x", ".../status" and ".../finalize" are the Namespace itself.
  if (end - at >= 2 && *at == "namespaces") {
    out.ns = at[1];
    if (end - at > 2 && at[2] != "status" && at[2] != "finalize") at += 2;
  }
  if (at != end) out.plural = *at++;
  if (at != end) out.name = *at++;
  if (at != end) out.subresource = *at++;
  for (; at != end; ++at) out.rest.append(out.rest.empty() ? "" : "/").append(*at);
  return out;
}

std::pair<std::string_view, std::string_view> SplitApiVersion(std::string_view api_version) {
  if (const auto parts = Cut(api_version, '/')) return *parts;
  return {std::string_view(), api_version};
}

}  // namespace gpuop::kube
