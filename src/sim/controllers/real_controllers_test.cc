// What the real controllers wrote for the same objects (testdata/controllers/rollout.json, recorded by capture.py) and
// what ours write: equal but for names that are made up, UIDs and times.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "data/json.h"
#include "sim/controllers/control_loops.h"

namespace gpuop::sim {
namespace {

using data::Json;
using data::JsonArray;
using data::JsonObject;

Json ReadFixture() {
  std::ifstream in(std::string(SourceDir()) + "/testdata/controllers/rollout.json");
  std::stringstream text;
  text << in.rdbuf();
  return data::ParseJson(text.str()).value();
}

/// With members in order, so that equal values are equal texts.
std::string Canonical(const Json& v) {
  if (v.is_array()) {
    std::string out;
    for (const Json& item : v.get_array()) out += (out.empty() ? "" : ",") + Canonical(item);
    return "[" + out + "]";
  }
  if (!v.is_object()) return data::ToJson(v);
  std::map<std::string, std::string> members;
  for (const auto& [key, value] : v.get_object()) members[key] = Canonical(value);
  std::string out;
  for (const auto& [key, text] : members) out += (out.empty() ? "" : ",") + key + ":" + text;
  return "{" + out + "}";
}

/// Replaces what cannot be equal. Hashes of templates are named by the order of their revisions.
class Normaliser {
 public:
  explicit Normaliser(const std::map<std::string, JsonArray>& objects) {
    NameHashes(objects, "replicasets", "pod-template-hash", "/metadata/annotations/deployment.kubernetes.io~1revision");
    for (const auto& [kind, items] : objects)
      for (const Json& o : items) hashes_[std::string(data::StringOr(o, "metadata.uid"))] = "<uid>";
    NameHashes(objects, "controllerrevisions", "controller-revision-hash", "/revision");
  }

  Json operator()(const Json& v) const {
    if (v.is_string()) return Json(boost::json::string(Text(std::string(data::AsView(v.get_string())))));
    if (v.is_array()) {
      JsonArray out;
      for (const Json& item : v.get_array()) out.push_back((*this)(item));
      return out;
    }
    if (!v.is_object()) return v;
    JsonObject out;
    for (const auto& [key, value] : v.get_object()) {
      static constexpr std::string_view kDropped[] = {"uid", "resourceVersion", "creationTimestamp", "managedFields"};
      if (std::ranges::find(kDropped, std::string_view(key)) == std::end(kDropped)) out[key] = (*this)(value);
    }
    return out;
  }

 private:
  void NameHashes(const std::map<std::string, JsonArray>& objects, const std::string& kind, const std::string& label,
                  const std::string& order) {
    std::map<std::string, std::string> by_order;
    for (const Json& o : objects.at(kind)) {
      boost::system::error_code error;
      const Json* place = o.find_pointer(order, error);
      const Json& hash = o.at("metadata").at("labels").at(label);
      by_order[place == nullptr ? "" : data::ToJson(*place)] = std::string(data::AsView(hash.get_string()));
    }
    int i = 0;
    for (const auto& [place, hash] : by_order) hashes_[hash] = "<" + label + " " + std::to_string(++i) + ">";
  }

  std::string Text(std::string text) const {
    if (ParseTime(text) && text.size() >= 20) return "<time>";
    for (const auto& [hash, name] : hashes_)
      if (const auto at = text.find(hash); at != std::string::npos) text.replace(at, hash.size(), name);
    return text;
  }

  std::map<std::string, std::string> hashes_;
};

/// The parts of an object that a controller decides.
Json Decided(const std::string& kind, const Json& object, const Normaliser& normalise) {
  JsonObject out;
  const Json& meta = object.at("metadata");
  const auto take = [&](const char* name) {
    if (const auto* v = meta.get_object().if_contains(name)) out[name] = normalise(*v);
  };
  take("labels");
  take("ownerReferences");
  if (kind != "pods") take("name");
  if (kind == "pods") take("generateName");
  if (kind == "pods") take("finalizers");
  if (kind != "jobs") take("annotations");
  if (kind == "jobs") out.erase("labels");
  if (kind == "daemonsets") out.erase("annotations");
  if (kind == "pods") {
    const JsonObject& spec = object.at("spec").as_object();
    if (const auto* affinity = spec.if_contains("affinity")) {
      Json a = normalise(*affinity);
      out["affinity"] = a;
    }
    if (meta.at("labels").as_object().contains("controller-revision-hash")) out["tolerations"] = spec.at("tolerations");
  } else if (kind == "controllerrevisions") {
    out["data"] = object.at("data");
    out["revision"] = object.at("revision");
  } else {
    out["status"] = normalise(object.at("status"));
  }
  if (kind == "replicasets") {
    out["spec"] = normalise(object.at("spec"));
    out["status"].as_object().erase("observedGeneration");  // counts how often it was scaled, a matter of pace
  }
  return out;
}

std::map<std::string, JsonArray> Snapshot(const Json& step) {
  std::map<std::string, JsonArray> out;
  for (const auto& [kind, items] : step.as_object()) out[std::string(kind)] = items.as_array();
  return out;
}

/// One line for each field of each object, sorted (pods have names that are made up).
std::vector<std::string> Lines(const std::map<std::string, JsonArray>& objects) {
  const Normaliser normalise(objects);
  std::vector<std::string> out;
  for (const auto& [kind, items] : objects) {
    for (const Json& object : items) {
      const Json decided = Decided(kind, object, normalise);
      const std::string name =
          kind + " " + std::string(data::StringOr(decided, kind == "pods" ? "generateName" : "name"));
      for (const auto& [field, value] : decided.as_object())
        out.push_back(name + " " + std::string(field) + " " + Canonical(value));
    }
  }
  std::ranges::sort(out);
  return out;
}

void ExpectSame(const std::map<std::string, JsonArray>& real, const std::map<std::string, JsonArray>& ours) {
  const std::vector<std::string> wanted = Lines(real), have = Lines(ours);
  std::vector<std::string> missing, extra;
  std::ranges::set_difference(wanted, have, std::back_inserter(missing));
  std::ranges::set_difference(have, wanted, std::back_inserter(extra));
  EXPECT_GT(wanted.size(), 50U);
  for (const std::string& line : missing) ADD_FAILURE() << "real: " << line;
  for (const std::string& line : extra) ADD_FAILURE() << "ours: " << line;
}

/// The fixture's cluster, embedded.
class RealControllersTest : public testing::Test {
 protected:
  RealControllersTest() : cluster_(1), loops_(cluster_.control_plane(), log_, Options()) {
    loops_.Start();
    cluster_.RunFor(std::chrono::seconds(2));
  }

  static ControlLoops::Options Options() {
    ControlLoops::Options options;
    HollowPool pool = PlainPool(2);
    pool.name = "fixture-{i}";
    pool.labels = {{"fixture", "true"}, {"gpu", "true"}};
    options.pools = {pool};
    TimelineRule fails;
    fails.name = "fails-*";
    fails.settings = {{"exit-code", "1"}};
    options.timelines = {fails};
    return options;
  }

  static std::string PathOf(const Json& object) {
    const std::string kind = ToLower(data::StringOr(object, "kind"));
    return "/apis/" + std::string(data::StringOr(object, "apiVersion")) + "/namespaces/controller-fixtures/" + kind +
           "s";
  }

  std::map<std::string, JsonArray> Now() {
    std::map<std::string, JsonArray> out;
    for (const auto& [kind, path] : std::map<std::string, std::string>{{"daemonsets", "/apis/apps/v1"},
                                                                       {"deployments", "/apis/apps/v1"},
                                                                       {"replicasets", "/apis/apps/v1"},
                                                                       {"controllerrevisions", "/apis/apps/v1"},
                                                                       {"jobs", "/apis/batch/v1"},
                                                                       {"pods", "/api/v1"}}) {
      const auto list = cluster_.Call("GET", path + "/namespaces/controller-fixtures/" + kind);
      out[kind] = data::ParseJson(list.body).value().at("items").as_array();
    }
    return out;
  }

  void Change(const std::string& patch) {
    for (const char* name : {"daemonsets/plugin", "deployments/web"}) {
      const auto r = cluster_.Call("PATCH", std::string("/apis/apps/v1/namespaces/controller-fixtures/") + name, patch,
                                   "application/merge-patch+json");
      ASSERT_EQ(r.status, 200) << r.body;
    }
    cluster_.RunFor(std::chrono::minutes(2));
  }

  FakeLog log_;
  Cluster cluster_;
  ControlLoops loops_;
};

TEST_F(RealControllersTest, WriteTheSameThroughCreationUpdateAndUndo) {
  const Json fixture = ReadFixture();
  cluster_.Call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"controller-fixtures"}})");
  cluster_.RunFor(std::chrono::seconds(1));
  for (const Json& object : fixture.at("objects").as_array()) {
    const auto r = cluster_.Call("POST", PathOf(object), data::ToJson(object));
    ASSERT_EQ(r.status, 201) << r.body;
  }
  cluster_.RunFor(std::chrono::minutes(2));
  {
    SCOPED_TRACE("created");
    ExpectSame(Snapshot(fixture.at("steps").at("created")), Now());
  }
  Change(R"({"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}})");
  {
    SCOPED_TRACE("updated");
    ExpectSame(Snapshot(fixture.at("steps").at("updated")), Now());
  }
  Change(R"({"spec":{"template":{"metadata":{"annotations":null}}}})");
  SCOPED_TRACE("undone");
  ExpectSame(Snapshot(fixture.at("steps").at("undone")), Now());
}

}  // namespace
}  // namespace gpuop::sim
