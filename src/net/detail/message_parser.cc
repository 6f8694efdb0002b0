#include "net/detail/message_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace gpuop::net::detail {
namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

namespace {
std::string Copy(string_view s) { return std::string(s.data(), s.size()); }
}  // namespace

// Beast finds the parts of a message and calls back for each.
template <bool kIsRequest>
struct MessageParser::Reader final : http::basic_parser<kIsRequest> {
  MessageHead head;
  OnBody* body = nullptr;

  explicit Reader(std::size_t head_limit) {
    this->header_limit(static_cast<std::uint32_t>(head_limit));
    this->body_limit(boost::none);
  }

  void on_request_impl(http::verb, string_view method, string_view target, int version, error_code&) override {
    head.method = Copy(method);
    head.target = Copy(target);
    head.minor_version = version % 10;
  }
  void on_response_impl(int status, string_view, int version, error_code&) override {
    head.status = status;
    head.minor_version = version % 10;
  }
  void on_field_impl(http::field, string_view name, string_view value, error_code&) override {
    head.headers.Add(Copy(name), Copy(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view bytes, error_code&) override {
    (*body)({bytes.data(), bytes.size()});
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code&) override {
    (*body)({bytes.data(), bytes.size()});
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}
};

struct MessageParser::Core {
  Kind kind;
  std::size_t head_limit;
  std::optional<Reader<true>> request;
  std::optional<Reader<false>> response;

  // One of the two is there; `f` works on either.
  auto With(auto&& f) { return kind == Kind::kRequest ? f(*request) : f(*response); }
};

MessageParser::MessageParser(Kind kind, std::size_t head_limit)
    : core_(new Core{.kind = kind, .head_limit = head_limit, .request = {}, .response = {}}) {
  Next();
}
MessageParser::~MessageParser() = default;

void MessageParser::Next(bool no_body) {
  if (core_->kind == Kind::kRequest) {
    core_->request.emplace(core_->head_limit);
  } else {
    core_->response.emplace(core_->head_limit);
    core_->response->skip(no_body);
  }
}

Result<std::size_t> MessageParser::Feed(std::string_view bytes, OnBody& on_body) {
  return core_->With([&](auto& reader) -> Result<std::size_t> {
    reader.body = &on_body;
    std::size_t taken = 0;
    while (!reader.is_done()) {
      const bool had_head = reader.is_header_done();
      error_code error;
      const std::size_t n = reader.put({bytes.data() + taken, bytes.size() - taken}, error);
      taken += n;
      if (error == http::error::need_more) break;
      if (error == http::error::header_limit) return Fail(Code::kTooLarge, "the header is too large");
      if (error) return Fail(Code::kInvalid, "not HTTP: " + error.message());
      if ((!had_head && reader.is_header_done()) || taken == bytes.size()) break;
    }
    return taken;
  });
}

Result<> MessageParser::End() {
  return core_->With([&](auto& reader) -> Result<> {
    if (reader.is_done()) return {};
    error_code error = http::error::partial_message;
    if (reader.got_some()) reader.put_eof(error);
    if (error) return Fail(Code::kUnavailable, "the message is incomplete");
    return {};
  });
}

bool MessageParser::Begun() const {
  return core_->With([](auto& reader) { return reader.got_some(); });
}
bool MessageParser::HeadDone() const {
  return core_->With([](auto& reader) { return reader.is_header_done(); });
}
bool MessageParser::Done() const {
  return core_->With([](auto& reader) { return reader.is_done(); });
}
bool MessageParser::KeepAlive() const {
  return core_->With([](auto& reader) { return reader.keep_alive(); });
}
std::optional<std::uint64_t> MessageParser::ContentLength() const {
  return core_->With([](auto& reader) -> std::optional<std::uint64_t> {
    auto length = reader.content_length();
    return length ? std::optional(*length) : std::nullopt;
  });
}
const MessageHead& MessageParser::head() const {
  return *core_->With([](auto& reader) { return &reader.head; });
}
MessageHead MessageParser::TakeHead() {
  return core_->With([](auto& reader) { return std::move(reader.head); });
}

}  // namespace gpuop::net::detail
