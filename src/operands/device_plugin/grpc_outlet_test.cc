// A resource's server and a kubelet, on real sockets.
#include "operands/device_plugin/grpc_outlet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>

#include "base/thread_executor.h"
#include "kube/kubelet/device_plugin.pb.h"
#include "net/grpc/client.h"
#include "operands/device_plugin/testing/profiles.h"
#include "os/real_fs.h"
#include "os/temp_folder.h"

namespace gpuop::operands::device_plugin {
namespace {

namespace api = kube::deviceplugin;
using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

constexpr auto kSoon = 20s;

/// Takes registrations, and watches lists when told to.
class Kubelet {
 public:
  explicit Kubelet(std::string folder) : folder_(std::move(folder)) {}
  ~Kubelet() { Stop(); }

  void Start(Result<std::string> answer = std::string()) {
    net::GrpcMethods methods;
    methods["/v1beta1.Registration/Register"] = net::GrpcUnary([this, answer](const std::string& bytes, auto) {
      api::RegisterRequest request;
      request.ParseFromString(bytes);
      Lock l(mu_);
      seen_.push_back(std::move(request));
      changed_.notify_all();
      return answer;
    });
    server_ = net::GrpcServer::Start({.path = folder_ + "/kubelet.sock"}, std::move(methods), executor_).value();
  }
  void Stop() {
    watch_.request_stop();
    watcher_ = {};
    server_.reset();
  }
  /// Waits until it was registered with `count` times; the last request.
  std::optional<api::RegisterRequest> WaitFor(std::size_t count) {
    Lock l(mu_);
    const bool done = changed_.wait_for(mu_, kSoon, [&]() REQUIRES(mu_) { return seen_.size() >= count; });
    return done ? std::optional(seen_.back()) : std::nullopt;
  }
  std::size_t registrations() {
    Lock l(mu_);
    return seen_.size();
  }
  /// Begins to watch the list at a socket, as the kubelet does.
  void Watch(const std::string& socket) {
    watch_ = std::stop_source();
    watcher_ = std::jthread([this, socket, stop = watch_.get_token()] {
      static_cast<void>(net::GrpcClient(folder_ + "/" + socket)
                            .Stream(
                                "/v1beta1.DevicePlugin/ListAndWatch", "",
                                [&](const std::string& bytes) {
                                  api::ListAndWatchResponse list;
                                  list.ParseFromString(bytes);
                                  Lock l(mu_);
                                  list_ = std::move(list);
                                  changed_.notify_all();
                                  return true;
                                },
                                std::nullopt, stop));
    });
  }
  void StopWatching() {
    watch_.request_stop();
    watcher_ = {};
  }
  /// Waits until the list has as many devices of a health.
  bool WaitForList(const std::string& health, int count) {
    Lock l(mu_);
    return changed_.wait_for(mu_, kSoon, [&]() REQUIRES(mu_) {
      return std::ranges::count_if(list_.devices(), [&](const auto& d) { return d.health() == health; }) == count;
    });
  }

 private:
  const std::string folder_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<api::RegisterRequest> seen_ GUARDED_BY(mu_);
  api::ListAndWatchResponse list_ GUARDED_BY(mu_);
  ThreadExecutor executor_{1};
  std::unique_ptr<net::GrpcServer> server_;
  std::stop_source watch_;
  std::jthread watcher_;
};

struct GrpcOutletTest : testing::Test {
  std::shared_ptr<const Offer> OfferOf(std::size_t broken = 0, const std::vector<std::string>& args = {}) {
    const auto machine = MachineOf("a100");
    auto settings = std::make_shared<const Settings>(SettingsOf(args));
    ResourceState state{PlanResources(machine, {}, *settings).resources.front(), std::vector<std::string>(8)};
    for (std::size_t i = 0; i < broken; ++i) state.troubles[i] = "broken";
    return std::make_shared<const Offer>(std::move(state), Affinity(machine), settings, Extras());
  }
  void Make(const std::string& name = "/kubelet.sock") {
    outlet = std::make_unique<GrpcOutlet>(GrpcOutlet::Parts{.executor = executor,
                                                            .chores = chores,
                                                            .host = *fs,
                                                            .log = log,
                                                            .metrics = metrics,
                                                            .folder = folder.path(),
                                                            .kubelet_socket = name.empty() ? "" : folder.path() + name},
                                          OfferOf());
    outlet->Register();
  }
  template <class Answer, class Request>
  Answer Call(const std::string& method, const Request& request) {
    auto bytes = net::GrpcClient(folder.path() + "/nvidia-gpu.sock")
                     .Call("/v1beta1.DevicePlugin/" + method, request.SerializeAsString(), kSoon);
    EXPECT_TRUE(bytes) << bytes.error().text;
    Answer answer;
    if (bytes) answer.ParseFromString(*bytes);
    return answer;
  }
  bool WaitForSocket() {
    const auto until = std::chrono::steady_clock::now() + kSoon;
    while (!fs->Stat(folder.path() + "/nvidia-gpu.sock") && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    return fs->Stat(folder.path() + "/nvidia-gpu.sock").has_value();
  }

  os::TempFolder folder = *os::TempFolder::Make();
  std::unique_ptr<os::RealFs> fs = *os::RealFs::Open("/");
  FakeLog log;
  MetricRegistry metrics;
  Kubelet kubelet{folder.path()};
  ThreadExecutor executor{1}, chores{2};
  std::unique_ptr<GrpcOutlet> outlet;
};

TEST_F(GrpcOutletTest, RegistersAsTheKubeletExpects) {
  kubelet.Start();
  Make();
  const auto request = kubelet.WaitFor(1);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->version(), "v1beta1");
  EXPECT_EQ(request->endpoint(), "nvidia-gpu.sock");
  EXPECT_EQ(request->resource_name(), "nvidia.com/gpu");
  EXPECT_TRUE(request->options().get_preferred_allocation_available());
  EXPECT_FALSE(request->options().pre_start_required());
  const auto options = Call<api::DevicePluginOptions>("GetDevicePluginOptions", api::Empty());
  EXPECT_TRUE(options.get_preferred_allocation_available());
  EXPECT_EQ(Call<api::PreStartContainerResponse>("PreStartContainer", api::PreStartContainerRequest()).ByteSizeLong(),
            0U);
}

TEST_F(GrpcOutletTest, AnswersForItsDevices) {
  kubelet.Start();
  Make();
  ASSERT_TRUE(kubelet.WaitFor(1));
  const std::string uuid = MachineOf("a100").devices[2].uuid;
  api::AllocateRequest request;
  request.add_container_requests()->add_devices_ids(uuid);
  const auto answer = Call<api::AllocateResponse>("Allocate", request);
  ASSERT_EQ(answer.container_responses_size(), 1);
  EXPECT_EQ(answer.container_responses(0).envs().at("NVIDIA_VISIBLE_DEVICES"), uuid);
  request.mutable_container_requests(0)->add_devices_ids("GPU-other");
  const auto refused = net::GrpcClient(folder.path() + "/nvidia-gpu.sock")
                           .Call("/v1beta1.DevicePlugin/Allocate", request.SerializeAsString(), kSoon);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("invalid request: unknown device: GPU-other"));
  api::PreferredAllocationRequest preferred;
  auto* one = preferred.add_container_requests();
  for (const auto& device : MachineOf("a100").devices) one->add_available_deviceids(device.uuid);
  one->set_allocation_size(2);
  EXPECT_EQ(Call<api::PreferredAllocationResponse>("GetPreferredAllocation", preferred)
                .container_responses(0)
                .deviceids_size(),
            2);
  EXPECT_THAT(metrics.Text(), HasSubstr("gpuop_device_plugin_allocations_total{resource=\"nvidia.com/gpu\"} 1"));
}

TEST_F(GrpcOutletTest, TheListFollowsWhatIsOffered) {
  kubelet.Start();
  Make();
  ASSERT_TRUE(kubelet.WaitFor(1));
  kubelet.Watch("nvidia-gpu.sock");
  EXPECT_TRUE(kubelet.WaitForList("Healthy", 8));
  EXPECT_TRUE(outlet->live());
  outlet->Set(OfferOf(3));
  EXPECT_TRUE(kubelet.WaitForList("Unhealthy", 3));
  outlet->Set(OfferOf());
  EXPECT_TRUE(kubelet.WaitForList("Healthy", 8));
}

TEST_F(GrpcOutletTest, AKubeletThatComesLaterOrSaysNoIsAskedAgain) {
  Make();
  ASSERT_TRUE(WaitForSocket());
  kubelet.Start(Fail(Code::kUnavailable, "not yet"));
  ASSERT_TRUE(kubelet.WaitFor(2));
  EXPECT_THAT(log.Lines(), Contains(HasSubstr("not yet")));
}

TEST_F(GrpcOutletTest, AKubeletThatRestartsIsToldOnceAndFindsTheSocketAnew) {
  kubelet.Start();
  Make();
  ASSERT_TRUE(kubelet.WaitFor(1));
  kubelet.Watch("nvidia-gpu.sock");
  ASSERT_TRUE(kubelet.WaitForList("Healthy", 8));
  kubelet.Stop();
  ASSERT_TRUE(fs->Remove(folder.path() + "/nvidia-gpu.sock"));  // as a kubelet does when it starts
  kubelet.Start();
  // Both in one task: the second word must come before the first registration has been answered.
  executor.Post([this] {
    outlet->Check();
    outlet->Register();
  });
  ASSERT_TRUE(kubelet.WaitFor(2));
  kubelet.Watch("nvidia-gpu.sock");
  EXPECT_TRUE(kubelet.WaitForList("Healthy", 8));
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(kubelet.registrations(), 2U);
}

TEST_F(GrpcOutletTest, AKubeletThatLetsGoOfTheListIsToldAgainWithoutAnyEvent) {
  kubelet.Start();
  Make();
  ASSERT_TRUE(kubelet.WaitFor(1));
  kubelet.Watch("nvidia-gpu.sock");
  ASSERT_TRUE(kubelet.WaitForList("Healthy", 8));
  kubelet.StopWatching();
  EXPECT_TRUE(kubelet.WaitFor(2));
}

TEST_F(GrpcOutletTest, ASocketThatSomebodyRemovedIsMadeAnew) {
  kubelet.Start();
  Make();
  ASSERT_TRUE(kubelet.WaitFor(1));
  ASSERT_TRUE(fs->Remove(folder.path() + "/nvidia-gpu.sock"));
  outlet->Check();
  ASSERT_TRUE(kubelet.WaitFor(2));
  EXPECT_TRUE(WaitForSocket());
}

TEST_F(GrpcOutletTest, WithoutAKubeletSocketItServesAndTellsNobody) {
  kubelet.Start();
  Make("");
  ASSERT_TRUE(WaitForSocket());
  EXPECT_TRUE(
      Call<api::DevicePluginOptions>("GetDevicePluginOptions", api::Empty()).get_preferred_allocation_available());
  EXPECT_EQ(kubelet.registrations(), 0U);
}

TEST_F(GrpcOutletTest, ItsSocketGoesWithIt) {
  kubelet.Start();
  Make();
  ASSERT_TRUE(kubelet.WaitFor(1));
  outlet.reset();
  EXPECT_FALSE(fs->Stat(folder.path() + "/nvidia-gpu.sock"));
}

TEST_F(GrpcOutletTest, AFolderThatCannotBeWrittenIsSaidAndTriedAgain) {
  const std::string missing = folder.path() + "/later";
  outlet = std::make_unique<GrpcOutlet>(GrpcOutlet::Parts{.executor = executor,
                                                          .chores = chores,
                                                          .host = *fs,
                                                          .log = log,
                                                          .metrics = metrics,
                                                          .folder = missing,
                                                          .kubelet_socket = ""},
                                        OfferOf());
  outlet->Register();
  const auto until = std::chrono::steady_clock::now() + kSoon;
  while (log.Lines().empty() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_THAT(log.Lines(), Contains(HasSubstr("cannot serve")));
  ASSERT_TRUE(fs->MakeFolder(missing));
  while (!fs->Stat(missing + "/nvidia-gpu.sock") && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(fs->Stat(missing + "/nvidia-gpu.sock"));
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
