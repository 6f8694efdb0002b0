#include <charconv>

#include "base/text.h"
#include "gpu/xid.h"

namespace gpuop::gpu {
namespace {

/// What stands behind the first `mark`.
std::optional<std::string_view> After(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + mark.size());
}

/// A number off the front.
std::optional<unsigned> TakeNumber(std::string_view& text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// The next part up to a comma, without quotes and blanks.
std::string_view TakePart(std::string_view& text) {
  const std::size_t comma = text.find(',');
  std::string_view part = Trim(text.substr(0, comma));
  text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  if (part.size() >= 2 && part.front() == '\'' && part.back() == '\'') part = part.substr(1, part.size() - 2);
  return part;
}

bool IsAddress(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

/// "PCI:0000:04:00): 79" off the front of `rest`.
struct Head {
  std::string pci;
  unsigned code;
};
std::optional<Head> TakeHead(std::string_view& rest) {
  const std::size_t close = rest.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view pci = rest.substr(0, close);
  if (pci.starts_with("PCI:")) pci.remove_prefix(4);
  rest.remove_prefix(close + 3);
  const auto code = TakeNumber(rest);
  if (!code || !IsAddress(pci)) return std::nullopt;
  if (!rest.empty() && rest.front() == ',') rest.remove_prefix(1);
  return Head{std::string(pci), *code};
}

}  // namespace

std::optional<XidMessage> ParseXidMessage(std::string_view line) {
  auto rest = After(line, "NVRM: Xid (");
  if (!rest) return std::nullopt;
  auto head = TakeHead(*rest);
  if (!head) return std::nullopt;
  XidMessage message{.pci = std::move(head->pci), .code = head->code, .pid = {}, .process = {}, .text = {}};
  if (Trim(*rest).starts_with("pid=")) {
    std::string_view pid = TakePart(*rest);
    pid.remove_prefix(4);
    if (pid.size() >= 2 && pid.front() == '\'') pid = pid.substr(1, pid.size() - 2);
    if (const auto number = ParseInt(pid); number && *number > 0 && *number <= 0x7fffffff)
      message.pid = static_cast<unsigned>(*number);
  }
  if (Trim(*rest).starts_with("name=")) {
    std::string_view name = TakePart(*rest);
    name.remove_prefix(5);
    if (name != "<unknown>") message.process = name;
  }
  message.text = Trim(*rest);
  return message;
}

std::optional<SxidMessage> ParseSxidMessage(std::string_view line) {
  auto rest = After(line, "nvidia-nvswitch");
  if (!rest) return std::nullopt;
  const auto number = TakeNumber(*rest);
  if (!number || !rest->starts_with(": SXid (")) return std::nullopt;
  rest->remove_prefix(8);
  auto head = TakeHead(*rest);
  if (!head) return std::nullopt;
  SxidMessage message{
      .nvswitch = *number, .pci = std::move(head->pci), .code = head->code, .fatal = false, .link = {}, .text = {}};
  message.fatal = TakePart(*rest) == "Fatal";
  *rest = Trim(*rest);
  if (rest->starts_with("Link ")) {
    rest->remove_prefix(5);
    message.link = TakeNumber(*rest);
  }
  message.text = Trim(*rest);
  return message;
}

}  // namespace gpuop::gpu
