#pragma once
// What the tests of the API server's core share: a cluster on a virtual clock, and short ways to talk to it.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/json.h"
#include "sim/cluster.h"

namespace gpuop::sim {

using boost::json::value;

inline constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";
inline constexpr char kMerge[] = "application/merge-patch+json";

/// A sink that keeps what it is told.
class Events final : public kube::StreamSink {
 public:
  void OnData(std::string_view piece) override { events.push_back(*data::ParseJson(piece)); }
  void OnEnd(Result<> why, std::optional<Duration>) override {
    ended = true;
    if (!why) error = why.error();
  }
  /// "ADDED a 5" for each.
  std::vector<std::string> Short() const {
    std::vector<std::string> out;
    for (const value& e : events)
      out.push_back(std::string(data::StringOr(e, "type")) + " " +
                    std::string(data::StringOr(e, "object.metadata.name")));
    return out;
  }

  std::vector<value> events;
  bool ended = false;
  std::optional<Error> error;
};

class ApiServerTest : public testing::Test {
 protected:
  value Do(const std::string& method, const std::string& path, const std::string& body = {},
           const std::string& type = "application/json") {
    const kube::ApiResponse r = cluster_.Call(method, path, body, type);
    status_ = r.status;
    return data::ParseJson(r.body).value_or(value(r.body));
  }
  value Get(const std::string& path) { return Do("GET", path); }
  value Make(const std::string& name, const std::string& more = {}) {
    return Do("POST", kMaps, R"({"metadata":{"name":")" + name + R"(")" + more + "}}");
  }
  std::string Message(const value& v) { return std::string(data::StringOr(v, "message")); }
  std::string At(const value& v, std::string_view path) { return std::string(data::StringOr(v, path)); }
  std::vector<std::string> Names(const value& list) {
    std::vector<std::string> names;
    for (const value& item : list.at("items").as_array()) names.push_back(At(item, "metadata.name"));
    return names;
  }
  std::unique_ptr<kube::Stream> Watch(const std::string& path, std::vector<std::pair<std::string, std::string>> query,
                                      std::shared_ptr<Events> sink, const std::string& accept = "application/json") {
    kube::ApiRequest request;
    request.path = path;
    request.query = std::move(query);
    request.query.emplace_back("watch", "true");
    request.accept = accept;
    return cluster_.door().Open(request, std::move(sink));
  }
  void Settle() { cluster_.RunFor(std::chrono::milliseconds(1)); }

  Cluster cluster_{1};
  int status_ = 0;
};

}  // namespace gpuop::sim
