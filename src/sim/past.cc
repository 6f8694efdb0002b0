#include "sim/past.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace gpuop::sim {
namespace {

/// A difference is a row of these, each followed by `fresh` bytes: copy from the base, then what is new.
struct Step {
  std::uint32_t at = 0, copied = 0, fresh = 0;
};

/// So much of a text must be alike behind a change for it to be found again in the base, within so many bytes.
constexpr std::size_t kAlike = 24, kWithinText = 1024, kWithinBase = 2048;
/// Smaller objects are kept as they are.
constexpr std::size_t kWorthwhile = 2048;

std::size_t CommonPrefix(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(in_a - a.begin());
}

struct Found {
  std::size_t in_base = 0, in_text = 0;
};

/// Where text and base are alike again after both have differed.
std::optional<Found> FindAlike(std::string_view base, std::string_view text) {
  const std::string_view window = base.substr(0, kWithinBase);
  for (std::size_t i = 0; i < kWithinText && i + kAlike <= text.size(); ++i) {
    const std::string_view sample = text.substr(i, kAlike);
    const void* at = ::memmem(window.data(), window.size(), sample.data(), sample.size());
    if (at != nullptr) return Found{static_cast<std::size_t>(static_cast<const char*>(at) - base.data()), i};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Difference(std::string_view base, std::string_view text) {
  const std::size_t most = text.size() / 4;
  std::string out;
  for (std::size_t in_base = 0, in_text = 0; in_text < text.size();) {
    Step step;
    step.at = static_cast<std::uint32_t>(in_base);
    const std::size_t alike = CommonPrefix(base.substr(in_base), text.substr(in_text));
    step.copied = static_cast<std::uint32_t>(alike);
    in_base += alike, in_text += alike;
    const auto next = FindAlike(base.substr(in_base), text.substr(in_text));
    const std::size_t fresh = next ? next->in_text : text.size() - in_text;
    if (out.size() + sizeof step + fresh > most) return std::nullopt;
    step.fresh = static_cast<std::uint32_t>(fresh);
    out.append(reinterpret_cast<const char*>(&step), sizeof step).append(text, in_text, fresh);
    in_text += fresh;
    in_base += next ? next->in_base : 0;
  }
  out.shrink_to_fit();
  return out;
}

std::string Rebuild(std::string_view base, std::string_view difference) {
  std::size_t size = 0;
  const auto each = [&](auto use) {
    for (std::string_view rest = difference; !rest.empty();) {
      Step step;
      std::memcpy(&step, rest.data(), sizeof step);
      use(base.substr(step.at, step.copied), rest.substr(sizeof step, step.fresh));
      rest.remove_prefix(sizeof step + step.fresh);
    }
  };
  each([&](std::string_view copied, std::string_view fresh) { size += copied.size() + fresh.size(); });
  std::string out;
  out.reserve(size);
  each([&](std::string_view copied, std::string_view fresh) { out.append(copied).append(fresh); });
  return out;
}

std::shared_ptr<const PackedVersion> PackedVersion::Pack(const Stored& version, const StoredPtr& base) {
  if (version.json.size() < kWorthwhile || !version.escaped.empty()) return nullptr;
  auto difference = Difference(base->json, version.json);
  if (!difference) return nullptr;
  const auto span = [&](std::string_view part) -> Span {
    if (part.empty()) return {};
    return {static_cast<std::uint32_t>(part.data() - version.json.data()), static_cast<std::uint32_t>(part.size())};
  };
  auto out = std::make_shared<PackedVersion>();
  out->base_ = base;
  out->difference_ = *std::move(difference);
  out->revision_ = version.revision;
  out->metadata_at_ = version.metadata_at;
  out->metadata_end_ = version.metadata_end;
  out->revision_at_ = version.revision_at;
  out->ns_ = span(version.ns), out->name_ = span(version.name), out->uid_ = span(version.uid);
  if (version.labels != base->labels) out->labels_ = std::make_unique<const Labels>(version.labels);
  if (version.fields != base->fields) out->fields_ = std::make_unique<const TextList>(version.fields);
  return out;
}

StoredPtr PackedVersion::Unpack() const {
  auto out = std::make_shared<Stored>();
  out->json = Rebuild(base_->json, difference_);
  const auto part = [&](Span span) { return std::string_view(out->json).substr(span.at, span.size); };
  out->ns = part(ns_), out->name = part(name_), out->uid = part(uid_);
  out->revision = revision_;
  out->metadata_at = metadata_at_;
  out->metadata_end = metadata_end_;
  out->revision_at = revision_at_;
  out->labels = labels_ ? *labels_ : base_->labels;
  out->fields = fields_ ? *fields_ : base_->fields;
  return out;
}

EventPtr PastEvent::Get() const {
  if (recent) return recent;
  auto out = std::make_shared<Event>();
  out->type = type;
  out->revision = revision;
  out->object = object.Get();
  out->before = before.Get();
  return out;
}

}  // namespace gpuop::sim
