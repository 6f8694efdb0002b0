#include "sim/http/control.h"

#include <fmt/core.h>

#include "base/text.h"
#include "data/json.h"

namespace gpuop::sim {
namespace {

using boost::json::object;
using boost::json::value;

constexpr std::string_view kRoot = "/sim/v1/";

Answer<value> BodyOf(const kube::ApiRequest& request) {
  if (Trim(request.body).empty()) return value(object());
  auto parsed = data::ParseJson(request.body);
  if (!parsed) return std::unexpected(BadRequest(parsed.error().text));
  if (!parsed->is_object()) return std::unexpected(BadRequest("expected an object"));
  return *std::move(parsed);
}

Response Say(const value& v) { return Response::Json(data::ToJson(v) + "\n"); }

}  // namespace

bool Control::Owns(std::string_view path) { return path.starts_with(kRoot); }

Response Control::Handle(const kube::ApiRequest& request) {
  auto answer = Route(request);
  return answer ? *std::move(answer) : Response::Of(answer.error());
}

Answer<Response> Control::Route(const kube::ApiRequest& request) {
  const std::string_view path = std::string_view(request.path).substr(kRoot.size());
  const std::string& method = request.method;
  if (path == "state" && method == "GET") return State();
  if (path == "faults" && method == "GET") return Say(faults_.ToJson());
  if (path == "faults" && method == "POST") return AddFault(request);
  if (path == "faults" && method == "DELETE") {
    faults_.Clear();
    return Say(object());
  }
  if (path.starts_with("faults/") && method == "DELETE") {
    const auto id = ParseInt(path.substr(7));
    if (!id || !faults_.Remove(static_cast<std::uint64_t>(*id))) return std::unexpected(PageNotFound());
    return Say(object());
  }
  if (path == "conflict-storm" && method == "POST") return AddStorm(request);
  if (path == "drop-watches" && method == "POST") return Say(object{{"dropped", server_.DropWatches()}});
  if (path == "compact" && method == "POST") return Compact(request);
  if (path.starts_with("machines/") && path.ends_with("/fault") && method == "POST")
    return MachineFault(request, path.substr(9, path.size() - 9 - 6));
  if (path == "slow-clients" && method == "POST") return SlowClients(request);
  return std::unexpected(PageNotFound());
}

Answer<Response> Control::AddFault(const kube::ApiRequest& request) {
  ASSIGN(const value body, BodyOf(request));
  auto rule = Faults::Parse(body);
  if (!rule) return std::unexpected(BadRequest(rule.error().text));
  return Say(object{{"id", faults_.Add(*std::move(rule))}});
}

Answer<Response> Control::AddStorm(const kube::ApiRequest& request) {
  ASSIGN(const value body, BodyOf(request));
  double probability = 1;
  if (const value* p = data::Find(body, "probability"); p != nullptr) {
    if (!p->is_number()) return std::unexpected(BadRequest("probability: expected a number"));
    probability = p->to_number<double>();
  }
  return Say(object{{"id", faults_.AddConflictStorm(data::StringOr(body, "group"), data::StringOr(body, "resource"),
                                                    probability, data::GetInt(body, "times"))}});
}

Answer<Response> Control::Compact(const kube::ApiRequest& request) {
  ASSIGN(const value body, BodyOf(request));
  const std::uint64_t newest = server_.store().revision();
  const std::int64_t asked = data::IntOr(body, "revision", static_cast<std::int64_t>(newest));
  if (asked < 0) return std::unexpected(BadRequest("revision: below zero"));
  server_.store().Compact(std::min(static_cast<std::uint64_t>(asked), newest));
  return Say(object{{"revision", newest}});
}

Answer<Response> Control::MachineFault(const kube::ApiRequest& request, std::string_view node) {
  ASSIGN(const value body, BodyOf(request));
  std::vector<std::string> words;
  if (const auto* list = data::GetArray(body, "words"))
    for (const value& word : *list)
      if (const auto* text = word.if_string()) words.emplace_back(data::AsView(*text));
  if (!machines_) return std::unexpected(PageNotFound());
  if (auto done = machines_(node, std::move(words)); !done) return std::unexpected(BadRequest(done.error().text));
  return Say(object());
}

Answer<Response> Control::SlowClients(const kube::ApiRequest& request) {
  ASSIGN(const value body, BodyOf(request));
  const auto rate = data::GetInt(body, "bytesPerSecond");
  if (!rate || *rate < 0) return std::unexpected(BadRequest("bytesPerSecond: expected a number, 0 for no limit"));
  faults_.bytes_per_second = static_cast<std::uint64_t>(*rate);
  return Say(object());
}

Response Control::State() const {
  std::map<std::string, std::size_t> counts;
  server_.store().ForEach([&](std::string_view table, const StoredPtr&) { ++counts[std::string(table)]; });
  object objects;
  for (const auto& [table, count] : counts) objects[table] = count;
  return Say(object{{"revision", server_.store().revision()},
                    {"watches", server_.open_watches()},
                    {"faultsStruck", faults_.struck()},
                    {"objects", std::move(objects)}});
}

}  // namespace gpuop::sim
