#include "operands/device_plugin/grpc_outlet.h"

#include <algorithm>

#include "net/grpc/client.h"
#include "operands/device_plugin/messages.h"

namespace gpuop::operands::device_plugin {
namespace {

constexpr Duration kFirstDelay = std::chrono::milliseconds(100), kLastDelay = std::chrono::seconds(5);
/// A kubelet that replaced its connection has the new list before it drops the old one.
constexpr Duration kWatcherGrace = std::chrono::seconds(1);

MetricLabels OfResource(const std::string& name) { return {{"resource", name}}; }

}  // namespace

Offer::Offer(ResourceState s, const Affinity& affinity, std::shared_ptr<const Settings> with, Extras more)
    : state(std::move(s)),
      chooser(state.resource, affinity, with->spread),
      settings(std::move(with)),
      extras(std::move(more)),
      list(EncodeList(state)) {}

/// One ListAndWatch.
struct GrpcOutlet::Watcher {
  std::uint64_t id = 0;
  std::shared_ptr<net::GrpcStream> stream;
  std::unique_ptr<std::stop_callback<std::function<void()>>> over;
};

GrpcOutlet::GrpcOutlet(Parts parts, std::shared_ptr<const Offer> first)
    : parts_(std::move(parts)),
      name_(first->state.resource.name),
      socket_name_(SocketNameOf(name_)),
      socket_(parts_.folder + "/" + socket_name_),
      allocations_(parts_.metrics.counter("gpuop_device_plugin_allocations_total", "Containers that got devices.",
                                          OfResource(name_))),
      refusals_(parts_.metrics.counter("gpuop_device_plugin_refusals_total", "Requests for devices that were refused.",
                                       OfResource(name_))),
      registrations_(parts_.metrics.counter("gpuop_device_plugin_registrations_total",
                                            "Registrations that the kubelet took.", OfResource(name_))),
      watched_(parts_.metrics.gauge("gpuop_device_plugin_watched", "Whether a kubelet watches the list of devices.",
                                    OfResource(name_))),
      offer_(std::move(first)),
      delay_(kFirstDelay),
      strand_(std::make_shared<Strand>(parts_.executor)) {}

GrpcOutlet::~GrpcOutlet() {
  stop_.request_stop();
  strand_->Close();
  if (server_) server_->Stop(std::chrono::milliseconds(100));
  server_.reset();
  std::list<std::shared_ptr<Watcher>> watchers;
  Lock l(mu_);
  watchers.swap(watchers_);
  watched_.Set(0);
}

std::shared_ptr<const Offer> GrpcOutlet::offer() const {
  Lock l(mu_);
  return offer_;
}

bool GrpcOutlet::live() const {
  Lock l(mu_);
  return !watchers_.empty();
}

void GrpcOutlet::Set(std::shared_ptr<const Offer> offer) {
  Lock l(mu_);
  const bool news = offer->list != offer_->list;
  offer_ = std::move(offer);
  if (!news) return;
  for (const auto& watcher : watchers_) watcher->stream->Send(offer_->list);
}

net::GrpcMethods GrpcOutlet::Methods() {
  net::GrpcMethods methods;
  methods["/v1beta1.DevicePlugin/GetDevicePluginOptions"] =
      net::GrpcUnary([](const std::string&, auto) -> Result<std::string> { return EncodeOptions(); });
  methods["/v1beta1.DevicePlugin/PreStartContainer"] =
      net::GrpcUnary([](const std::string&, auto) -> Result<std::string> { return std::string(); });
  methods["/v1beta1.DevicePlugin/Allocate"] =
      net::GrpcUnary([this](const std::string& request, auto) { return Allocate(request); });
  methods["/v1beta1.DevicePlugin/GetPreferredAllocation"] =
      net::GrpcUnary([this](const std::string& request, auto) { return Prefer(request); });
  methods["/v1beta1.DevicePlugin/ListAndWatch"] = net::GrpcStreaming(
      [this](const std::string&, std::shared_ptr<net::GrpcStream> stream) { Watch(std::move(stream)); });
  return methods;
}

Result<std::string> GrpcOutlet::Allocate(const std::string& request) {
  const auto now = offer();
  ASSIGN(const auto containers, DecodeAllocate(request));
  std::vector<Answer> answers;
  for (const auto& ids : containers) {
    if (auto fine = CheckRequest(now->state.resource, ids); !fine) {
      refusals_.Add();
      return std::unexpected(std::move(fine).error());
    }
    std::string fresh;
    if (now->settings->Uses(ListStrategy::kCdiAnnotations)) {
      Lock l(mu_);
      fresh = NewUuid(rng_);
    }
    answers.push_back(MakeAnswer(now->state.resource, ids, *now->settings, now->extras, fresh));
  }
  allocations_.Add(static_cast<double>(answers.size()));
  return EncodeAllocate(answers);
}

Result<std::string> GrpcOutlet::Prefer(const std::string& request) {
  const auto now = offer();
  ASSIGN(const auto containers, DecodePreferred(request));
  std::vector<std::vector<std::string>> choices;
  for (const PreferredRequest& one : containers) {
    ASSIGN(choices.emplace_back(), now->chooser.Choose(one));
  }
  return EncodePreferred(choices);
}

void GrpcOutlet::Watch(std::shared_ptr<net::GrpcStream> stream) {
  auto watcher = std::make_shared<Watcher>();
  watcher->stream = stream;
  {
    Lock l(mu_);
    watcher->id = ++watchers_made_;
    watchers_.push_back(watcher);
    watched_.Set(1);
    stream->Send(offer_->list);
  }
  if (parts_.watched) parts_.watched();
  // May run at once, when the peer has gone already.
  watcher->over = std::make_unique<std::stop_callback<std::function<void()>>>(
      stream->over(), [this, id = watcher->id] { strand_->Post([this, id] { OnWatcherGone(id); }); });
}

void GrpcOutlet::OnWatcherGone(std::uint64_t id) {
  std::shared_ptr<Watcher> gone;  // let go of outside the lock
  bool none = false;
  {
    Lock l(mu_);
    const auto it = std::ranges::find(watchers_, id, &Watcher::id);
    if (it == watchers_.end()) return;
    gone = *it;
    watchers_.erase(it);
    none = watchers_.empty();
    if (none) watched_.Set(0);
  }
  if (parts_.watched) parts_.watched();
  if (none) AgainAfter(std::max(kWatcherGrace, delay_));
}

Result<> GrpcOutlet::Serve() {
  if (server_ && SocketIsOurs()) return {};
  server_.reset();
  ASSIGN(server_, net::GrpcServer::Start({.path = socket_, .on_own_thread = true}, Methods(), parts_.executor));
  ASSIGN(const os::FileInfo info, parts_.host.Stat(socket_));
  inode_ = info.inode;
  parts_.log.Info("serving", {{"resource", name_}, {"socket", socket_}});
  return {};
}

bool GrpcOutlet::SocketIsOurs() const {
  const auto info = parts_.host.Stat(socket_);
  return info && info->inode == inode_;
}

std::pair<std::uint64_t, WallTime> GrpcOutlet::KubeletNow() const {
  const auto info = parts_.host.Stat(parts_.kubelet_socket);
  return info ? std::pair(info->inode, info->modified) : std::pair<std::uint64_t, WallTime>();
}

void GrpcOutlet::Register() {
  strand_->Post([this] {
    delay_ = kFirstDelay;
    Attempt();
  });
}

void GrpcOutlet::Check() {
  strand_->Post([this] {
    if (server_ && !SocketIsOurs()) Attempt();
  });
}

void GrpcOutlet::AgainAfter(Duration delay) {
  delay_ = std::min(delay_ * 2, kLastDelay);
  strand_->PostAfter(delay, [this, turn = turn_] {
    if (turn == turn_ && !live()) Attempt();
  });
}

void GrpcOutlet::Attempt() {
  if (busy_) {
    once_more_ = true;
    return;
  }
  ++turn_;
  if (auto served = Serve(); !served) {
    if (complaint_ != served.error().text) parts_.log.Error("cannot serve", {{"reason", served.error().text}});
    complaint_ = served.error().text;
    return AgainAfter(delay_);
  }
  if (parts_.kubelet_socket.empty()) return;
  busy_ = true;
  told_ = KubeletNow();
  parts_.chores.Post([this, weak = std::weak_ptr(strand_), stop = stop_.get_token(), socket = parts_.kubelet_socket,
                      request = EncodeRegistration(name_, socket_name_)] {
    auto answer = net::GrpcClient(socket).Call("/v1beta1.Registration/Register", request, kCallLimit, stop);
    if (const auto strand = weak.lock()) strand->Post([this, answer = std::move(answer)] { OnRegistered(answer); });
  });
}

void GrpcOutlet::OnRegistered(const Result<std::string>& answer) {
  busy_ = false;
  // Asked again meanwhile: for the same kubelet and the same socket once is enough.
  if (std::exchange(once_more_, false) && (!answer || told_ != KubeletNow() || !SocketIsOurs())) return Attempt();
  if (answer) {
    delay_ = kFirstDelay;
    complaint_.clear();
    registrations_.Add();
    parts_.log.Info("registered with the kubelet", {{"resource", name_}});
    return;
  }
  if (complaint_ != answer.error().text)
    parts_.log.Warn("the kubelet did not take the registration",
                    {{"resource", name_}, {"reason", answer.error().text}});
  complaint_ = answer.error().text;
  AgainAfter(delay_);
}

}  // namespace gpuop::operands::device_plugin
