#include "net/http.h"

#include "base/ascii.h"
#include "base/text.h"

namespace gpuop::net {

const std::string* Headers::Find(std::string_view name) const {
  for (const Header& h : fields_)
    if (EqualsIgnoreCase(h.name, name)) return &h.value;
  return nullptr;
}

std::string_view Headers::Get(std::string_view name) const {
  const std::string* value = Find(name);
  return value != nullptr ? std::string_view(*value) : std::string_view();
}

bool Headers::Lists(std::string_view name, std::string_view token) const {
  for (const Header& h : fields_) {
    if (!EqualsIgnoreCase(h.name, name)) continue;
    for (std::string_view part : Split(h.value, ','))
      if (EqualsIgnoreCase(Trim(part), token)) return true;
  }
  return false;
}

void Headers::Set(std::string_view name, std::string value) {
  Remove(name);
  Add(std::string(name), std::move(value));
}

void Headers::Remove(std::string_view name) {
  std::erase_if(fields_, [&](const Header& h) { return EqualsIgnoreCase(h.name, name); });
}

Piece MakePiece(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

Body MakeBody(std::string bytes) {
  if (bytes.empty()) return {};
  return {MakePiece(std::move(bytes))};
}

std::size_t SizeOf(const Body& body) {
  std::size_t size = 0;
  for (const Piece& p : body) size += p->size();
  return size;
}

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 407: return "Proxy Authentication Required";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Request Entity Too Large";
    case 414: return "Request URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Entity";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

bool IsHeaderValue(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= 0x20 || c == '\t' || c < 0) && c != 0x7f; });
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) { return IsAlphanumeric(c) || kMarks.contains(c); });
}

}  // namespace gpuop::net
