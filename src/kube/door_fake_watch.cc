#include <boost/json.hpp>

#include "base/strand.h"
#include "base/text.h"
#include "data/json.h"
#include "kube/door_fake.h"
#include "kube/door_fake_match.h"

namespace gpuop::kube {
namespace fake {

namespace json = boost::json;

std::string Query(const ApiRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.query)
    if (key == name) return value;
  return {};
}

std::string MetaText(const json::object& object, std::string_view field) {
  const auto* meta = object.if_contains("metadata");
  const auto* v = meta != nullptr && meta->is_object() ? meta->get_object().if_contains(field) : nullptr;
  return v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
}

std::string Shelf(std::string_view group, std::string_view plural) {
  return std::string(group).append("/").append(plural);
}

namespace {

bool LabelTermHolds(std::string_view term, const json::object& object) {
  const auto label = [&object](std::string_view key) -> std::optional<std::string> {
    const json::object* labels = nullptr;
    if (const auto* v = data::Find(object, "metadata.labels"); v != nullptr && v->is_object())
      labels = &v->get_object();
    const auto* v = labels == nullptr ? nullptr : labels->if_contains(key);
    return v != nullptr && v->is_string() ? std::optional<std::string>(v->get_string()) : std::nullopt;
  };
  if (term.starts_with('!')) return !label(term.substr(1));
  if (const auto at = term.find("!="); at != std::string_view::npos)
    return label(term.substr(0, at)) != std::string(term.substr(at + 2));
  const auto parts = Cut(term, '=');
  if (!parts) return label(term).has_value();
  std::string_view value = parts->second;
  if (value.starts_with('=')) value.remove_prefix(1);
  return label(parts->first) == std::string(value);
}

bool FieldTermHolds(std::string_view term, const json::object& object) {
  const bool differs = term.find("!=") != std::string_view::npos;
  const auto parts = Cut(term, differs ? '!' : '=');
  if (!parts) return false;
  const std::string_view want = parts->second.substr(parts->second.find_first_not_of('=') == std::string_view::npos
                                                         ? parts->second.size()
                                                         : parts->second.find_first_not_of('='));
  const auto* v = data::Find(object, parts->first);
  const std::string have = v != nullptr && v->is_string() ? std::string(v->get_string()) : std::string();
  return (have == want) != differs;
}

}  // namespace

bool Selected(const ApiRequest& request, const std::string& ns, const json::object& object) {
  if (!ns.empty() && MetaText(object, "namespace") != ns) return false;
  const std::string labels = Query(request, "labelSelector");
  const std::string fields = Query(request, "fieldSelector");
  for (const std::string_view term : Split(labels, ','))
    if (!term.empty() && !LabelTermHolds(term, object)) return false;
  for (const std::string_view term : Split(fields, ','))
    if (!term.empty() && !FieldTermHolds(term, object)) return false;
  return true;
}

}  // namespace fake

/// One open stream. The sink is called on the strand only.
struct FakeDoor::Watch {
  Watch(Executor& executor, ApiRequest r, RequestPath p, std::shared_ptr<StreamSink> s)
      : request(std::move(r)), path(std::move(p)), sink(std::move(s)), strand(executor) {}

  void Send(std::string text) {
    strand.Post([this, text = std::move(text)] {
      if (!ended) sink->OnData(text);
    });
  }
  void End(Result<> why, std::optional<Duration> retry_after = {}) {
    strand.Post([this, why = std::move(why), retry_after] {
      if (std::exchange(ended, true)) return;
      sink->OnEnd(why, retry_after);
    });
  }

  const ApiRequest request;
  const RequestPath path;
  const std::shared_ptr<StreamSink> sink;
  bool muted = false;  ///< under the door's lock
  bool ended = false;  ///< on the strand
  Strand strand;
};

class FakeDoor::FakeStream final : public Stream {
 public:
  explicit FakeStream(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  ~FakeStream() override { watch_->strand.Close(); }

 private:
  const std::shared_ptr<Watch> watch_;
};

std::unique_ptr<Stream> FakeDoor::Open(const ApiRequest& request, std::shared_ptr<StreamSink> sink) {
  Interceptor interceptor;
  {
    Lock l(mu_);
    requests_.push_back(request);
    interceptor = interceptor_;
  }
  auto watch =
      std::make_shared<Watch>(executor_, request, ParsePath(request.path).value_or(RequestPath()), std::move(sink));
  auto stream = std::make_unique<FakeStream>(watch);
  if (auto verdict = interceptor ? interceptor(request) : std::nullopt) {
    if (!*verdict) {
      watch->End(std::unexpected((*verdict).error()));
    } else if ((*verdict)->status >= 400) {
      watch->End(std::unexpected(ReadStatus(**verdict).ToError()), (*verdict)->retry_after);
    } else {
      watch->End({});
    }
    return stream;
  }
  Lock l(mu_);
  watch->muted = muted_;
  const std::uint64_t from = static_cast<std::uint64_t>(ParseInt(fake::Query(request, "resourceVersion")).value_or(0));
  if (from < compacted_) {
    const Status gone =
        Expired("too old resource version: " + std::to_string(from) + " (" + std::to_string(compacted_) + ")");
    // Both ways are seen in life: refused at once, or told as the first and last event.
    if (rng_.Below(2) == 0) {
      watch->End(std::unexpected(gone.ToError()));
    } else {
      watch->Send(boost::json::serialize(boost::json::object{{"type", "ERROR"}, {"object", gone.ToJson()}}));
      watch->End({});
    }
    return stream;
  }
  for (const Event& event : history_)
    if (event.version > from) Tell(*watch, event);
  std::erase_if(watches_, [](const auto& w) { return w.expired(); });
  watches_.push_back(watch);
  return stream;
}

/// An object that enters or leaves the selection is one that appears or goes.
void FakeDoor::Tell(Watch& watch, const Event& event) {
  if (watch.muted || event.place.first != fake::Shelf(watch.path.group, watch.path.plural)) return;
  const bool was = event.old && fake::Selected(watch.request, watch.path.ns, *event.old);
  const bool is = event.now && fake::Selected(watch.request, watch.path.ns, *event.now);
  if (!was && !is) return;
  JsonObject object = is ? *event.now : *event.old;
  if (!is) object["metadata"].get_object()["resourceVersion"] = std::to_string(event.version);
  watch.Send(boost::json::serialize(
      JsonObject{{"type", is ? (was ? "MODIFIED" : "ADDED") : "DELETED"}, {"object", std::move(object)}}));
}

void FakeDoor::BreakWatches(const Result<>& why) {
  Lock l(mu_);
  for (const auto& weak : watches_)
    if (const auto watch = weak.lock(); watch && !watch->muted) watch->End(why);
  std::erase_if(watches_, [](const auto& w) {
    const auto watch = w.lock();
    return !watch || !watch->muted;
  });
}

void FakeDoor::Mute(bool muted) {
  Lock l(mu_);
  muted_ = muted;
  if (!muted) return;
  for (const auto& weak : watches_)
    if (const auto watch = weak.lock()) watch->muted = true;
}

void FakeDoor::SendBookmarks() {
  Lock l(mu_);
  for (const auto& weak : watches_) {
    const auto watch = weak.lock();
    if (!watch || watch->muted || fake::Query(watch->request, "allowWatchBookmarks") != "true") continue;
    watch->Send(boost::json::serialize(
        JsonObject{{"type", "BOOKMARK"}, {"object", {{"metadata", {{"resourceVersion", std::to_string(version_)}}}}}}));
  }
}

void FakeDoor::SendRaw(const Resource& resource, const std::string& event) {
  Lock l(mu_);
  for (const auto& weak : watches_) {
    const auto watch = weak.lock();
    if (watch && !watch->muted && watch->path.group == resource.group && watch->path.plural == resource.plural)
      watch->Send(event);
  }
}

std::size_t FakeDoor::OpenStreams() const {
  Lock l(mu_);
  return static_cast<std::size_t>(std::ranges::count_if(watches_, [](const auto& w) { return !w.expired(); }));
}

void FakeDoor::Commit(const Place& place, std::shared_ptr<const JsonObject> now) {
  auto& slot = objects_[place];
  history_.push_back({version_, place, slot, now});
  slot = std::move(now);
  if (!slot) objects_.erase(place);
  const Event event = history_.back();
  for (const auto& weak : watches_)
    if (const auto watch = weak.lock()) Tell(*watch, event);
}

}  // namespace gpuop::kube
