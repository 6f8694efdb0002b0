// Pods as processes: an API server, its loops and one machine, on real time.

#include "sim/node/machine_node.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>

#include "base/thread_executor.h"
#include "data/json.h"
#include "os/real_fs.h"
#include "sim/cluster.h"
#include "sim/controllers/control_loops.h"
#include "sim/node/devices/fake_plugin_test.h"
#include "sim/node/engine/log_file.h"
#include "sim/node/engine/machine_process.h"
#include "sim/node/machines.h"

namespace gpuop::sim::node {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kSoon = 30s;

struct MachineNodeTest : testing::Test {
  MachineNodeTest() {
    OnExecutor([&] {
      plane = std::make_unique<ControlPlane>(executor, 7);
      plane->Bootstrap();
      plane->store().Observe([this](std::string_view, const Event&) {
        const std::scoped_lock lock(mu);
        changed.notify_all();
      });
      loops = std::make_unique<ControlLoops>(*plane, log, ControlLoops::Options{});
      Machines::Options options;
      options.machines = ReadMachines({"box=t4"}).value();
      options.program = {"/proc/self/exe", kMachineApplet};
      auto made = Machines::Make(*plane, loops->caches(), log, std::move(options));
      ASSERT_TRUE(made) << made.error().text;
      machines = *std::move(made);
      loops->Start();
      machines->Start();
    });
    EXPECT_TRUE(WaitFor("/api/v1/nodes/box", "status.conditions[3].status", "True"));
    EXPECT_TRUE(WaitFor("/api/v1/namespaces/default/serviceaccounts/default", "metadata.name", "default"));
    EXPECT_TRUE(WaitFor("/api/v1/namespaces/default/configmaps/kube-root-ca.crt", "metadata.name", "kube-root-ca.crt"));
  }
  ~MachineNodeTest() override {
    OnExecutor([&] {
      machines.reset();
      loops.reset();
      plane.reset();
    });
  }

  void OnExecutor(std::function<void()> work) {
    std::promise<void> done;
    executor.Post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  data::Json Call(const std::string& method, const std::string& path, const std::string& body = "") {
    data::Json out;
    OnExecutor([&] {
      kube::ApiRequest request;
      request.method = method, request.path = path, request.body = body, request.content_type = "application/json";
      const Response response = plane->server().Handle(request, User::Admin());
      out = data::ParseJson(response.body.Join()).value_or(nullptr);
    });
    return out;
  }
  /// The value at `path` of the object, once it holds `wanted`.
  bool WaitFor(const std::string& object, const std::string& path, const std::string& wanted) {
    const auto until = std::chrono::steady_clock::now() + kSoon;
    std::string last;
    while (std::chrono::steady_clock::now() < until) {
      const data::Json now = Call("GET", object);
      const data::Json* value = data::Find(now, path);
      last = value == nullptr     ? ""
             : value->is_string() ? std::string(data::AsView(value->get_string()))
                                  : data::ToJson(*value);
      if (last.find(wanted) != std::string::npos) return true;
      std::unique_lock lock(mu);
      changed.wait_for(lock, 200ms);
    }
    ADD_FAILURE() << object << " " << path << ": is " << last << ", not " << wanted << "\n"
                  << data::ToPrettyJson(Call("GET", object));
    return false;
  }
  static std::string PathOf(const std::string& name) { return "/api/v1/namespaces/default/pods/" + name; }
  void Create(const std::string& name, const std::string& spec) {
    const data::Json made =
        Call("POST", "/api/v1/namespaces/default/pods",
             R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
    EXPECT_EQ(data::StringOr(made, "kind"), "Pod") << data::ToJson(made);
  }
  static std::string Shell(const std::string& script, const std::string& more = "") {
    return R"({"name":"main","image":"shell","command":["/bin/sh","-c",)" + data::ToJson(data::Json(script)) + "]" +
           more + "}";
  }
  std::string Log(const std::string& pod, const std::string& container = "main") {
    Result<std::string> file = std::string();
    OnExecutor([&] { file = machines->Find("box")->LogFileOf("default", pod, container, false); });
    if (!file) return file.error().text;
    std::ifstream in(*file);
    std::string out;
    for (std::string line; std::getline(in, line);)
      if (LogRecord r; ParseLogRecord(line, r)) out.append(r.text).append("\n");
    return out;
  }
  void WaitForLog(const std::string& pod, const std::string& wanted) {
    const auto until = std::chrono::steady_clock::now() + kSoon;
    while (Log(pod) != wanted && std::chrono::steady_clock::now() < until) {
      std::unique_lock lock(mu);
      changed.wait_for(lock, 50ms);
    }
    EXPECT_EQ(Log(pod), wanted);
  }
  std::string Events(const std::string& pod) {
    const data::Json list = Call("GET", "/api/v1/namespaces/default/events");
    std::string out;
    for (const data::Json& e : *data::GetArray(list, "items"))
      if (data::StringOr(e, "involvedObject.name") == pod)
        out.append(data::StringOr(e, "reason")).append(": ").append(data::StringOr(e, "message")).append("\n");
    return out;
  }

  FakeLog log;
  std::mutex mu;
  std::condition_variable changed;
  std::unique_ptr<ControlPlane> plane;
  std::unique_ptr<ControlLoops> loops;
  std::unique_ptr<Machines> machines;
  ThreadExecutor executor{1};
};

TEST_F(MachineNodeTest, APodRunsItsContainersToTheirEnd) {
  Call("POST", "/api/v1/namespaces/default/configmaps",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cfg"},"data":{"key":"from the map"}})");
  Create(
      "job",
      R"({"restartPolicy":"Never","serviceAccountName":"default","volumes":[{"name":"c","configMap":{"name":"cfg"}},{"name":"e","emptyDir":{}}],
    "initContainers":[)" +
          Shell("cat /c/key > /e/f", R"(,"volumeMounts":[{"name":"c","mountPath":"/c"},{"name":"e","mountPath":"/e"}])")
              .replace(9, 4, "init") +
          R"(],
    "containers":[)" +
          Shell("cat /e/f; echo; cat /etc/hostname; wc -c < /var/run/secrets/kubernetes.io/serviceaccount/token | grep "
                "-c ...; echo goodbye > /dev/termination-log; exit 3",
                R"(,"volumeMounts":[{"name":"e","mountPath":"/e"}])") +
          "]}");
  ASSERT_TRUE(WaitFor(PathOf("job"), "status.phase", "Failed"));
  const data::Json pod = Call("GET", PathOf("job"));
  EXPECT_EQ(data::IntOr(pod, "status.containerStatuses[0].state.terminated.exitCode"), 3);
  EXPECT_EQ(data::StringOr(pod, "status.containerStatuses[0].state.terminated.message"), "goodbye\n");
  EXPECT_EQ(data::StringOr(pod, "status.initContainerStatuses[0].state.terminated.reason"), "Completed");
  EXPECT_EQ(Log("job"), "from the map\njob\n1\n");
  EXPECT_THAT(Events("job"), testing::AllOf(HasSubstr("Pulled:"), HasSubstr("Created: Container created"),
                                            HasSubstr("Started: Container started")));
}

TEST_F(MachineNodeTest, WhatCannotStartSaysWhy) {
  Create("absent", R"({"containers":[{"name":"main","image":"nope"}]})");
  Create("noconfig", R"({"containers":[)" + Shell("true", R"(,"envFrom":[{"configMapRef":{"name":"none"}}])") + "]}");
  Create("noprogram",
         R"({"restartPolicy":"Never","containers":[{"name":"main","image":"shell","command":["no-such-program"]}]})");
  Create("nofolder", R"({"volumes":[{"name":"h","hostPath":{"path":"/not/there","type":"Directory"}}],"containers":[)" +
                         Shell("true", R"(,"volumeMounts":[{"name":"h","mountPath":"/h"}])") + "]}");
  EXPECT_TRUE(WaitFor(PathOf("absent"), "status.containerStatuses[0].state.waiting.reason", "ImagePullBackOff"));
  EXPECT_TRUE(
      WaitFor(PathOf("noconfig"), "status.containerStatuses[0].state.waiting.message", "configmap \"none\" not found"));
  EXPECT_TRUE(WaitFor(PathOf("noprogram"), "status.containerStatuses[0].state.terminated.reason", "StartError"));
  EXPECT_TRUE(WaitFor("/api/v1/namespaces/default/events", "items",
                      "hostPath type check failed: /not/there is not a directory"));
  EXPECT_THAT(
      Events("absent"),
      HasSubstr(
          "Failed: Failed to pull image \"nope\": rpc error: code = NotFound desc = failed to pull and unpack image"));
}

TEST_F(MachineNodeTest, ARuntimeClassThatTheEngineDoesNotKnowHoldsThePodUpUntilItDoes) {
  Call("POST", "/apis/node.k8s.io/v1/runtimeclasses",
       R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"nvidia"},"handler":"nvidia"})");
  Create("gpu", R"({"runtimeClassName":"nvidia","containers":[)" + Shell("sleep 100") + "]}");
  EXPECT_TRUE(WaitFor("/api/v1/namespaces/default/events", "items", "no runtime for \\\"nvidia\\\" is configured"));
  OnExecutor([&] {
    const std::string root = machines->Find("box")->root();
    std::filesystem::create_directories(root + "/etc/containerd");
    std::ofstream(root + "/etc/containerd/config.toml")
        << "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]\nruntime_type = "
           "'io.containerd.runc.v2'\n";
    EXPECT_TRUE(machines->Do("box", {"engine-restart"}));
  });
  EXPECT_TRUE(WaitFor(PathOf("gpu"), "status.phase", "Running"));
}

TEST_F(MachineNodeTest, ProbesDecideAboutReadinessAndRestarts) {
  Create(
      "probed",
      R"({"containers":[)" +
          Shell(
              "touch /tmp/alive; sleep 2; touch /tmp/ready; sleep 2; rm /tmp/alive; sleep 100",
              R"(,"readinessProbe":{"periodSeconds":1,"exec":{"command":["cat","/tmp/ready"]}},"livenessProbe":{"periodSeconds":1,"failureThreshold":1,"terminationGracePeriodSeconds":1,"initialDelaySeconds":1,"exec":{"command":["cat","/tmp/alive"]}})") +
          "]}");
  EXPECT_TRUE(WaitFor(PathOf("probed"), "status.phase", "Running"));
  EXPECT_TRUE(WaitFor(PathOf("probed"), "status.containerStatuses[0].ready", "true"));
  EXPECT_TRUE(WaitFor(PathOf("probed"), "status.containerStatuses[0].restartCount", "1"));
  EXPECT_THAT(Events("probed"),
              testing::AllOf(HasSubstr("Unhealthy: Liveness probe failed: cat: /tmp/alive"),
                             HasSubstr("Killing: Container main failed liveness probe, will be restarted")));
}

TEST_F(MachineNodeTest, AProbeMayTalkMoreThanAnybodyListensTo) {
  Create("chatty", R"({"containers":[)" +
                       Shell("sleep 1000", R"(,"readinessProbe":{"exec":{"command":["seq","100000"]}})") + "]}");
  EXPECT_TRUE(WaitFor(PathOf("chatty"), "status.containerStatuses[0].ready", "true"));
  Create("wordy",
         R"({"containers":[)" +
             Shell("sleep 1000", R"(,"readinessProbe":{"exec":{"command":["sh","-c","seq 100000; exit 1"]}})") + "]}");
  EXPECT_TRUE(WaitFor("/api/v1/namespaces/default/events", "items", "Readiness probe failed: 1\\n2\\n3"));
}

TEST_F(MachineNodeTest, FoldersOfSubPathsAreMadeAlsoWhenVariablesNameThem) {
  Create("sub",
         R"x({"volumes":[{"name":"e","emptyDir":{}},{"name":"h","hostPath":{"path":"/var/lib"}}],"containers":[)x" +
             Shell("echo a > /plain/f; echo b > /named/f; cat /all/one/f /all/pod-sub/f; ls /h/deep; sleep 1000",
                   R"x(,"env":[{"name":"WHO","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
    "volumeMounts":[{"name":"e","mountPath":"/all"},{"name":"e","mountPath":"/plain","subPath":"one"},
                    {"name":"e","mountPath":"/named","subPathExpr":"pod-$(WHO)"},
                    {"name":"h","mountPath":"/here","subPathExpr":"deep/$(WHO)"},{"name":"h","mountPath":"/h"}])x") +
             "]}");
  ASSERT_TRUE(WaitFor(PathOf("sub"), "status.phase", "Running"));
  WaitForLog("sub", "a\nb\nsub\n");
}

TEST_F(MachineNodeTest, ADeletionGivesTheProgramItsTimeAndThenThePodIsGone) {
  Create("polite", R"({"terminationGracePeriodSeconds":20,"containers":[)" +
                       Shell("trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.1; done") + "]}");
  Create("deaf", R"({"terminationGracePeriodSeconds":1,"containers":[)" + Shell("sleep 100") + "]}");
  ASSERT_TRUE(WaitFor(PathOf("polite"), "status.phase", "Running"));
  ASSERT_TRUE(WaitFor(PathOf("deaf"), "status.phase", "Running"));
  Call("DELETE", PathOf("polite"));
  Call("DELETE", PathOf("deaf"));
  EXPECT_TRUE(WaitFor(PathOf("polite"), "reason", "NotFound"));
  EXPECT_TRUE(WaitFor(PathOf("deaf"), "reason", "NotFound"));
}

TEST_F(MachineNodeTest, ARebootEndsEverythingAndStartsItAgain) {
  Create("web", R"({"containers":[)" + Shell("sleep 1000") + "]}");
  ASSERT_TRUE(WaitFor(PathOf("web"), "status.phase", "Running"));
  const std::string boot(data::StringOr(Call("GET", "/api/v1/nodes/box"), "status.nodeInfo.bootID"));
  const std::string root = machines->Find("box")->root();
  std::filesystem::create_directories(root + "/run/nvidia/validations");
  std::ofstream(root + "/run/nvidia/validations/driver-ready") << "IS_HOST_DRIVER=true";
  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"reboot"})); });
  EXPECT_FALSE(std::filesystem::exists(root + "/run/nvidia")) << "/run is in memory";
  EXPECT_TRUE(WaitFor(PathOf("web"), "status.containerStatuses[0].restartCount", "1"));
  EXPECT_TRUE(WaitFor(PathOf("web"), "status.containerStatuses[0].state.running.startedAt", "20"));
  EXPECT_NE(data::StringOr(Call("GET", "/api/v1/nodes/box"), "status.nodeInfo.bootID"), boot);
}

TEST_F(MachineNodeTest, TheDriversFilesGoAndComeForPodsThatHoldThem) {
  const std::string root = machines->Find("box")->root(), folder = "/usr/lib/x86_64-linux-gnu";
  std::string library;
  for (const auto& file : std::filesystem::directory_iterator(root + folder))
    if (file.path().filename().string().starts_with("libnvidia-nvvm.so.") && !file.is_symlink())
      library = folder + "/" + file.path().filename().string();
  ASSERT_FALSE(library.empty());
  const std::string at = "/host" + library, link = "/host" + folder + "/libnvidia-nvvm.so.4";
  const std::string module = "/host/usr/lib/modules/*/updates/dkms/nvidia.ko";
  const std::string script = "exec 3<" + at + "; ls " + module + " >/dev/null && echo there; while [ -e " + at +
                             " ] || [ -L " + link + " ]; do sleep 0.1; done; ls " + module +
                             " 2>/dev/null; cat <&3 >/tmp/was; echo gone; until cmp -s " + link + " /tmp/was && ls " +
                             module + " >/dev/null 2>&1; do sleep 0.1; done; echo back; sleep 1000";
  Create(
      "holder",
      R"({"volumes":[{"name":"h","hostPath":{"path":"/"}}],"containers":[)" +
          Shell(script, R"(,"volumeMounts":[{"name":"h","mountPath":"/host","mountPropagation":"HostToContainer"}])") +
          "]}");
  WaitForLog("holder", "there\n");
  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"driver-missing"})); });
  WaitForLog("holder", "there\ngone\n");
  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"clear", "driver-missing"})); });
  WaitForLog("holder", "there\ngone\nback\n");
  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"reboot"})); });
  WaitForLog("holder", "there\n");
  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"driver-missing"})); });
  WaitForLog("holder", "there\ngone\n");
}

TEST_F(MachineNodeTest, DevicesReachContainersAndARestartedKubeletRefusesWhoAsksTooEarly) {
  const std::string root = machines->Find("box")->root();
  std::filesystem::create_directories(root + "/etc/cdi");
  std::ofstream(root + "/etc/cdi/gpu.yaml") << R"(cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: a
  containerEdits:
    deviceNodes: [{path: /dev/nvidia0}]
    mounts: [{hostPath: /etc/os-release, containerPath: /opt/from-cdi, options: [ro, nosuid, nodev, bind]}]
containerEdits:
  env: [FROM_SPEC=yes]
)";
  // containerd 1.7, which this machine has, injects CDI devices only when told so.
  std::ofstream(root + "/etc/containerd/config.toml")
      << "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = true\n";
  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"engine-restart"})); });
  ThreadExecutor workers(2);
  FakePlugin plugin(root + "/var/lib/kubelet", workers);
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  ASSERT_TRUE(WaitFor("/api/v1/nodes/box", "status.allocatable", R"("nvidia.com/gpu":"2")"));
  const std::string limits = R"(,"resources":{"limits":{"nvidia.com/gpu":"1"}})";
  Create("gpu", R"({"containers":[)" +
                    Shell("echo $IDS $FROM_SPEC; ls /dev/nvidia*; ls /opt/from-cdi; sleep 1000", limits) + "]}");
  ASSERT_TRUE(WaitFor(PathOf("gpu"), "status.phase", "Running"));
  WaitForLog("gpu", "a; yes\n/dev/nvidia0\n/opt/from-cdi\n");
  // The second device is in no CDI specification.
  Create("cdi", R"({"containers":[)" + Shell("true", limits) + "]}");
  EXPECT_TRUE(WaitFor(PathOf("cdi"), "status.containerStatuses[0].state.waiting.message",
                      "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=b"));
  EXPECT_TRUE(WaitFor(PathOf("cdi"), "status.containerStatuses[0].state.waiting.reason", "CreateContainerError"));
  Call("DELETE", PathOf("cdi"));
  ASSERT_TRUE(WaitFor(PathOf("cdi"), "reason", "NotFound"));

  OnExecutor([&] { EXPECT_TRUE(machines->Do("box", {"kubelet-restart"})); });
  Create("early", R"({"nodeName":"box","containers":[)" + Shell("true", limits) + "]}");
  EXPECT_TRUE(WaitFor(PathOf("early"), "status.reason", "UnexpectedAdmissionError"));
  EXPECT_EQ(data::StringOr(Call("GET", PathOf("early")), "status.message"),
            "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices "
            "nvidia.com/gpu, which is unexpected");
  EXPECT_TRUE(WaitFor("/api/v1/nodes/box", "status.allocatable", R"("nvidia.com/gpu":"0")"));
  EXPECT_EQ(data::IntOr(Call("GET", PathOf("gpu")), "status.containerStatuses[0].restartCount"), 0);
  plugin.Stop();
  plugin.Serve("a b");
  ASSERT_TRUE(plugin.Register());
  EXPECT_TRUE(WaitFor("/api/v1/nodes/box", "status.allocatable", R"("nvidia.com/gpu":"2")"));
}

TEST(ScratchTest, WhatAKilledClusterLeftInMemoryGoesWithTheNextOne) {
  auto mine = Scratch::Make();
  ASSERT_TRUE(mine) << mine.error().text;
  if (!mine->path().starts_with("/dev/shm/")) GTEST_SKIP() << "no room in memory here";
  const os::TempFolder left = *os::TempFolder::Make("/dev/shm"), held = *os::TempFolder::Make("/dev/shm");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const os::TempFolder* folder : {&left, &held}) {
    std::ofstream(folder->path() + "/.cluster") << "";
    std::filesystem::last_write_time(folder->path() + "/.cluster", old);
  }
  const auto inside = os::RealFs::Open(held.path());
  const auto lock = (*inside)->Lock("/.cluster");
  ASSERT_TRUE(lock);
  ASSERT_TRUE(Scratch::Make());
  EXPECT_FALSE(std::filesystem::exists(left.path()));
  EXPECT_TRUE(std::filesystem::exists(held.path()));
  EXPECT_TRUE(std::filesystem::exists(mine->path()));
}

TEST_F(MachineNodeTest, WhoeverSharesTheProcessesOfItsPodSeesThem) {
  Create(
      "shared",
      R"({"shareProcessNamespace":true,"restartPolicy":"Never","containers":[)" +
          Shell("exec -a visible sleep 1000 2>/dev/null || exec sleep 1000") +
          R"(,{"name":"looker","image":"shell","command":["/bin/sh","-c","for i in $(seq 100); do cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q 'sleep 1000' && echo found && exit 0; sleep 0.1; done; exit 1"]}]})");
  EXPECT_TRUE(WaitFor(PathOf("shared"), "status.containerStatuses[1].state.terminated.exitCode", "0"));
}

}  // namespace
}  // namespace gpuop::sim::node
