// Lists, pages, selectors and watches.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

void Fill(Session& s, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    s.Quietly("POST", s.Core("configmaps"),
              R"({"metadata":{"name":"c)" + n + R"(","labels":{"parity":")" + (i % 2 == 0 ? "even" : "odd") +
                  R"(","n":")" + n + R"("}}})");
  }
}

std::string ListVersion(const json::value& list) {
  return std::string(list.at("metadata").at("resourceVersion").as_string());
}

void Pages(Session& s) {
  Fill(s, 5);
  json::value first = s.Get(s.Core("configmaps"), {{"limit", "2"}});
  const std::string token(first.at("metadata").at("continue").as_string());
  json::value second = s.Get(s.Core("configmaps"), {{"limit", "2"}, {"continue", token}});
  // What is written between two pages does not show in the later ones.
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"c9"}})");
  s.Get(s.Core("configmaps"),
        {{"limit", "2"}, {"continue", std::string(second.at("metadata").at("continue").as_string())}});
  s.Get(s.Core("configmaps"), {{"limit", "2"}, {"continue", "garbage"}});
  s.Get(s.Core("configmaps"), {{"limit", "-1"}});
  s.Get(s.Core("configmaps"), {{"limit", "many"}});
}

void LabelSelectors(Session& s) {
  Fill(s, 4);
  for (const char* selector :
       {"parity=even", "parity==odd", "parity!=even", "n in (1,2)", "n notin (1,2)", "parity", "!parity",
        "parity=even,n=2", "n in ()", "parity=", "=x", "a b", "n>1", "n<2", "bad key!=x"}) {
    s.Get(s.Core("configmaps"), {{"labelSelector", selector}});
  }
}

void FieldSelectors(Session& s) {
  Fill(s, 3);
  AllowPods(s);
  s.Quietly("POST", s.Core("pods"), PodBody("p1"));
  s.Quietly("POST", s.Core("pods"), PodBody("p2"));
  s.Get(s.Core("configmaps"), {{"fieldSelector", "metadata.name=c1"}});
  s.Get(s.Core("configmaps"), {{"fieldSelector", "metadata.name!=c1"}});
  s.Get(s.Core("configmaps"), {{"fieldSelector", "data.k=v"}});
  s.Get(s.Core("configmaps"), {{"fieldSelector", "nonsense"}});
  s.Get(s.Core("pods"), {{"fieldSelector", "spec.nodeName="}});
  s.Get(s.Core("pods"), {{"fieldSelector", "spec.nodeName=n1,status.phase!=Failed"}});
  s.Get(s.Core("pods"), {{"fieldSelector", "status.phase=Pending,metadata.name=p2"}});
  s.Get("/api/v1/nodes", {{"fieldSelector", "spec.unschedulable=true"}});
  s.Get("/api/v1/nodes", {{"fieldSelector", "status.phase=x"}});
}

void ListVersions(Session& s) {
  Fill(s, 2);
  s.Get(s.Core("configmaps"), {{"resourceVersion", "0"}});
  json::value list = s.Get(s.Core("configmaps"));
  s.Get(s.Core("configmaps"), {{"resourceVersion", ListVersion(list)}, {"resourceVersionMatch", "NotOlderThan"}});
  s.Get(s.Core("configmaps"), {{"resourceVersion", ListVersion(list)}, {"resourceVersionMatch", "Exact"}});
  s.Get(s.Core("configmaps"), {{"resourceVersionMatch", "Exact"}});
  s.Get(s.Core("configmaps"), {{"resourceVersion", "5"}, {"resourceVersionMatch", "Sometimes"}});
  s.Get(s.Core("configmaps"), {{"resourceVersion", "not-a-number"}});
}

void WatchFromAVersion(Session& s) {
  json::value list = s.Get(s.Core("configmaps"));
  s.Watch(s.Core("configmaps"), {{"resourceVersion", ListVersion(list)}}, 5, [&] {
    s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"w1"},"data":{"a":"1"}})");
    s.Quietly("PATCH", s.Core("configmaps/w1"), R"({"data":{"a":"2"}})");
    s.Quietly("PATCH", s.Core("configmaps/w1"), R"({"data":{"a":"2"}})");
    s.Quietly("DELETE", s.Core("configmaps/w1"));
    s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"w2"}})");
    s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"w3"}})");
  });
  // History is replayed from where the list stood.
  s.Watch(s.Core("configmaps"), {{"resourceVersion", ListVersion(list)}}, 3);
}

void WatchWithoutAVersion(Session& s) {
  Fill(s, 2);
  s.Watch(s.Core("configmaps"), {}, 3,
          [&] { s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"z"}})"); });
}

void WatchSelectorEdges(Session& s) {
  json::value list = s.Get(s.Core("configmaps"));
  s.Watch(s.Core("configmaps"), {{"resourceVersion", ListVersion(list)}, {"labelSelector", "on=yes"}}, 4, [&] {
    s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"e","labels":{"on":"no"}}})");
    s.Quietly("PATCH", s.Core("configmaps/e"), R"({"metadata":{"labels":{"on":"yes"}}})");
    s.Quietly("PATCH", s.Core("configmaps/e"), R"({"data":{"seen":"1"}})");
    s.Quietly("PATCH", s.Core("configmaps/e"), R"({"metadata":{"labels":{"on":"no"}}})");
    s.Quietly("PATCH", s.Core("configmaps/e"), R"({"data":{"seen":"2"}})");
    s.Quietly("PATCH", s.Core("configmaps/e"), R"({"metadata":{"labels":{"on":"yes"}}})");
  });
  s.Watch(s.Core("configmaps"), {{"resourceVersion", ListVersion(list)}, {"fieldSelector", "metadata.name=only"}}, 2,
          [&] {
            s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"other"}})");
            s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"only"}})");
            s.Quietly("DELETE", s.Core("configmaps/only"));
          });
}

void SendInitialEvents(Session& s) {
  Fill(s, 2);
  s.Watch(s.Core("configmaps"),
          {{"sendInitialEvents", "true"}, {"resourceVersionMatch", "NotOlderThan"}, {"allowWatchBookmarks", "true"}},
          3);
  s.Get(s.Core("configmaps"), {{"watch", "true"}, {"sendInitialEvents", "true"}});
}

void WatchOldVersion(Session& s) {
  s.Get(s.Core("configmaps"), {{"watch", "true"}, {"resourceVersion", "not-a-number"}});
  s.Watch(s.Core("configmaps"), {{"resourceVersion", "1"}, {"timeoutSeconds", "1"}}, 1);
}

void SingleObjectWatch(Session& s) {
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"one"}})");
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"two"}})");
  s.Watch(s.Core("configmaps"), {{"fieldSelector", "metadata.name=one"}, {"resourceVersion", "0"}}, 1);
}

void AllNamespaces(Session& s) {
  s.Quietly("POST", s.Core("configmaps"), R"({"metadata":{"name":"all","labels":{"scenario":"all-namespaces"}}})");
  s.Get("/api/v1/configmaps", {{"labelSelector", "scenario=all-namespaces"}});
  s.Post("/api/v1/configmaps", R"({"metadata":{"name":"nowhere"}})");
}

}  // namespace

std::vector<Scenario> ListAndWatchScenarios() {
  return {{"pages", Pages},
          {"label-selectors", LabelSelectors},
          {"field-selectors", FieldSelectors},
          {"list-versions", ListVersions},
          {"watch", WatchFromAVersion},
          {"watch-without-version", WatchWithoutAVersion},
          {"watch-selectors", WatchSelectorEdges},
          {"send-initial-events", SendInitialEvents},
          {"watch-old-version", WatchOldVersion},
          {"watch-one", SingleObjectWatch},
          {"all-namespaces", AllNamespaces}};
}

}  // namespace gpuop::e2e
