#include "kube/cache_feed.h"

#include <boost/json.hpp>

namespace gpuop::kube {
namespace {

namespace json = boost::json;

constexpr std::size_t kScratchBytes = 128U << 10U;
/// A stream waits while this much of it waits to be read, until half of it is.
constexpr std::size_t kMostQueued = 1U << 20U;
/// Events read in one turn: enough to keep up with whoever writes many in one, few enough to leave room for others.
constexpr int kEventsPerTurn = 128;

/// Memory for objects' trees, while there are objects to read: a program has many feeds, and most of them rest.
class ScratchInUse {
 public:
  explicit ScratchInUse(std::unique_ptr<unsigned char[]>& scratch) : scratch_(scratch) {
    // Not touched before it is needed.
    scratch_ = std::make_unique_for_overwrite<unsigned char[]>(kScratchBytes);
  }
  ~ScratchInUse() { scratch_.reset(); }
  ScratchInUse(const ScratchInUse&) = delete;
  ScratchInUse& operator=(const ScratchInUse&) = delete;

 private:
  std::unique_ptr<unsigned char[]>& scratch_;
};

std::string_view View(const json::value* v) {
  if (v == nullptr || !v->is_string()) return {};
  return {v->get_string().data(), v->get_string().size()};
}

std::string_view MetadataText(const json::object& object, std::string_view field) {
  const json::value* meta = object.if_contains("metadata");
  return meta != nullptr && meta->is_object() ? View(meta->get_object().if_contains(field)) : std::string_view();
}

}  // namespace

/// Hands what a watch says to the strand. Outlives the feed if the door holds it longer.
class Feed::Listener final : public StreamSink {
 public:
  Listener(Feed& feed, std::uint64_t watch) : feed_(feed), watch_(watch) {}
  void OnData(std::string_view piece) override { feed_.Queue(watch_, std::string(piece)); }
  bool WantsMore() override { return feed_.WantsMore(); }
  void OnEnd(Result<> why, std::optional<Duration> retry_after) override {
    feed_.strand_.Post([feed = &feed_, watch = watch_, why = std::move(why), retry_after] {
      feed->AfterEvents(watch, why, retry_after);
    });
  }

 private:
  Feed& feed_;
  const std::uint64_t watch_;
};

Feed::Feed(Executor& executor, Client client, Resource resource, CacheOptions options, Sink& sink)
    : client_(client.With(stop_.get_token())),
      resource_(std::move(resource)),
      options_(std::move(options)),
      sink_(sink),
      rng_(options_.seed),
      heard_(executor.Now()),
      strand_(executor) {
  if (options_.metrics == nullptr) return;
  const MetricLabels labels{{"resource", resource_.GroupPlural()}};
  bad_metric_ =
      &options_.metrics->counter("cache_bad_objects_total", "Objects passed over because unreadable.", labels);
  list_metric_ = &options_.metrics->counter("cache_lists_total", "Lists begun.", labels);
  watch_metric_ = &options_.metrics->counter("cache_watches_total", "Watches opened.", labels);
}

Feed::~Feed() {
  stop_.request_stop();
  strand_.Close();
  stream_.reset();  // now no sink call runs that could still post
}

void Feed::Start() {
  strand_.Post([this] { ListPage({}); });
}

TimePoint Feed::LastHeard() const {
  Lock l(mu_);
  return heard_;
}
Feed::Counts Feed::counts() const {
  Lock l(mu_);
  return counts_;
}

void Feed::Heard() {
  Lock l(mu_);
  heard_ = strand_.executor().Now();
}

/// Asks for one page and posts the next, so that a long list does not hold the strand's thread in one piece.
void Feed::ListPage(const std::string& continue_token) {
  if (continue_token.empty()) {
    if (list_metric_ != nullptr) list_metric_->Add();
    {
      Lock l(mu_);
      ++counts_.lists;
    }
    sink_.OnListBegin();
  }
  ListOptions o;
  o.ns = options_.ns;
  o.label_selector = options_.label_selector;
  o.field_selector = options_.field_selector;
  o.limit = in_one_ ? 0 : options_.page;
  o.continue_token = continue_token;
  std::optional<Duration> retry_after;
  const auto page = client_.Page(resource_, o, &retry_after);
  if (!page) {
    // Pages that expire before they are read would expire again: the next list comes in one piece.
    in_one_ = page.error().code == Code::kGone && !continue_token.empty();
    return ListAgain(page.error(), retry_after);
  }
  Heard();
  {
    const ScratchInUse in_use(scratch_);
    for (const std::string_view item : page->text.items) ReadItem(item);
  }
  version_ = page->text.resource_version;
  if (!page->text.continue_token.empty()) {
    strand_.Post([this, token = page->text.continue_token] { ListPage(token); });
    return;
  }
  in_one_ = false;
  sink_.OnListEnd();
  OpenWatch();
}

void Feed::ListAgain(const Error& why, std::optional<Duration> retry_after) {
  if (stop_.stop_requested()) return;
  const Duration wait = std::max(options_.back_off.After(++failures_, rng_), retry_after.value_or(Duration::zero()));
  if (options_.log != nullptr) {
    options_.log->Warn("list failed", {{"resource", resource_.GroupPlural()},
                                       {"error", why.text},
                                       {"again_ms", std::to_string(wait / std::chrono::milliseconds(1))}});
  }
  strand_.PostAfter(wait, [this] { ListPage({}); });
}

void Feed::ReadItem(std::string_view text) {
  json::monotonic_resource memory(scratch_.get(), kScratchBytes);
  const auto object = ParseObject(text, &memory);
  if (!object) return ReportBad("an item of the list", object.error());
  if (const auto r = sink_.OnObject(*object); !r) ReportBad(MetadataText(*object, "name"), r.error());
}

void Feed::OpenWatch() {
  stream_.reset();
  ++watch_;
  opened_ = strand_.executor().Now();
  if (watch_metric_ != nullptr) watch_metric_->Add();
  {
    Lock l(mu_);
    ++counts_.watches;
  }
  WatchOptions o;
  o.ns = options_.ns;
  o.label_selector = options_.label_selector;
  o.field_selector = options_.field_selector;
  o.resource_version = version_;
  o.timeout =
      options_.watch_timeout + std::chrono::duration_cast<Duration>(options_.watch_timeout * (0.5 * rng_.Unit()));
  stream_ = client_.Watch(resource_, o, std::make_shared<Listener>(*this, watch_));
  SetWatchdog(watch_);
}

void Feed::SetWatchdog(std::uint64_t watch) {
  const Duration left = std::max(opened_, LastHeard()) + options_.silence - strand_.executor().Now();
  strand_.PostAfter(std::max(left, Duration(1)), [this, watch] {
    if (watch != watch_ || !stream_) return;
    if (strand_.executor().Now() < std::max(opened_, LastHeard()) + options_.silence) return SetWatchdog(watch);
    OnWatchEnd(watch, Fail(Code::kTimeout, "nothing heard, not even a bookmark"), std::nullopt);
  });
}

void Feed::Queue(std::uint64_t watch, std::string text) {
  {
    Lock l(mu_);
    event_bytes_ += text.size();
    events_.emplace_back(watch, std::move(text));
    if (std::exchange(draining_, true)) return;
  }
  strand_.Post([this] { Drain(); });
}

bool Feed::WantsMore() {
  Lock l(mu_);
  return !(paused_ = event_bytes_ > kMostQueued);
}

void Feed::Drain() {
  const ScratchInUse in_use(scratch_);
  bool resume = false;
  for (int read = 0; read < kEventsPerTurn; ++read) {
    std::pair<std::uint64_t, std::string> event;
    {
      Lock l(mu_);
      if (events_.empty()) break;
      event = std::move(events_.front());
      events_.pop_front();
      event_bytes_ -= event.second.size();
      if (paused_ && event_bytes_ <= kMostQueued / 2) resume = !(paused_ = false);
    }
    OnEvent(event.first, event.second);
  }
  if (resume && stream_) stream_->Resume();
  {
    Lock l(mu_);
    draining_ = !events_.empty();
    if (!draining_) return;
  }
  strand_.Post([this] { Drain(); });
}

/// The end of a watch comes after all that it said.
void Feed::AfterEvents(std::uint64_t watch, const Result<>& why, std::optional<Duration> retry_after) {
  bool more = false;
  {
    Lock l(mu_);
    more = !events_.empty();
  }
  if (!more) return OnWatchEnd(watch, why, retry_after);
  strand_.Post([this, watch, why, retry_after] { AfterEvents(watch, why, retry_after); });
}

void Feed::OnEvent(std::uint64_t watch, std::string_view text) {
  if (watch != watch_ || !stream_) return;
  Heard();
  if (auto r = ReadEvent(text); !r) return OnWatchEnd(watch, r, std::nullopt);
  failures_ = 0;
}

/// kGone when history is lost and only a new list helps.
Result<> Feed::ReadEvent(std::string_view text) {
  json::monotonic_resource memory(scratch_.get(), kScratchBytes);
  const auto event = ParseObject(text, &memory);
  // Whatever this was, it is lost: only a new list tells what it might have been.
  if (!event) return Fail(Code::kGone, "unreadable event: " + event.error().text);
  const std::string_view type = View(event->if_contains("type"));
  const json::value* object = event->if_contains("object");
  if (object == nullptr || !object->is_object()) return Fail(Code::kGone, "an event without an object");
  const json::object& o = object->get_object();
  if (type == "ERROR") return std::unexpected(ReadStatus(o).ToError());
  if (type == "DELETED") {
    sink_.OnDeleted(o);
  } else if (type == "ADDED" || type == "MODIFIED") {
    if (const auto r = sink_.OnObject(o); !r) ReportBad(MetadataText(o, "name"), r.error());
  } else if (type != "BOOKMARK") {
    return Fail(Code::kGone, "unknown event type " + std::string(type));
  }
  if (const std::string_view version = MetadataText(o, "resourceVersion"); !version.empty()) version_ = version;
  return {};
}

void Feed::OnWatchEnd(std::uint64_t watch, const Result<>& why, std::optional<Duration> retry_after) {
  if (watch != watch_ || !stream_) return;
  stream_.reset();
  if (stop_.stop_requested()) return;
  // One that stood for a while owes nothing to earlier failures, even if it had nothing to say.
  if (strand_.executor().Now() - opened_ > options_.back_off.longest) failures_ = 0;
  // A watch that ended in good order is no failure: servers end them every few minutes.
  if (why && failures_ == 0 && !retry_after) {
    ++failures_;  // until the next one says something
    strand_.Post([this] { OpenWatch(); });
    return;
  }
  ++failures_;
  const bool gone = !why && why.error().code == Code::kGone;
  if (!why && options_.log != nullptr) {
    options_.log->Info(gone ? "watch lost its history" : "watch broke off",
                       {{"resource", resource_.GroupPlural()}, {"error", why.error().text}});
  }
  const Duration wait = std::max(options_.back_off.After(failures_, rng_), retry_after.value_or(Duration::zero()));
  strand_.PostAfter(wait, [this, gone] { gone ? ListPage({}) : OpenWatch(); });
}

void Feed::ReportBad(std::string_view what, const Error& error) {
  {
    Lock l(mu_);
    ++counts_.bad_objects;
  }
  if (bad_metric_ != nullptr) bad_metric_->Add();
  if (options_.log == nullptr) return;
  options_.log->Warn("an object is passed over because it cannot be read",
                     {{"resource", resource_.GroupPlural()}, {"object", std::string(what)}, {"error", error.text}});
}

}  // namespace gpuop::kube
