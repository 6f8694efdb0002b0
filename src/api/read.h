#pragma once
// How an object with `meta`, `spec`, `status`, `unknown` and `error` is read. For the .cc files of the types.

#include <boost/json.hpp>
#include <string>

#include "base/result.h"
#include "data/reader.h"
#include "kube/decode.h"

namespace gpuop::api {

/// Reads one member of the object by its type's visitor; `error` gets what is wrong with it.
template <class T>
void ReadMember(const boost::json::object& in, std::string_view name, T& out, std::vector<std::string>* unknown,
                std::string& error) {
  const boost::json::value* member = in.if_contains(name);
  if (member == nullptr || member->is_null()) return;
  auto read = data::ReadAs<T>(*member, unknown, name);
  if (read) {
    out = *std::move(read);
  } else if (error.empty()) {
    error = std::move(read).error().text;
  }
}

/// An error only where the metadata cannot be read; any other is told by the object itself. A status that cannot be
/// read counts as none: we write it anew.
template <class T>
Result<T> ReadObject(const boost::json::object& in) {
  T out;
  if (const boost::json::value* meta = in.if_contains("metadata")) TRY(kube::ReadField(*meta, out.meta));
  ReadMember(in, "spec", out.spec, &out.unknown, out.error);
  std::string bad_status;
  ReadMember(in, "status", out.status, nullptr, bad_status);
  return out;
}

}  // namespace gpuop::api
