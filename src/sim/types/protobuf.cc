#include "sim/types/protobuf.h"

#include <algorithm>
#include <bit>
#include <boost/json.hpp>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "base/text.h"
#include "data/json.h"
#include "sim/types/scalars.h"

namespace gpuop::sim::types {
namespace json = boost::json;
using data::Property;
using data::Schema;
using data::Type;

namespace {

constexpr int kMaxDepth = 100;
constexpr std::string_view kMagic("k8s\0", 4);

/// One field as it stands on the wire. https://protobuf.dev/programming-guides/encoding/
struct WireField {
  int number = 0;
  int wire = 0;  // 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
  std::uint64_t number_value = 0;
  std::string_view bytes;
};

std::unexpected<Error> Broken() { return Fail(Code::kInvalid, "proto: unexpected end of message or wrong wire type"); }

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool Done() const { return rest_.empty(); }

  Result<WireField> Next() {
    WireField field;
    ASSIGN(const std::uint64_t tag, Varint());
    field.wire = static_cast<int>(tag & 7U);
    if (tag >> 3U == 0 || tag >> 3U > 0x1fffffff) return Broken();
    field.number = static_cast<int>(tag >> 3U);
    switch (field.wire) {
      case 0: {
        ASSIGN(field.number_value, Varint());
        return field;
      }
      case 1: return Fixed(field, 8);
      case 5: return Fixed(field, 4);
      case 2: {
        ASSIGN(const std::uint64_t length, Varint());
        if (length > rest_.size()) return Broken();
        field.bytes = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return field;
      }
      default: return Broken();
    }
  }

  Result<std::uint64_t> Varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (rest_.empty()) return Broken();
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift < 64) out |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return out;
    }
    return Broken();
  }

 private:
  Result<WireField> Fixed(WireField field, std::size_t size) {
    if (rest_.size() < size) return Broken();
    for (std::size_t i = size; i-- > 0;)
      field.number_value = field.number_value << 8U | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(size);
    return field;
  }

  std::string_view rest_;
};

/// The last value of field `number` in a small message of ours to read whole (Quantity, Time, Unknown, map entries).
struct SmallMessage {
  std::vector<WireField> fields;

  static Result<SmallMessage> Read(std::string_view bytes) {
    SmallMessage out;
    WireReader reader(bytes);
    while (!reader.Done()) {
      ASSIGN(out.fields.emplace_back(), reader.Next());
    }
    return out;
  }
  std::string_view Bytes(int number) const {
    const WireField* f = Find(number);
    return f == nullptr ? std::string_view() : f->bytes;
  }
  std::int64_t Int(int number) const {
    const WireField* f = Find(number);
    return f == nullptr ? 0 : static_cast<std::int64_t>(f->number_value);
  }
  const WireField* Find(int number) const {
    for (auto it = fields.rbegin(); it != fields.rend(); ++it)
      if (it->number == number) return &*it;
    return nullptr;
  }
};

class MessageReader {
 public:
  /// `prefix` is the number under which the struct's inlined fields are listed (0 at its own level).
  Result<> Read(const Schema& schema, int prefix, std::string_view bytes, json::object& out, int depth) {
    if (depth > kMaxDepth) return Fail(Code::kInvalid, "proto: nested too deep");
    WireReader reader(bytes);
    while (!reader.Done()) {
      ASSIGN(const WireField field, reader.Next());
      const int number = prefix * 256 + field.number;
      if (field.number > 255) continue;
      if (const Property* property = ByNumber(schema, number)) {
        TRY(Store(*property->schema, field, out[property->name], depth));
      } else if (field.wire == 2 && HasInlined(schema, number)) {
        TRY(Read(schema, number, field.bytes, out, depth + 1));
      }
    }
    return {};
  }

 private:
  static const Property* ByNumber(const Schema& schema, int number) {
    const auto it = std::ranges::find(schema.properties, number, &Property::proto);
    return it == schema.properties.end() || number == 0 ? nullptr : &*it;
  }
  static bool HasInlined(const Schema& schema, int number) {
    return std::ranges::any_of(schema.properties,
                               [&](const Property& p) { return p.proto / 256 == number || p.proto / 65536 == number; });
  }

  /// Adds `field` to what `slot` holds already: repeated fields come one at a time.
  Result<> Store(const Schema& schema, const WireField& field, json::value& slot, int depth) {
    if (schema.type == Type::kArray && FormOf(schema) == Form::kNone) {
      if (!slot.is_array()) slot = json::array();
      return StoreElements(*schema.items, field, slot.get_array(), depth);
    }
    if (schema.values != nullptr) return StoreEntry(*schema.values, field, slot, depth);
    ASSIGN(slot, One(schema, field, depth));
    return {};
  }

  /// Numbers may come packed into one field.
  Result<> StoreElements(const Schema& items, const WireField& field, json::array& list, int depth) {
    const bool varint = items.type == Type::kInteger || items.type == Type::kBoolean;
    if (!varint || field.wire != 2) {
      ASSIGN(json::value element, One(items, field, depth));
      list.push_back(std::move(element));
      return {};
    }
    WireReader packed(field.bytes);
    while (!packed.Done()) {
      WireField one{field.number, 0, 0, {}};
      ASSIGN(one.number_value, packed.Varint());
      ASSIGN(json::value element, One(items, one, depth));
      list.push_back(std::move(element));
    }
    return {};
  }

  Result<> StoreEntry(const Schema& values, const WireField& field, json::value& slot, int depth) {
    if (field.wire != 2) return Broken();
    if (!slot.is_object()) slot = json::object();
    ASSIGN(const SmallMessage entry, SmallMessage::Read(field.bytes));
    const std::string_view key = entry.Bytes(1);
    if (!IsUtf8(key)) return Fail(Code::kInvalid, "proto: string field contains invalid UTF-8");
    json::value& value = slot.get_object()[key];
    const WireField* written = entry.Find(2);
    if (values.type == Type::kArray) {  // a list as a map's value is a message {1: items}
      value = json::array();
      if (written == nullptr) return {};
      ASSIGN(const SmallMessage list, SmallMessage::Read(written->bytes));
      for (const WireField& element : list.fields) TRY(StoreElements(*values.items, element, value.get_array(), depth));
      return {};
    }
    const bool message = values.type == Type::kObject || FormOf(values) != Form::kNone;
    ASSIGN(value,
           One(values,
               written != nullptr ? *written : WireField{2, message || values.type == Type::kString ? 2 : 0, 0, {}},
               depth));
    return {};
  }

  Result<json::value> One(const Schema& schema, const WireField& field, int depth) {
    if (const Form form = FormOf(schema); form != Form::kNone) return Special(form, schema, field, depth);
    const bool delimited = schema.type == Type::kString || schema.type == Type::kObject;
    if (delimited != (field.wire == 2)) return Broken();
    switch (schema.type) {
      case Type::kString:
        if (schema.format == "byte") return json::value(Base64Encode(field.bytes));
        return Text(field.bytes);
      case Type::kBoolean: return json::value(field.number_value != 0);
      case Type::kInteger:
        if (schema.format == "int32")
          return json::value(static_cast<std::int64_t>(static_cast<std::int32_t>(field.number_value)));
        return json::value(static_cast<std::int64_t>(field.number_value));
      case Type::kNumber: return json::value(std::bit_cast<double>(field.number_value));
      case Type::kObject: {
        json::object out;
        TRY(Read(schema, 0, field.bytes, out, depth + 1));
        return json::value(std::move(out));
      }
      default: return Broken();
    }
  }

  static Result<json::value> Text(std::string_view bytes) {
    if (!IsUtf8(bytes)) return Fail(Code::kInvalid, "proto: string field contains invalid UTF-8");
    return json::value(bytes);
  }

  Result<json::value> Special(Form form, const Schema& schema, const WireField& field, int depth) {
    if (field.wire != 2) return Broken();
    ASSIGN(const SmallMessage message, SmallMessage::Read(field.bytes));
    switch (form) {
      case Form::kQuantity: return Text(message.Bytes(1));
      case Form::kIntOrString:
        if (message.Int(1) == 0)
          return json::value(static_cast<std::int64_t>(static_cast<std::int32_t>(message.Int(2))));
        return Text(message.Bytes(3));
      case Form::kTime: return Moment(message, false);
      case Form::kMicroTime: return Moment(message, true);
      case Form::kSchemaOrBool:
        if (message.Find(2) == nullptr) return json::value(message.Int(1) != 0);
        return SubSchema(*schema.items, message.Bytes(2), depth);
      case Form::kSchemaOrArray:
      case Form::kSchemaOrStrings: return SchemaOrList(form, schema, message, depth);
      default: {
        if (message.Bytes(1).empty()) return json::value(nullptr);
        return data::ParseJson(message.Bytes(1));
      }
    }
  }

  Result<json::value> SchemaOrList(Form form, const Schema& schema, const SmallMessage& message, int depth) {
    if (message.Find(1) != nullptr) return SubSchema(*schema.items, message.Bytes(1), depth);
    json::array list;
    for (const WireField& element : message.fields) {
      if (element.number != 2) continue;
      ASSIGN(json::value one,
             form == Form::kSchemaOrArray ? SubSchema(*schema.items, element.bytes, depth) : Text(element.bytes));
      list.push_back(std::move(one));
    }
    return json::value(std::move(list));
  }

  Result<json::value> SubSchema(const Schema& schema, std::string_view bytes, int depth) {
    json::object out;
    TRY(Read(schema, 0, bytes, out, depth + 1));
    return json::value(std::move(out));
  }

  /// Time is {1: seconds, 2: nanos} since 1970. Years outside 0001–9999 cannot be written.
  static Result<json::value> Moment(const SmallMessage& message, bool micro) {
    const std::int64_t seconds = message.Int(1);
    if (message.fields.empty() || (seconds == -62135596800 && message.Int(2) == 0)) return json::value(nullptr);
    if (seconds < -8'000'000'000 || seconds > 8'000'000'000) return Fail(Code::kInvalid, "proto: time out of range");
    const std::int64_t nanos = micro ? message.Int(2) % 1'000'000'000 : 0;
    const WallTime time{std::chrono::seconds(seconds) + Duration(nanos)};
    return json::value(micro ? FormatMicroTime(time) : FormatTime(time));
  }
};

}  // namespace

bool IsProtobuf(std::string_view body) { return body.starts_with(kMagic); }

Result<Envelope> OpenEnvelope(std::string_view body) {
  if (!IsProtobuf(body))
    return Fail(Code::kInvalid,
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  ASSIGN(const SmallMessage unknown, SmallMessage::Read(body.substr(kMagic.size())));
  if (!unknown.Bytes(3).empty())
    return Fail(Code::kInvalid, "unable to decode protobuf of encoding " + Quote(unknown.Bytes(3)));
  ASSIGN(const SmallMessage type, SmallMessage::Read(unknown.Bytes(1)));
  return Envelope{std::string(type.Bytes(1)), std::string(type.Bytes(2)), unknown.Bytes(2)};
}

Result<json::object> DecodeMessage(const Schema& schema, std::string_view message) {
  json::object out;
  TRY(MessageReader().Read(schema, 0, message, out, 0));
  return out;
}

}  // namespace gpuop::sim::types
