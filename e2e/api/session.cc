#include "e2e/api/session.h"

#include <stdexcept>

#include "base/mutex.h"

namespace gpuop::e2e {
namespace {

namespace json = boost::json;

/// Collects a stream's pieces; the stream's thread writes, the scenario's reads.
class Collector final : public kube::StreamSink {
 public:
  void OnData(std::string_view piece) override {
    Lock l(mu_);
    pieces_.emplace_back(piece);
  }
  void OnEnd(Result<> why, std::optional<Duration>) override {
    Lock l(mu_);
    ended_ = true;
    end_ = why ? "in good order" : why.error().text;
  }
  std::vector<std::string> Pieces() const {
    Lock l(mu_);
    return pieces_;
  }
  bool Enough(std::size_t count) const {
    Lock l(mu_);
    return ended_ || pieces_.size() >= count;
  }
  std::string End() const {
    Lock l(mu_);
    return ended_ ? end_ : "";
  }

 private:
  mutable Mutex mu_;
  std::vector<std::string> pieces_ GUARDED_BY(mu_);
  bool ended_ GUARDED_BY(mu_) = false;
  std::string end_ GUARDED_BY(mu_);
};

json::value ParseBody(const std::string& body) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  return error ? json::value(body) : value;
}

std::string Title(const kube::ApiRequest& request) {
  std::string title = request.method + " " + request.path;
  char separator = '?';
  for (const auto& [key, value] : request.query) {
    title.append(1, separator)
        .append(key)
        .append("=")
        .append(key == "continue" || key == "resourceVersion" ? "…" : value);
    separator = '&';
  }
  if (!request.content_type.empty() && request.content_type != "application/json")
    title += " (" + request.content_type + ")";
  return title;
}

constexpr Duration kLimit = std::chrono::seconds(15);

}  // namespace

Session::Session(DoorFactory doors, Pump pump, std::string ns)
    : doors_(std::move(doors)), pump_(std::move(pump)), ns_(std::move(ns)), door_(doors_("", {})) {
  Quietly("POST", "/api/v1/namespaces", R"({"metadata":{"name":")" + ns_ + R"("}})");
}

std::string Session::Core(std::string_view rest) const { return "/api/v1/namespaces/" + ns_ + "/" + std::string(rest); }

std::string Session::Apis(std::string_view group_version, std::string_view rest) const {
  return "/apis/" + std::string(group_version) + "/namespaces/" + ns_ + "/" + std::string(rest);
}

json::value Session::Get(const std::string& path, Query query) {
  return Send({.method = "GET", .path = path, .query = std::move(query), .content_type = "", .body = ""});
}
json::value Session::Post(const std::string& path, std::string body, Query query) {
  return Send({.method = "POST",
               .path = path,
               .query = std::move(query),
               .content_type = "application/json",
               .body = std::move(body)});
}
json::value Session::Put(const std::string& path, std::string body, Query query) {
  return Send({.method = "PUT",
               .path = path,
               .query = std::move(query),
               .content_type = "application/json",
               .body = std::move(body)});
}
json::value Session::Delete(const std::string& path, std::string body, Query query) {
  const std::string type = body.empty() ? "" : "application/json";
  return Send(
      {.method = "DELETE", .path = path, .query = std::move(query), .content_type = type, .body = std::move(body)});
}
json::value Session::MergePatch(const std::string& path, std::string body, Query query) {
  return Send({.method = "PATCH",
               .path = path,
               .query = std::move(query),
               .content_type = "application/merge-patch+json",
               .body = std::move(body)});
}
json::value Session::JsonPatch(const std::string& path, std::string body, Query query) {
  return Send({.method = "PATCH",
               .path = path,
               .query = std::move(query),
               .content_type = "application/json-patch+json",
               .body = std::move(body)});
}
json::value Session::StrategicPatch(const std::string& path, std::string body, Query query) {
  return Send({.method = "PATCH",
               .path = path,
               .query = std::move(query),
               .content_type = "application/strategic-merge-patch+json",
               .body = std::move(body)});
}
json::value Session::Apply(const std::string& path, std::string body, const std::string& manager, bool force) {
  return Send({.method = "PATCH",
               .path = path,
               .query = {{"fieldManager", manager}, {"force", force ? "true" : "false"}},
               .content_type = "application/apply-patch+yaml",
               .body = std::move(body)});
}

json::value Session::Send(kube::ApiRequest request) {
  const auto response = door_->Call(request, kLimit, {});
  if (!response) {
    Record(Title(request), "no answer: " + response.error().text);
    return nullptr;
  }
  json::value body = ParseBody(response->body);
  Record(Title(request), std::to_string(response->status) + " " + normaliser_.Body(body));
  return body;
}

json::value Session::Quietly(const std::string& method, const std::string& path, std::string body) {
  kube::ApiRequest request{.method = method,
                           .path = path,
                           .query = {},
                           .content_type = body.empty() ? "" : "application/json",
                           .body = std::move(body)};
  if (method == "PATCH") request.content_type = "application/merge-patch+json";
  const auto response = door_->Call(request, kLimit, {});
  if (!response) throw std::runtime_error(method + " " + path + ": " + response.error().text);
  if (response->status >= 400 && response->status != 409)
    throw std::runtime_error(method + " " + path + ": " + response->body);
  return ParseBody(response->body);
}

void Session::WaitFor(const std::string& path) {
  pump_(
      [&] {
        const auto response = door_->Call({.path = path, .query = {}, .content_type = "", .body = ""}, kLimit, {});
        return response && response->status == 200;
      },
      std::chrono::seconds(10));
}

void Session::As(const std::string& user, const std::vector<std::string>& groups) { door_ = doors_(user, groups); }

void Session::Watch(const std::string& path, Query query, std::size_t count, const std::function<void()>& act) {
  query.emplace_back("watch", "true");
  const kube::ApiRequest request{
      .method = "GET", .path = path, .query = std::move(query), .content_type = "", .body = ""};
  const auto sink = std::make_shared<Collector>();
  const auto stream = door_->Open(request, sink);
  if (act) act();
  pump_([&] { return sink->Enough(count); }, std::chrono::seconds(5));
  const std::vector<std::string> pieces = sink->Pieces();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string title = Title(request) + " event " + std::to_string(i + 1);
    if (i < pieces.size()) {
      Record(title, normaliser_.Body(ParseBody(pieces[i])));
    } else {
      Record(title, "none; the stream ended: " + normaliser_.Text(sink->End()));
      break;
    }
  }
}

void Session::Note(std::string_view what, std::string_view value) {
  Record("note " + std::string(what), normaliser_.Text(std::string(value)));
}

void Session::Record(const std::string& title, const std::string& text) {
  ++checks_;
  transcript_.append("--- ").append(normaliser_.Text(title)).append("\n").append(text).append("\n");
}

}  // namespace gpuop::e2e
