#include "sim/watch.h"

#include <fmt/core.h>

#include "data/json.h"

namespace gpuop::sim {
namespace {

/// Events told in one turn, so that one watch never holds the thread for long.
constexpr int kEventsPerTurn = 256;
constexpr std::chrono::minutes kBookmarkEvery{1};
/// A watch without ?timeoutSeconds lasts this long, and up to twice as long.
constexpr std::chrono::minutes kDefaultTimeout{30};

std::string_view TypeName(Event::Type type) {
  switch (type) {
    case Event::Type::kAdded: return "ADDED";
    case Event::Type::kModified: return "MODIFIED";
    case Event::Type::kDeleted: return "DELETED";
  }
  return "";
}

}  // namespace

template <class F>
auto OpenWatch::Alive(F then) {
  return [self = std::weak_ptr<OpenWatch*>(self_), then = std::move(then)]() mutable {
    if (auto alive = self.lock(); alive) then(**alive);
  };
}

OpenWatch::OpenWatch(ApiServer& server, Request request, Form form, ListOptions options,
                     std::shared_ptr<WatchSink> sink)
    : server_(server),
      request_(std::move(request)),
      info_(*request_.resource),
      form_(std::move(form)),
      options_(std::move(options)),
      sink_(std::move(sink)),
      include_object_(request_.Param("includeObject").value_or("Metadata")),
      self_(std::make_shared<OpenWatch*>(this)) {
  request_.http = nullptr;  // it does not outlive the call that opens a watch
  auto& list = server_.watches_[info_.table];
  place_ = list.insert(list.end(), this);
}

OpenWatch::~OpenWatch() { server_.watches_.find(info_.table)->second.erase(place_); }

void OpenWatch::Start() {
  const Store& store = server_.store();
  const bool from_now = options_.revision.value_or(0) == 0;
  const bool wants_state = options_.send_initial_events.value_or(from_now);
  cursor_ = from_now || wants_state ? store.revision() : *options_.revision;
  too_old_ = cursor_ < store.OldestRevision(info_.table);
  if (wants_state) {
    Store::Query query;
    if (info_.namespaced && !request_.ns().empty()) query.ns = request_.ns();
    query.matches = options_.filter.matches;
    Page page = store.List(info_.table, query);
    initial_.assign(page.items.begin(), page.items.end());
  }
  initial_end_owed_ = options_.send_initial_events.value_or(false) && options_.bookmarks;
  Duration lasts = kDefaultTimeout + std::chrono::seconds(server_.rng().Below(1800));
  if (options_.timeout_seconds.value_or(0) > 0) lasts = std::chrono::seconds(*options_.timeout_seconds);
  server_.executor().PostAfter(lasts, Alive([](OpenWatch& w) { w.End(); }));
  if (options_.bookmarks) ArmBookmark();
  Schedule();
}

void OpenWatch::ArmBookmark() {
  server_.executor().PostAfter(kBookmarkEvery, Alive([](OpenWatch& w) {
                                 if (w.ended_) return;
                                 w.ArmBookmark();
                                 if (w.initial_.empty() && !w.initial_end_owed_ && !w.scheduled_ && !w.paused_)
                                   w.SendBookmark(false);
                               }));
}

bool OpenWatch::InScope(const Stored& stored) const { return request_.ns().empty() || stored.ns == request_.ns(); }

bool OpenWatch::Matches(const StoredPtr& stored) const {
  return stored && (!options_.filter.matches || options_.filter.matches(*stored));
}

void OpenWatch::See(const Event& event) {
  if (ended_ || scheduled_) return;
  const bool mine = InScope(*event.object) && (Matches(event.object) || Matches(event.before));
  if (mine || paused_)
    Schedule();
  else if (cursor_ < event.revision)
    cursor_ = event.revision;  // it has seen all before this one
}

void OpenWatch::Schedule() {
  if (scheduled_ || paused_ || ended_) return;
  scheduled_ = true;
  server_.executor().Post(Alive([](OpenWatch& w) {
    w.scheduled_ = false;
    w.Pump();
  }));
}

void OpenWatch::Resume() {
  paused_ = false;
  Schedule();
}

void OpenWatch::Drop() {
  if (ended_) return;
  server_.executor().Post(Alive([](OpenWatch& w) { w.End(); }));
}

void OpenWatch::End() {
  if (std::exchange(ended_, true)) return;
  sink_->OnEnd();
}

void OpenWatch::Pump() {
  if (ended_ || paused_) return;
  if (!initial_.empty() || initial_end_owed_) {
    if (!PumpInitial()) return;
  }
  PumpHistory();
}

/// Tells what was there at the start. False when more is to be told, or when the sink destroyed this watch.
bool OpenWatch::PumpInitial() {
  const std::weak_ptr<OpenWatch*> self = self_;
  for (int sent = 0; !initial_.empty(); ++sent) {
    if (sent == kEventsPerTurn) {
      Schedule();
      return false;
    }
    Event event;
    event.object = std::move(initial_.front());
    event.revision = event.object->revision;
    initial_.pop_front();
    const bool more = Send(EventFor(event));
    if (self.expired() || ended_) return false;
    if (!more) {
      paused_ = true;
      return false;
    }
  }
  if (std::exchange(initial_end_owed_, false)) SendBookmark(true);
  return !self.expired() && !ended_;
}

void OpenWatch::PumpHistory() {
  const std::weak_ptr<OpenWatch*> self = self_;
  const std::uint64_t asked = cursor_;
  if (too_old_) {
    SendTooOld(asked);
    return;
  }
  int told = 0;
  bool gone = false;
  const auto reached = server_.store().Replay(info_.table, cursor_, [&](const EventPtr& event) {
    const bool more = SendEvent(*event);
    gone = self.expired();
    if (gone || ended_) return false;
    cursor_ = event->revision;
    if (!more) paused_ = true;
    return more && ++told < kEventsPerTurn;
  });
  if (gone || ended_) return;
  if (!reached) {
    SendTooOld(asked);
    return;
  }
  if (paused_) return;
  if (told == kEventsPerTurn)
    Schedule();
  else if (cursor_ < *reached)
    cursor_ = *reached;
}

/// False when the sink can take no more for now.
bool OpenWatch::SendEvent(const Event& event) {
  if (!InScope(*event.object)) return true;
  Text text = EventFor(event);
  return !text || Send(std::move(text));
}

bool OpenWatch::Send(Text text) { return sink_->OnEvent(text); }

/// The event as this watch sees it: objects that begin or cease to match come and go. Null: not at all.
Text OpenWatch::EventFor(const Event& event) {
  const bool before = event.type != Event::Type::kAdded && Matches(event.before);
  const bool after = event.type != Event::Type::kDeleted && Matches(event.object);
  if (!before && !after) return nullptr;
  const Event::Type type = !before ? Event::Type::kAdded : !after ? Event::Type::kDeleted : Event::Type::kModified;
  const Encoder encoder(info_, form_, server_.types(), server_.tables(), server_.executor().Wall(), include_object_);
  if (type == event.type && encoder.Verbatim()) return server_.EventText(event);
  const bool columns = !std::exchange(columns_sent_, true);
  if (type != Event::Type::kDeleted || event.type == Event::Type::kDeleted)
    return std::make_shared<const std::string>(Compose(TypeName(type), encoder.EventObject(*event.object, columns)));
  // It left the selection: its last matching state, at this event's revision.
  const std::string json = JsonAtRevision(*event.before, event.revision);
  const auto grown = static_cast<std::uint32_t>(json.size() - event.before->json.size());
  return std::make_shared<const std::string>(Compose(
      "DELETED", encoder.EventObject(json, event.before->metadata_at, event.before->metadata_end + grown, columns)));
}

std::string OpenWatch::Compose(std::string_view type, std::string_view object) const {
  std::string out;
  out.reserve(object.size() + 40);
  out.append(R"({"type":")").append(type).append(R"(","object":)").append(object).append("}\n");
  return out;
}

/// The one error that ends a watch: what it would have to tell next is forgotten.
void OpenWatch::SendTooOld(std::uint64_t asked) {
  const Status status =
      Expired(fmt::format("too old resource version: {} ({})", asked, server_.store().OldestRevision(info_.table)));
  const std::weak_ptr<OpenWatch*> self = self_;
  Send(std::make_shared<const std::string>(Compose("ERROR", status.ToJson())));
  if (!self.expired()) End();
}

void OpenWatch::SendBookmark(bool initial_end) {
  std::string object = fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}")", info_.kind,
                                   info_.ApiVersion(), cursor_);
  if (initial_end) object += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  object += "}}";
  if (form_.kind == Form::Kind::kTable)
    object = fmt::format(
        R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":{{"resourceVersion":"{}"}},"columnDefinitions":null,"rows":[{{"cells":[],"object":{}}}]}})",
        form_.version, cursor_, object);
  Send(std::make_shared<const std::string>(Compose("BOOKMARK", object)));
}

void ApiServer::Committed(std::string_view table, const Event& event) {
  auto it = watches_.find(table);
  if (it == watches_.end()) return;
  for (OpenWatch* watch : it->second) watch->See(event);
}

Text ApiServer::EventText(const Event& event) {
  constexpr std::size_t kRecentBytes = 4U << 20U;
  if (Text known = event.text.lock()) return known;
  std::string out;
  out.reserve(event.object->json.size() + 40);
  out.append(R"({"type":")")
      .append(TypeName(event.type))
      .append(R"(","object":)")
      .append(event.object->json)
      .append("}\n");
  auto text = std::make_shared<const std::string>(std::move(out));
  event.text = text;
  recent_.push_back(text);
  recent_bytes_ += text->size();
  while (recent_bytes_ > kRecentBytes && recent_.size() > 1) {
    recent_bytes_ -= recent_.front()->size();
    recent_.pop_front();
  }
  return text;
}

Answer<std::unique_ptr<Watch>> ApiServer::OpenOne(const kube::ApiRequest& http, const User& user,
                                                  std::shared_ptr<WatchSink> sink) {
  ASSIGN(Request request, Admitted(http, user));
  ASSIGN(Form form, Negotiate(http.accept, true));
  ASSIGN(ListOptions options, ReadListOptions(request));
  if (!request.name().empty()) {  // a watch of one object, by its path
    ASSIGN(options.filter, ReadFilter(*request.resource, request.Param("labelSelector").value_or(""),
                                      "metadata.name=" + request.name()));
  }
  auto watch =
      std::make_unique<OpenWatch>(*this, std::move(request), std::move(form), std::move(options), std::move(sink));
  watch->Start();
  return watch;
}

std::expected<std::unique_ptr<Watch>, Response> ApiServer::Open(const kube::ApiRequest& request, const User& user,
                                                                std::shared_ptr<WatchSink> sink) {
  auto opened = OpenOne(request, user, std::move(sink));
  if (!opened) return std::unexpected(Response::Of(opened.error()));
  return *std::move(opened);
}

std::size_t ApiServer::DropWatches() {
  std::size_t dropped = 0;
  for (auto& [table, list] : watches_)
    for (OpenWatch* watch : list) watch->Drop(), ++dropped;
  return dropped;
}

std::size_t ApiServer::open_watches() const {
  std::size_t open = 0;
  for (const auto& [table, list] : watches_) open += list.size();
  return open;
}

}  // namespace gpuop::sim
