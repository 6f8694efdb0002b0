#pragma once

#include "data/cel/value.h"

namespace gpuop::data::cel {

// The string library of Kubernetes' expressions. Positions count characters, not bytes.

/// Whether `pattern` is found anywhere. kInvalid for what is no pattern.
Result<Value> Matches(const std::string& text, const std::string& pattern);
/// The first match, or nothing.
Result<Value> FindMatch(const std::string& text, const std::string& pattern);
/// kInvalid for positions outside of the text; IndexOf and LastIndexOf answer -1 for what is not there.
Result<Value> Substring(const std::string& text, std::int64_t from, std::optional<std::int64_t> to);
Result<Value> CharAt(const std::string& text, std::int64_t at);
Result<Value> IndexOf(const std::string& text, const std::string& part, std::int64_t from);
Result<Value> LastIndexOf(const std::string& text, const std::string& part);
/// At most `limit` parts; all when it is negative.
Result<Value> SplitText(const std::string& text, const std::string& separator, std::int64_t limit);
/// At most `limit` replacements; all when it is negative.
Result<Value> Replace(const std::string& text, const std::string& from, const std::string& to, std::int64_t limit);
Result<Value> JoinTexts(const Value& list, const std::string& separator);
/// %s, %d, %f (with precision), %x, %X, %b and %%.
Result<Value> FormatText(const std::string& format, const Value& args);

}  // namespace gpuop::data::cel
