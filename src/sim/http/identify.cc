#include "sim/http/identify.h"

#include "base/text.h"
#include "sim/parse_request.h"

namespace gpuop::sim {

Credentials CredentialsOf(const net::Request& request) {
  Credentials out;
  out.authorization = request.headers.Get("Authorization");
  out.as_user = request.headers.Get("Impersonate-User");
  out.as_uid = request.headers.Get("Impersonate-Uid");
  constexpr std::string_view kExtra = "impersonate-extra-";
  for (const net::Header& h : request.headers) {
    const std::string name = ToLower(h.name);
    if (name == "impersonate-group") out.as_groups.push_back(h.value);
    if (name.starts_with(kExtra)) out.as_extra[name.substr(kExtra.size())].push_back(h.value);
  }
  if (request.peer != nullptr && request.peer->certificate) {
    out.common_name = request.peer->certificate->common_name;
    out.organizations = request.peer->certificate->organizations;
  }
  return out;
}

HttpDoor::Identify IdentifyBy(const Authenticator& authenticator, User otherwise) {
  return [&authenticator, otherwise = std::move(otherwise)](const net::Request& request, const kube::ApiRequest& api) {
    return authenticator.Authenticate(CredentialsOf(request), otherwise, AttributesOf(api, {}));
  };
}

}  // namespace gpuop::sim
