#include "sim/response.h"

namespace gpuop::sim {

void Body::Append(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const std::string_view bytes = *owner;
  Append(std::move(owner), bytes);
}

void Body::Append(std::shared_ptr<const void> owner, std::string_view bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  pieces_.push_back({std::move(owner), bytes});
}

std::string Body::Join() const {
  std::string out;
  out.reserve(size_);
  for (const Piece& piece : pieces_) out += piece.bytes;
  return out;
}

Response Response::Json(std::string text, int status) {
  Response r;
  r.status = status;
  r.body = Body(std::move(text));
  return r;
}

Response Response::Plain(std::string text, int status) {
  Response r = Json(std::move(text), status);
  r.content_type = "text/plain; charset=utf-8";
  return r;
}

Response Response::Of(const Status& failure) {
  if (failure.code == 404 && failure.reason.empty()) return Plain("404 page not found\n", 404);
  Response r = Json(failure.ToJson(), failure.code);
  if (failure.details && failure.details->retry_after_seconds > 0)
    r.retry_after = std::chrono::seconds(failure.details->retry_after_seconds);
  return r;
}

}  // namespace gpuop::sim
