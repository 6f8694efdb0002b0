#include "sim/controllers/control_loops.h"

#include <gtest/gtest.h>

#include "base/testing/sanitized.h"
#include "data/json.h"

namespace gpuop::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// A cluster with its loops and a few questions to ask of it.
class Bed {
 public:
  explicit Bed(std::uint64_t seed, std::int64_t nodes = 3)
      : cluster(seed), loops(cluster.control_plane(), log, Options(seed, nodes)) {
    loops.Start();
    cluster.RunFor(seconds(2));
  }

  static ControlLoops::Options Options(std::uint64_t seed, std::int64_t nodes) {
    ControlLoops::Options o;
    HollowPool pool = PlainPool(nodes);
    pool.name = "n{i}";
    pool.labels = {{"gpu", "true"}};
    pool.capacity = {{"nvidia.com/gpu", "8"}};
    o.pools = {pool};
    o.seed = seed;
    return o;
  }

  data::Json Get(const std::string& path) {
    const auto response = cluster.Call("GET", path);
    return response.status == 200 ? data::ParseJson(response.body).value() : data::Json();
  }
  void Create(const std::string& path, const std::string& body) {
    const auto response = cluster.Call("POST", path, body);
    ASSERT_EQ(response.status, 201) << response.body;
  }
  void Merge(const std::string& path, const std::string& body) {
    const auto response = cluster.Call("PATCH", path, body, "application/merge-patch+json");
    ASSERT_EQ(response.status, 200) << response.body;
  }
  std::size_t Count(const std::string& path) {
    const data::Json list = Get(path);
    const auto* items = data::GetArray(list, "items");
    return items == nullptr ? 999 : items->size();
  }
  std::int64_t Number(const std::string& path, std::string_view field) { return data::IntOr(Get(path), field, 0); }
  std::string Text(const std::string& path, std::string_view field) {
    const data::Json object = Get(path);
    return std::string(data::StringOr(object, field));
  }
  /// Looks a few hundred times.
  bool Until(const std::function<bool()>& done, Duration limit = minutes(5)) {
    for (const TimePoint end = cluster.executor().Now() + limit; cluster.executor().Now() < end;) {
      if (done()) return true;
      cluster.RunFor(limit / 600);
    }
    return done();
  }
  std::size_t Running() {
    const data::Json list = Get("/api/v1/namespaces/default/pods");
    return static_cast<std::size_t>(std::ranges::count_if(*data::GetArray(list, "items"), [](const data::Json& pod) {
      return data::StringOr(pod, "status.phase") == "Running" &&
             data::Find(pod, "metadata.deletionTimestamp") == nullptr;
    }));
  }
  /// What a person would look at first when something hangs.
  std::string Story() {
    std::string out;
    for (const char* path :
         {"/apis/apps/v1/namespaces/default/daemonsets/plugin", "/apis/apps/v1/namespaces/default/deployments/web",
          "/apis/batch/v1/namespaces/default/jobs/once"})
      out += data::ToJson(*data::Find(Get(path), "status")) + "\n";
    const data::Json pods = Get("/api/v1/namespaces/default/pods");
    for (const data::Json& pod : *data::GetArray(pods, "items"))
      out += data::ToJson(*data::Find(pod, "metadata.name")) + " " + data::ToJson(*data::Find(pod, "status")) + "\n";
    for (const std::string& line : log.Lines())
      if (!line.starts_with("INFO")) out += line + "\n";
    return out;
  }

  FakeLog log;
  Cluster cluster;
  ControlLoops loops;
};

const std::string kApps = "/apis/apps/v1/namespaces/default/";

constexpr const char* kDaemonSet = R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"plugin"},"spec":{
  "selector":{"matchLabels":{"app":"plugin"}},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1}},
  "template":{"metadata":{"labels":{"app":"plugin"}},"spec":{"nodeSelector":{"gpu":"true"},"schedulerName":"default-scheduler",
    "containers":[{"name":"main","image":"plugin:1"}]}}}})";

constexpr const char* kDeployment =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3,
  "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"schedulerName":"default-scheduler",
    "containers":[{"name":"main","image":"web:1","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}})";

constexpr const char* kJob =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"once"},"spec":{"completions":4,"parallelism":2,
  "template":{"metadata":{"labels":{"job":"once"}},"spec":{"restartPolicy":"Never",
    "schedulerName":"default-scheduler","containers":[{"name":"main","image":"job:1"}]}}}})";

TEST(ControlLoopsTest, ADaemonSetRunsOnePodOnEveryNode) {
  Bed bed(1);
  bed.Create(kApps + "daemonsets", kDaemonSet);
  EXPECT_TRUE(bed.Until([&] { return bed.Number(kApps + "daemonsets/plugin", "status.numberAvailable") == 3; }));
  EXPECT_EQ(bed.Number(kApps + "daemonsets/plugin", "status.updatedNumberScheduled"), 3);
}

TEST(ControlLoopsTest, ADeploymentBecomesAvailable) {
  Bed bed(1);
  bed.Create(kApps + "deployments", kDeployment);
  EXPECT_TRUE(bed.Until([&] { return bed.Number(kApps + "deployments/web", "status.availableReplicas") == 3; }));
}

TEST(ControlLoopsTest, AJobCompletes) {
  Bed bed(1);
  bed.Create("/apis/batch/v1/namespaces/default/jobs", kJob);
  EXPECT_TRUE(
      bed.Until([&] { return bed.Number("/apis/batch/v1/namespaces/default/jobs/once", "status.succeeded") == 4; }));
  EXPECT_TRUE(bed.Until([&] {
    return bed.Text("/apis/batch/v1/namespaces/default/jobs/once", "status.conditions[1].type") == "Complete";
  }));
}

TEST(ControlLoopsTest, DeletingADeploymentTakesItsPodsAlong) {
  Bed bed(1);
  bed.Create(kApps + "deployments", kDeployment);
  ASSERT_TRUE(bed.Until([&] { return bed.Number(kApps + "deployments/web", "status.availableReplicas") == 3; }));
  EXPECT_EQ(bed.cluster.Call("DELETE", kApps + "deployments/web").status, 200);
  EXPECT_TRUE(bed.Until([&] { return bed.Count("/api/v1/namespaces/default/pods") == 0; }));
  EXPECT_EQ(bed.Count(kApps + "replicasets"), 0U);
}

TEST(ControlLoopsTest, ForegroundDeletionKeepsTheOwnerUntilItsPodsAreGone) {
  Bed bed(1);
  bed.Create(kApps + "daemonsets", kDaemonSet);
  ASSERT_TRUE(bed.Until([&] { return bed.Number(kApps + "daemonsets/plugin", "status.numberAvailable") == 3; }));
  bed.cluster.Call("DELETE", kApps + "daemonsets/plugin", R"({"propagationPolicy":"Foreground"})");
  const auto step_by_step = [&](const std::function<bool()>& done) {
    return bed.cluster.executor().RunUntil(done, minutes(5));
  };
  EXPECT_TRUE(step_by_step([&] {
    const bool there = bed.cluster.Call("GET", kApps + "daemonsets/plugin").status == 200;
    EXPECT_TRUE(there || bed.Count("/api/v1/namespaces/default/pods") == 0);
    return !there;
  }));
}

TEST(ControlLoopsTest, ADeploymentMadeAnewTakesItsOldReplicaSetIn) {
  Bed bed(11);
  bed.Create(kApps + "deployments", kDeployment);
  ASSERT_TRUE(bed.Until([&] { return bed.Number(kApps + "deployments/web", "status.availableReplicas") == 3; }));
  ASSERT_EQ(bed.cluster.Call("DELETE", kApps + "deployments/web", R"({"propagationPolicy":"Orphan"})").status, 200);
  ASSERT_TRUE(bed.Until([&] { return bed.Count(kApps + "deployments") == 0; }));
  bed.cluster.RunFor(seconds(5));
  ASSERT_EQ(bed.Count(kApps + "replicasets"), 1u);
  bed.Create(kApps + "deployments", kDeployment);
  EXPECT_TRUE(bed.Until([&] { return bed.Number(kApps + "deployments/web", "status.availableReplicas") == 3; }))
      << bed.Story();
  EXPECT_EQ(bed.Count(kApps + "replicasets"), 1u);
  const data::Json sets = bed.Get(kApps + "replicasets");
  EXPECT_EQ(data::StringOr(sets, "items[0].metadata.ownerReferences[0].uid"),
            bed.Text(kApps + "deployments/web", "metadata.uid"));
}

TEST(ControlLoopsTest, OrphansStayWhenTheirOwnerGoesAlone) {
  Bed bed(1);
  bed.Create(kApps + "daemonsets", kDaemonSet);
  ASSERT_TRUE(bed.Until([&] { return bed.Number(kApps + "daemonsets/plugin", "status.numberAvailable") == 3; }));
  const auto deleted = bed.cluster.Call("DELETE", kApps + "daemonsets/plugin", R"({"propagationPolicy":"Orphan"})");
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_TRUE(bed.Until([&] { return bed.cluster.Call("GET", kApps + "daemonsets/plugin").status == 404; }));
  bed.cluster.RunFor(minutes(1));
  const data::Json pods = bed.Get("/api/v1/namespaces/default/pods");
  ASSERT_EQ(data::GetArray(pods, "items")->size(), 3U) << deleted.body;
  EXPECT_EQ(data::Find(pods, "items[0].metadata.ownerReferences[0]"), nullptr);
  // And a set that comes back adopts them.
  bed.Create(kApps + "daemonsets", kDaemonSet);
  EXPECT_TRUE(bed.Until([&] { return bed.Number(kApps + "daemonsets/plugin", "status.numberAvailable") == 3; }));
  EXPECT_EQ(bed.Count("/api/v1/namespaces/default/pods"), 3U);
}

TEST(ControlLoopsTest, CustomResourcesDefinedLaterAreCollectedToo) {
  Bed bed(6);
  bed.Create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", R"({"metadata":{"name":"toys.test.example"},
    "spec":{"group":"test.example","scope":"Namespaced","names":{"plural":"toys","singular":"toy","kind":"Toy","listKind":"ToyList"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  const std::string toys = "/apis/test.example/v1/namespaces/default/toys";
  ASSERT_TRUE(bed.Until([&] { return bed.cluster.Call("GET", toys).status == 200; }));
  const auto owned_by = [&](const std::string& name) {
    return R"("ownerReferences":[{"apiVersion":"test.example/v1","kind":"Toy","name":")" + name + R"(","uid":")" +
           bed.Text(toys + "/" + name, "metadata.uid") + R"("}])";
  };
  const auto toy = [](const std::string& metadata) {
    return R"({"apiVersion":"test.example/v1","kind":"Toy","metadata":{)" + metadata + "}}";
  };
  bed.Create(toys, toy(R"("name":"box")"));
  bed.Create(toys, toy(R"("name":"car",)" + owned_by("box")));
  bed.Create("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"wheel",)" + owned_by("car") + "}}");
  bed.cluster.RunFor(seconds(5));
  ASSERT_EQ(bed.Count(toys), 2u);
  ASSERT_EQ(bed.cluster.Call("DELETE", toys + "/box").status, 200);
  EXPECT_TRUE(bed.Until([&] { return bed.Count(toys) == 0; })) << bed.Story();
  EXPECT_TRUE(
      bed.Until([&] { return bed.cluster.Call("GET", "/api/v1/namespaces/default/configmaps/wheel").status == 404; }));
}

TEST(ControlLoopsTest, ANamespaceIsFurnishedAndLaterEmptied) {
  Bed bed(1);
  bed.Create("/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  EXPECT_TRUE(bed.Until([&] { return bed.Count("/api/v1/namespaces/team/serviceaccounts") == 1; }));
  EXPECT_TRUE(bed.Until([&] { return bed.Count("/api/v1/namespaces/team/configmaps") == 1; }));
  bed.Create("/apis/apps/v1/namespaces/team/deployments", kDeployment);
  ASSERT_TRUE(bed.Until(
      [&] { return bed.Number("/apis/apps/v1/namespaces/team/deployments/web", "status.availableReplicas") == 3; }));
  bed.cluster.Call("DELETE", "/api/v1/namespaces/team");
  EXPECT_TRUE(bed.Until([&] { return bed.cluster.Call("GET", "/api/v1/namespaces/team").status == 404; }));
  EXPECT_EQ(bed.Count("/api/v1/namespaces/team/pods"), 0U);
}

TEST(ControlLoopsTest, ASilentNodeIsTaintedItsPodsLeaveAndItComesBack) {
  Bed bed(1);
  bed.Create(kApps + "deployments", kDeployment);
  ASSERT_TRUE(bed.Until([&] { return bed.Number(kApps + "deployments/web", "status.availableReplicas") == 3; }));
  ASSERT_TRUE(bed.loops.kubelets().SetPartitioned("n0", true));
  EXPECT_TRUE(bed.Until([&] { return bed.Text("/api/v1/nodes/n0", "spec.taints[1].effect") == "NoExecute"; }));
  EXPECT_EQ(bed.Text("/api/v1/nodes/n0", "spec.taints[0].key"), "node.kubernetes.io/unreachable");
  EXPECT_EQ(bed.Text("/api/v1/nodes/n0", "status.conditions[3].status"), "Unknown");
  EXPECT_TRUE(
      bed.Until([&] { return bed.Number(kApps + "deployments/web", "status.availableReplicas") == 3; }, minutes(10)));
  ASSERT_TRUE(bed.loops.kubelets().SetPartitioned("n0", false));
  EXPECT_TRUE(bed.Until([&] { return data::Find(bed.Get("/api/v1/nodes/n0"), "spec.taints") == nullptr; }));
}

TEST(ControlLoopsTest, ANodeThatSpokeWhileNobodyCouldListenIsStillWatchedOver) {
  Bed bed(1);
  ASSERT_TRUE(bed.loops.kubelets().SetPartitioned("n0", true));
  bed.cluster.RunFor(seconds(30));
  const data::Json before = bed.Get("/api/v1/nodes/n0");
  Faults& faults = bed.cluster.faults();
  for (const char* verb : {"list", "watch"}) {
    FaultRule deaf;
    deaf.verb = verb;
    deaf.resource = "nodes";
    deaf.code = 503;
    faults.Add(deaf);
  }
  bed.cluster.server().DropWatches();
  ASSERT_TRUE(bed.Until([&] { return bed.Text("/api/v1/nodes/n0", "status.conditions[3].status") == "Unknown"; }));
  // The kubelet beats once, and what the controller hears next is that nothing has changed.
  data::Json conditions = *data::Find(before, "status.conditions");
  for (data::Json& c : conditions.as_array()) c.as_object()["lastHeartbeatTime"] = "2100-01-01T00:00:00Z";
  bed.Merge("/api/v1/nodes/n0/status", R"({"status":{"conditions":)" + data::ToJson(conditions) + "}}");
  bed.cluster.store().Compact(bed.cluster.store().revision());
  faults.Clear();
  EXPECT_TRUE(bed.Until([&] { return bed.Text("/api/v1/nodes/n0", "spec.taints[1].effect") == "NoExecute"; }));
}

/// A DaemonSet and a Deployment with a rollout in the middle of things, and a Job.
void Busy(Bed& bed) {
  bed.Create(kApps + "daemonsets", kDaemonSet);
  bed.Create(kApps + "deployments", kDeployment);
  bed.Create("/apis/batch/v1/namespaces/default/jobs", kJob);
  bed.cluster.RunFor(seconds(2));
  bed.Merge(kApps + "deployments/web", R"({"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}})");
  bed.Merge(kApps + "daemonsets/plugin", R"({"spec":{"template":{"metadata":{"annotations":{"v":"2"}}}}})");
}

bool IsDone(Bed& bed) {
  const data::Json d = bed.Get(kApps + "deployments/web"), s = bed.Get(kApps + "daemonsets/plugin");
  return data::IntOr(d, "status.updatedReplicas") == 3 && data::IntOr(d, "status.availableReplicas") == 3 &&
         data::IntOr(d, "status.replicas") == 3 && data::IntOr(s, "status.updatedNumberScheduled") == 3 &&
         data::IntOr(s, "status.numberAvailable") == 3 && data::IntOr(s, "status.observedGeneration") == 2 &&
         bed.Number("/apis/batch/v1/namespaces/default/jobs/once", "status.succeeded") == 4 && bed.Running() == 3 + 3;
}

TEST(ControlLoopsTest, TheSameSeedGivesTheSameRun) {
  std::set<std::uint64_t> hashes;
  constexpr std::uint64_t kSeeds = Repetitions(200);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::uint64_t first = 0;
    for (int run = 0; run < 2; ++run) {
      Bed bed(seed);
      Busy(bed);
      bed.cluster.RunFor(seconds(8));
      const std::uint64_t hash = bed.cluster.executor().TraceHash();
      if (run == 0) first = hash;
      ASSERT_EQ(hash, first) << "seed " << seed;
    }
    hashes.insert(first);
  }
  EXPECT_GT(hashes.size(), kSeeds * 3 / 4) << "seeds must matter";
}

TEST(ControlLoopsTest, ARolloutBesideAJobComesToItsEnd) {
  Bed bed(1);
  Busy(bed);
  EXPECT_TRUE(bed.Until([&] { return IsDone(bed); })) << bed.Story();
}

TEST(ControlLoopsTest, EverythingConvergesThroughDroppedWatchesConflictsAndLostHistory) {
  for (std::uint64_t seed = 1; seed <= Repetitions(60); ++seed) {
    Bed bed(seed);
    Faults& faults = bed.cluster.faults();
    faults.AddConflictStorm("", "", 0.2, {});
    FaultRule failing_create;
    failing_create.verb = "create";
    failing_create.code = 500;
    failing_create.probability = 0.1;
    faults.Add(failing_create);
    FaultRule busy_list;
    busy_list.verb = "list";
    busy_list.code = 503;
    busy_list.retry_after_seconds = 1;
    busy_list.probability = 0.2;
    faults.Add(busy_list);
    for (int i = 1; i < 40; ++i) {
      bed.cluster.executor().PostAfter(seconds(i), [&bed] { bed.cluster.server().DropWatches(); });
      bed.cluster.executor().PostAfter(seconds(3 * i),
                                       [&bed] { bed.cluster.store().Compact(bed.cluster.store().revision()); });
    }
    bed.cluster.executor().PostAfter(minutes(3), [&faults] { faults.Clear(); });
    Busy(bed);
    ASSERT_TRUE(bed.Until([&] { return IsDone(bed); }, std::chrono::hours(1))) << "seed " << seed << "\n"
                                                                               << bed.Story();
    EXPECT_GT(faults.struck(), 0U);
    const data::Json set = bed.Get(kApps + "daemonsets/plugin");
    EXPECT_EQ(data::IntOr(set, "status.numberUnavailable"), 0);
  }
}

}  // namespace
}  // namespace gpuop::sim
