#include "kube/events.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "kube/types/core.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

constexpr int kAttempts = 3;
constexpr Duration kBetweenAttempts = std::chrono::seconds(10);
/// The API server refuses longer ones.
constexpr std::size_t kMaxMessage = 1024;

std::string_view Name(EventType type) { return type == EventType::kNormal ? "Normal" : "Warning"; }

/// No more than `size` bytes, not ending inside a character.
std::string_view Shorten(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size);
}

std::string Identity(const ObjectReference& about) {
  return std::string(about.kind)
      .append("/")
      .append(about.ns)
      .append("/")
      .append(about.name)
      .append("/")
      .append(about.uid);
}

json::object ToJson(const ObjectReference& about) {
  json::object out;
  const auto add = [&out](std::string_view name, std::string_view value) {
    if (!value.empty()) out[name] = value;
  };
  add("apiVersion", about.api_version);
  add("kind", about.kind);
  add("namespace", about.ns);
  add("name", about.name);
  add("uid", about.uid);
  add("resourceVersion", about.resource_version);
  add("fieldPath", about.field_path);
  return out;
}

bool WorthRepeating(Code code) {
  return code == Code::kUnavailable || code == Code::kTimeout || code == Code::kIo || code == Code::kTooManyRequests;
}

Client::Options Once() {
  Client::Options o;
  o.attempts = 1;
  return o;
}

}  // namespace

EventRecorder::EventRecorder(Executor& executor, const Client& client, Options options)
    : options_(std::move(options)),
      client_(Client(client.door(), Once()).With(stop_.get_token())),
      executor_(executor),
      strand_(executor) {}

EventRecorder::~EventRecorder() {
  stop_.request_stop();
  strand_.Close();
}

std::uint64_t EventRecorder::dropped() const {
  Lock l(mu_);
  return dropped_;
}

void EventRecorder::Emit(const ObjectReference& about, EventType type, std::string_view reason,
                         std::string_view message) {
  News news{about, type, std::string(reason), std::string(Shorten(message, kMaxMessage)), executor_.Wall()};
  {
    Lock l(mu_);
    if (waiting_ >= options_.waiting) {
      ++dropped_;
      return;
    }
    ++waiting_;
  }
  strand_.Post([this, n = std::move(news)]() mutable {
    if (Allowed(n)) {
      Combine(n);
      Handle(std::move(n));
      return;
    }
    Drop("too many for this object", n);
  });
}

void EventRecorder::Drop(std::string_view why, const News& news) {
  {
    Lock l(mu_);
    --waiting_;
    ++dropped_;
  }
  if (options_.log != nullptr)
    options_.log->Debug("event dropped",
                        {{"why", std::string(why)}, {"object", news.about.name}, {"reason", news.reason}});
}

/// A token bucket per object.
bool EventRecorder::Allowed(const News& news) {
  const TimePoint now = executor_.Now();
  Bucket& bucket = buckets_.Get(Identity(news.about), options_.remembered, {options_.burst, now});
  bucket.tokens = std::min(options_.burst, bucket.tokens + std::chrono::duration<double>(now - bucket.filled) /
                                                               std::chrono::duration<double>(options_.refill));
  bucket.filled = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

/// Gives news the common message once there were too many different ones of their kind.
void EventRecorder::Combine(News& news) {
  const TimePoint now = executor_.Now();
  const std::string key = Identity(news.about) + "/" + std::string(Name(news.type)) + "/" + news.reason;
  Similar& seen = similar_.Get(key, options_.remembered, {});
  if (now - seen.last > options_.window) seen.messages.clear();
  seen.last = now;
  seen.messages.insert(Hash64(news.message));
  if (static_cast<int>(seen.messages.size()) < options_.similar) return;
  // One Event for all of them, with the newest message.
  news.message = std::string(Shorten("(combined from similar events): " + news.message, kMaxMessage));
}

void EventRecorder::Handle(News news) {
  std::string key = Identity(news.about) + "/" + std::string(Name(news.type)) + "/" + news.reason + "/";
  // A combined Event is one whatever its message.
  key += news.message.starts_with("(combined") ? "*" : news.message;
  Written& written = written_.Get(key, options_.remembered, {});
  const Result<> r = Write(news, written);
  if (r) {
    Lock l(mu_);
    --waiting_;
    return;
  }
  if (!WorthRepeating(r.error().code) || ++news.attempts >= kAttempts) return Drop(r.error().text, news);
  strand_.PostAfter(kBetweenAttempts, [this, n = std::move(news)]() mutable { Handle(std::move(n)); });
}

Result<> EventRecorder::Write(const News& news, Written& written) {
  if (written.count == 0) return Create(news, written);
  const json::object patch{
      {"count", written.count + 1}, {"lastTimestamp", FormatTime(news.at)}, {"message", news.message}};
  const auto r = client_.Patch(Ref<Event>(written.ns, written.name), PatchType::kMerge, patch);
  if (r) {
    ++written.count;
    return {};
  }
  // The API server drops Events after an hour.
  if (r.error().code == Code::kNotFound) return Create(news, written);
  return std::unexpected(r.error());
}

Result<> EventRecorder::Create(const News& news, Written& written) {
  const std::string ns = news.about.ns.empty() ? "default" : std::string(news.about.ns);
  const std::uint64_t stamp = static_cast<std::uint64_t>(news.at.time_since_epoch() / Duration(1));
  // Two news of one moment differ in their text.
  const std::uint64_t unique = Hash64(news.reason + news.message, stamp);
  const std::string name = fmt::format("{}.{:x}", news.about.name, unique);
  const std::string at = FormatTime(news.at);
  const json::object event{{"apiVersion", "v1"},
                           {"kind", "Event"},
                           {"metadata", {{"namespace", ns}, {"name", name}}},
                           {"involvedObject", ToJson(news.about)},
                           {"type", Name(news.type)},
                           {"reason", news.reason},
                           {"message", news.message},
                           {"source", {{"component", options_.component}}},
                           {"reportingComponent", options_.component},
                           {"reportingInstance", options_.instance},
                           {"firstTimestamp", at},
                           {"lastTimestamp", at},
                           {"count", 1}};
  TRY(client_.Create(Event::kResource, event));
  written = {ns, name, 1};
  return {};
}

}  // namespace gpuop::kube
