#include "sim/filter.h"

#include <fmt/core.h>

#include "base/text.h"
#include "data/field_selector.h"
#include "data/label_selector.h"

namespace gpuop::sim {
namespace {

/// What one term of a field selector looks at.
struct FieldTest {
  enum class What : std::uint8_t { kName, kNamespace, kField } what = What::kField;
  std::size_t index = 0;
  std::string value;
  bool equal = true;

  bool Matches(const Stored& stored) const {
    const std::string_view has = what == What::kName        ? stored.name
                                 : what == What::kNamespace ? stored.ns
                                                            : stored.fields[index];
    return (has == value) == equal;
  }
};

Answer<FieldTest> TestOf(const ResourceInfo& info, const data::FieldSelector::Term& term) {
  FieldTest test{FieldTest::What::kField, 0, term.value, term.equal};
  if (term.field == "metadata.name") {
    test.what = FieldTest::What::kName;
    return test;
  }
  if (term.field == "metadata.namespace") {
    test.what = FieldTest::What::kNamespace;
    return test;
  }
  for (std::size_t i = 0; i < info.selectable.size(); ++i)
    if (info.selectable[i].label == term.field) {
      test.index = i;
      return test;
    }
  std::string message = fmt::format("{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                                    Quote(term.field));
  if (!info.selectable.empty()) message = fmt::format("field label not supported: {}", term.field);
  if (info.custom || info.selectable.empty()) return std::unexpected(BadRequest(std::move(message)));
  return std::unexpected(BadRequest(std::move(message)));
}

}  // namespace

Answer<Filter> ReadFilter(const ResourceInfo& info, std::string_view label_selector, std::string_view field_selector) {
  auto labels = data::LabelSelector::Parse(label_selector);
  if (!labels) return std::unexpected(BadRequest(labels.error().text));
  auto fields = data::FieldSelector::Parse(field_selector);
  if (!fields) return std::unexpected(BadRequest(fields.error().text));
  Filter filter;
  std::vector<FieldTest> tests;
  for (const auto& term : fields->terms()) {
    ASSIGN(tests.emplace_back(), TestOf(info, term));
    if (tests.back().what == FieldTest::What::kName && term.equal) filter.name = term.value;
  }
  if (tests.empty() && labels->Everything()) return filter;
  filter.matches = [tests = std::move(tests), labels = *std::move(labels)](const Stored& stored) {
    return std::ranges::all_of(tests, [&](const FieldTest& t) { return t.Matches(stored); }) &&
           labels.MatchesBy([&](std::string_view key) { return stored.labels.Find(key); });
  };
  return filter;
}

}  // namespace gpuop::sim
