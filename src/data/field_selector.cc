#include "data/field_selector.h"

#include "base/text.h"

namespace gpuop::data {
namespace {

Result<std::string> Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=')
      return Fail(Code::kInvalid, "invalid field selector: unescaped character in value: " + std::to_string(int{c}));
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++i == text.size()) return Fail(Code::kInvalid, "invalid field selector: invalid escape sequence: \\");
    if (text[i] != '\\' && text[i] != ',' && text[i] != '=')
      return Fail(Code::kInvalid, "invalid field selector: invalid escape sequence: \\" + std::string(1, text[i]));
    out += text[i];
  }
  return out;
}

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(std::min(start, text.size())));
  return terms;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  std::vector<std::string_view> parts = SplitTerms(text);
  std::ranges::sort(parts);
  std::vector<Term> terms;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    std::size_t at = part.find('=');
    if (at == std::string_view::npos)
      return Fail(Code::kInvalid,
                  "invalid selector: '" + std::string(text) + "'; can't understand '" + std::string(part) + "'");
    const bool equal = at == 0 || part[at - 1] != '!';
    const std::string_view field = part.substr(0, equal ? at : at - 1);
    at += equal && part.substr(at).starts_with("==") ? 2 : 1;
    ASSIGN(std::string value, Unescape(part.substr(at)));
    terms.push_back({std::string(field), std::move(value), equal});
  }
  return FieldSelector(std::move(terms));
}

const std::string* FieldSelector::Exact(std::string_view field) const {
  const auto it = std::ranges::find_if(terms_, [&](const Term& t) { return t.equal && t.field == field; });
  return it == terms_.end() ? nullptr : &it->value;
}

std::string FieldSelector::ToString() const {
  std::vector<std::string> parts;
  for (const Term& term : terms_) parts.push_back(term.field + (term.equal ? "=" : "!=") + Escape(term.value));
  return Join(parts, ",");
}

}  // namespace gpuop::data
