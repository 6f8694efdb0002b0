#include "kube/list_text.h"

#include <boost/json.hpp>

#include "kube/json_walker.h"

namespace gpuop::kube {
namespace {

namespace json = boost::json;

std::unexpected<Error> Bad(std::string_view what, std::size_t at) {
  return Fail(Code::kInvalid, "list: " + std::string(what) + " at byte " + std::to_string(at));
}

Result<> SplitItems(JsonWalker& in, std::vector<std::string_view>& items) {
  if (!in.Take('[')) {
    if (in.Value() == "null") return {};
    return Bad("items is no array", in.at());
  }
  if (in.Take(']')) return {};
  do {
    const std::string_view item = in.Value();
    if (item.empty()) return Bad("an item is cut short", in.at());
    items.push_back(item);
  } while (in.Take(','));
  if (!in.Take(']')) return Bad("items is not closed", in.at());
  return {};
}

/// Parses one object that stands in two pieces.
Result<json::object> ParseParts(std::string_view first, std::string_view second, json::storage_ptr memory) {
  json::parse_options options;
  options.max_depth = 512;
  boost::system::error_code failed;
  json::stream_parser parser(std::move(memory), options);
  parser.write(first.data(), first.size(), failed);
  if (!failed && !second.empty()) parser.write(second.data(), second.size(), failed);
  if (!failed) parser.finish(failed);
  if (failed) return Fail(Code::kInvalid, "bad JSON: " + failed.message());
  json::value value = parser.release();
  if (!value.is_object()) return Fail(Code::kInvalid, "bad JSON: an object is expected");
  return std::move(value.get_object());
}

Result<> ReadListMeta(std::string_view text, ListText& out) {
  ASSIGN(const json::object meta, ParseObject(text));
  if (const auto* v = meta.if_contains("resourceVersion"); v != nullptr && v->is_string())
    out.resource_version = v->get_string();
  if (const auto* v = meta.if_contains("continue"); v != nullptr && v->is_string())
    out.continue_token = v->get_string();
  if (const auto* v = meta.if_contains("remainingItemCount"); v != nullptr && v->is_int64())
    out.remaining = v->get_int64();
  return {};
}

}  // namespace

Result<ListText> SplitList(std::string_view body) {
  ListText out;
  JsonWalker in(body);
  bool found = false;
  if (!in.Take('{')) return Bad("no object", in.at());
  if (!in.Take('}')) {
    do {
      const std::string_view name = in.Value();
      if (!in.Take(':')) return Bad("no field", in.at());
      if (name == "\"items\"") {
        TRY(SplitItems(in, out.items));
        found = true;
        continue;
      }
      const std::string_view value = in.Value();
      if (value.empty()) return Bad("a value is cut short", in.at());
      if (name == "\"metadata\"") TRY(ReadListMeta(value, out));
    } while (in.Take(','));
    if (!in.Take('}')) return Bad("the object is not closed", in.at());
  }
  if (!found) return Bad("no items", in.at());
  return out;
}

Result<json::object> ParseObject(std::string_view text, json::storage_ptr memory) {
  return ParseParts(text, {}, std::move(memory));
}

Result<json::object> ParseWithoutManagedFields(std::string_view text, json::storage_ptr memory) {
  // Inside of a string the quotes would be escaped.
  constexpr std::string_view kField = ",\"managedFields\":";
  const std::size_t at = text.find(kField);
  if (at == std::string_view::npos) return ParseObject(text, std::move(memory));
  JsonWalker in(text.substr(at + kField.size()));
  if (in.Value().empty()) return ParseObject(text, std::move(memory));
  return ParseParts(text.substr(0, at), text.substr(at + kField.size() + in.at()), std::move(memory));
}

}  // namespace gpuop::kube
