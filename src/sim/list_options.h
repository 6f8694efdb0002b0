#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/filter.h"
#include "sim/request.h"
#include "sim/status.h"

namespace gpuop::sim {

/// The parameters of a list or a watch, checked together as the API server checks them.
struct ListOptions {
  Filter filter;
  std::size_t limit = 0;
  std::string continue_token;
  /// Absent or empty: the newest.
  std::optional<std::uint64_t> revision;
  enum class Match : std::uint8_t { kNone, kExact, kNotOlderThan } match = Match::kNone;
  bool bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;
};

Answer<ListOptions> ReadListOptions(const Request& request);

/// Where a list goes on: a key relative to the list's namespace, and the revision it began at.
struct ContinueToken {
  std::uint64_t revision = 0;  // 0: as it is now, a list that is no longer consistent
  std::string start;
};

/// Base64 of {"v":"meta.k8s.io/v1","rv":N,"start":"/key\u0000"}.
std::string EncodeContinue(const ContinueToken& token);
Answer<ContinueToken> DecodeContinue(std::string_view text);

}  // namespace gpuop::sim
