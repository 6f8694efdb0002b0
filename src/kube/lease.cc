#include "kube/lease.h"

#include <boost/json.hpp>

#include "kube/types/cluster.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

Client::Options Quick(const Duration& limit) {
  Client::Options o;
  o.limit = limit;
  o.attempts = 1;
  return o;
}

std::int64_t Seconds(Duration d) { return std::chrono::duration_cast<std::chrono::seconds>(d).count(); }

json::object& Spec(json::object& lease) {
  json::value& spec = lease["spec"];
  return spec.is_object() ? spec.get_object() : spec.emplace_object();
}

}  // namespace

LeaderLease::LeaderLease(Executor& executor, const Client& client, Options options, std::function<void()> on_lead,
                         std::function<void()> on_lose)
    : options_(std::move(options)),
      // A hanging request must not outlast the lead it is to renew.
      client_(Client(client.door(), Quick(options_.renew_deadline)).With(stop_.get_token())),
      on_lead_(std::move(on_lead)),
      on_lose_(std::move(on_lose)),
      rng_(options_.seed),
      executor_(executor),
      tells_(executor),
      calls_(executor) {}

LeaderLease::~LeaderLease() {
  stop_.request_stop();
  calls_.Close();
  tells_.Close();
}

void LeaderLease::Start() {
  calls_.Post([this] { Try(); });
}

bool LeaderLease::Leads() const {
  Lock l(mu_);
  return holding_ && !stopping_ && executor_.Now() < until_;
}

void LeaderLease::Stop(std::function<void()> done) {
  {
    Lock l(mu_);
    stopping_ = true;
  }
  // First nobody here leads any more, then the others may.
  tells_.Post([this, done = std::move(done)]() mutable {
    Tell();
    calls_.Post([this, done = std::move(done)] {
      GiveBack();
      if (done) done();
    });
  });
}

void LeaderLease::Try() {
  {
    Lock l(mu_);
    if (stopping_) return;
  }
  const TimePoint began = executor_.Now();
  const Result<Turn> turn = AcquireOrRenew();
  Duration wait = options_.retry;
  if (turn && *turn == Turn::kHeld) {
    Hold(began + options_.renew_deadline);
  } else {
    seen_.reset();
    if (turn && *turn == Turn::kOther) LetGo();
    if (!turn && options_.log != nullptr)
      options_.log->Warn("lease not renewed or acquired", {{"lease", options_.name}, {"error", turn.error().text}});
    // Candidates spread out, so that they do not collide for ever.
    wait += std::chrono::duration_cast<Duration>(wait * (Leads() ? 0.0 : rng_.Unit()));
  }
  calls_.PostAfter(wait, [this] { Try(); });
}

Result<LeaderLease::Turn> LeaderLease::AcquireOrRenew() {
  // The holder knows the Lease from its last write and need not read it.
  if (seen_ && Leads()) return Write(*seen_, false);
  return Read();
}

Result<LeaderLease::Turn> LeaderLease::Read() {
  auto lease = client_.Get(Ref<Lease>(options_.ns, options_.name));
  if (!lease && lease.error().code == Code::kNotFound) {
    json::object fresh{{"apiVersion", "coordination.k8s.io/v1"},
                       {"kind", "Lease"},
                       {"metadata", {{"namespace", options_.ns}, {"name", options_.name}}}};
    return Write(std::move(fresh), true);
  }
  if (!lease) return std::unexpected(std::move(lease).error());
  ASSIGN(const Lease typed, Decode<Lease>(*lease));
  Observe(*lease);
  if (!typed.spec.holder.empty() && typed.spec.holder != options_.identity) {
    const Duration theirs = std::chrono::seconds(typed.spec.duration_seconds);
    if (executor_.Now() < seen_at_ + std::max(options_.duration, theirs)) return Turn::kOther;
  }
  return Write(*std::move(lease), false);
}

/// Notes a Lease that was read; if its spec is new, its holder was alive just now.
void LeaderLease::Observe(json::object lease) {
  const json::value* spec = lease.if_contains("spec");
  std::string text = spec == nullptr ? std::string() : json::serialize(*spec);
  if (text != seen_spec_ || seen_at_ == TimePoint()) {
    seen_spec_ = std::move(text);
    seen_at_ = executor_.Now();
  }
  seen_ = std::move(lease);
}

Result<LeaderLease::Turn> LeaderLease::Write(json::object lease, bool create) {
  json::object& spec = Spec(lease);
  const std::string now = FormatMicroTime(executor_.Wall());
  const json::value* holder = spec.if_contains("holderIdentity");
  const bool mine = holder != nullptr && holder->is_string() && holder->get_string() == options_.identity;
  if (!mine) {
    const json::value* t = spec.if_contains("leaseTransitions");
    spec["leaseTransitions"] = create ? 0 : (t != nullptr && t->is_int64() ? t->get_int64() : 0) + 1;
    spec["acquireTime"] = now;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = Seconds(options_.duration);
  spec["renewTime"] = now;
  auto written =
      create ? client_.Create(Lease::kResource, lease) : client_.Update(Ref<Lease>(options_.ns, options_.name), lease);
  if (!written) {
    // Somebody else wrote first, or the answer was lost: the next turn reads.
    const Code code = written.error().code;
    if (code == Code::kConflict || code == Code::kAlreadyExists) return Turn::kFailed;
    return std::unexpected(std::move(written).error());
  }
  Observe(*std::move(written));
  return Turn::kHeld;
}

void LeaderLease::GiveBack() {
  bool held = false;
  {
    Lock l(mu_);
    held = std::exchange(holding_, false);
  }
  if (!held || !seen_) return;
  json::object lease = *std::exchange(seen_, std::nullopt);
  json::object& spec = Spec(lease);
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["renewTime"] = FormatMicroTime(executor_.Wall());
  const auto r = client_.Update(Ref<Lease>(options_.ns, options_.name), lease);
  if (!r && options_.log != nullptr)
    options_.log->Warn("lease not given back", {{"lease", options_.name}, {"error", r.error().text}});
}

void LeaderLease::Hold(TimePoint until) {
  {
    Lock l(mu_);
    holding_ = true;
    until_ = until;
  }
  tells_.Post([this] { Tell(); });
  tells_.PostAfter(until - executor_.Now(), [this] { Tell(); });
}

void LeaderLease::LetGo() {
  {
    Lock l(mu_);
    holding_ = false;
  }
  tells_.Post([this] { Tell(); });
}

/// Tells the callbacks what is so now, if they were told otherwise.
void LeaderLease::Tell() {
  const bool leads = Leads();
  if (leads == told_) return;
  told_ = leads;
  if (options_.log != nullptr)
    options_.log->Info(leads ? "leading" : "no longer leading",
                       {{"lease", options_.name}, {"identity", options_.identity}});
  leads ? on_lead_() : on_lose_();
}

}  // namespace gpuop::kube
