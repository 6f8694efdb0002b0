#include "sim/encode.h"

#include <fmt/core.h>

#include "base/check.h"
#include "data/json.h"

namespace gpuop::sim {
namespace {

using boost::json::object;

object Parse(std::string_view json) {
  auto parsed = data::ParseJson(json);
  GPUOP_CHECK(parsed.has_value() && parsed->is_object());
  return std::move(parsed->get_object());
}

std::string_view Metadata(std::string_view json, std::uint32_t from, std::uint32_t to) {
  return json.substr(from, to - from);
}

std::string MetaText(const ListMeta& meta) {
  std::string out = fmt::format("\"metadata\":{{\"resourceVersion\":\"{}\"", meta.revision);
  if (!meta.continue_token.empty()) {
    out += ",\"continue\":";
    data::AppendJsonString(out, meta.continue_token);
    if (meta.remaining) out += fmt::format(",\"remainingItemCount\":{}", *meta.remaining);
  }
  return out + "}";
}

}  // namespace

bool Converts(const ResourceInfo& info) {
  return info.completed_on_read || info.version != info.storage_version || info.table != info.group + "/" + info.plural;
}

Encoder::Encoder(const ResourceInfo& info, const Form& form, TypeSystem& types, TableRenderer& tables, WallTime now,
                 std::string_view include_object)
    : info_(info),
      form_(form),
      types_(types),
      tables_(tables),
      now_(now),
      include_object_(include_object),
      converts_(Converts(info)) {}

std::string Encoder::Converted(std::string_view json) const {
  object o = Parse(json);
  if (auto done = types_.Convert(info_, o); !done) return std::string(json);
  std::string out;
  data::AppendJson(out, o);
  return out;
}

std::string Encoder::Partial(std::string_view metadata) const {
  return fmt::format("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/{}\",{}}}", form_.version,
                     metadata);
}

object Encoder::Read(std::string_view json) const {
  object o = Parse(json);
  if (converts_) (void)types_.Convert(info_, o).has_value();
  return o;
}

std::string Encoder::Table(const object& o, std::string_view metadata, bool columns) const {
  const boost::json::value* m = o.if_contains("metadata");
  const std::string_view revision = m == nullptr ? std::string_view() : data::StringOr(*m, "resourceVersion");
  return fmt::format(
      "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/"
      "{}\",\"metadata\":{{{}}},\"columnDefinitions\":{},\"rows\":[{}]}}",
      form_.version, revision.empty() ? "" : fmt::format("\"resourceVersion\":\"{}\"", revision),
      columns ? tables_.Columns(info_) : "null", Row(o, metadata));
}

std::string Encoder::Row(const object& o, std::string_view metadata) const {
  std::string row = "{" + tables_.Row(info_, o, now_);
  if (include_object_ == "Object") {
    row += ",\"object\":";
    data::AppendJson(row, o);
  } else {
    row += ",\"object\":" + (include_object_ == "None" ? "null" : Partial(metadata));
  }
  return row + "}";
}

Response Encoder::Object(const StoredPtr& stored, int status) const {
  Response r;
  r.status = status;
  r.content_type = form_.content_type;
  if (Verbatim())
    r.body.Append(stored, stored->json);
  else
    r.body.Append(EventObject(*stored, true));
  return r;
}

Response Encoder::Object(const object& o, int status) const {
  Response r = Response::Json({}, status);
  r.content_type = form_.content_type;
  std::string json;
  data::AppendJson(json, o);
  if (form_.kind == Form::Kind::kObject) {
    r.body.Append(std::move(json));
    return r;
  }
  std::string metadata = "\"metadata\":";
  const boost::json::value* m = o.if_contains("metadata");
  if (m == nullptr)
    metadata += "{}";
  else
    data::AppendJson(metadata, *m);
  if (form_.kind == Form::Kind::kPartial)
    r.body.Append(Partial(metadata));
  else
    r.body.Append(Table(o, metadata, true));
  return r;
}

void Encoder::AppendItem(Body& body, const StoredPtr& stored) const {
  switch (form_.kind) {
    case Form::Kind::kTable:
      body.Append(Row(Read(stored->json), Metadata(stored->json, stored->metadata_at, stored->metadata_end)));
      return;
    case Form::Kind::kPartial:
      body.Append(Partial(Metadata(stored->json, stored->metadata_at, stored->metadata_end)));
      return;
    case Form::Kind::kObject: break;
  }
  if (converts_) {
    body.Append(Converted(stored->json));
  } else if (info_.custom) {
    body.Append(stored, stored->json);
  } else {  // items of built-in lists say neither kind nor apiVersion
    body.Append(nullptr, "{");
    body.Append(stored, std::string_view(stored->json).substr(stored->metadata_at));
  }
}

Response Encoder::List(const std::vector<StoredPtr>& items, const ListMeta& meta) const {
  Response r;
  r.content_type = form_.content_type;
  const std::string meta_text = MetaText(meta);
  std::string head;
  switch (form_.kind) {
    case Form::Kind::kTable:
      head =
          fmt::format("{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/{}\",{},\"columnDefinitions\":{},\"rows\":[",
                      form_.version, meta_text, tables_.Columns(info_));
      break;
    case Form::Kind::kPartial:
      head = fmt::format("{{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/{}\",{},\"items\":[",
                         form_.version, meta_text);
      break;
    case Form::Kind::kObject:
      head = fmt::format("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",{},\"items\":[", info_.list_kind, info_.ApiVersion(),
                         meta_text);
  }
  r.body.Append(std::move(head));
  bool first = true;
  for (const StoredPtr& stored : items) {
    if (!first) r.body.Append(nullptr, ",");
    first = false;
    AppendItem(r.body, stored);
  }
  r.body.Append(nullptr, "]}");
  return r;
}

std::string Encoder::EventObject(const Stored& stored, bool columns) const {
  return EventObject(stored.json, stored.metadata_at, stored.metadata_end, columns);
}

std::string Encoder::EventObject(std::string_view json, std::uint32_t metadata_at, std::uint32_t metadata_end,
                                 bool columns) const {
  const std::string_view metadata = Metadata(json, metadata_at, metadata_end);
  switch (form_.kind) {
    case Form::Kind::kObject: return converts_ ? Converted(json) : std::string(json);
    case Form::Kind::kPartial: return Partial(metadata);
    case Form::Kind::kTable: break;
  }
  return Table(Read(json), metadata, columns);
}

}  // namespace gpuop::sim
