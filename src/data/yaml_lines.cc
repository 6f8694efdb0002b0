#include "data/yaml_lines.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <string>
#include <vector>

namespace gpuop::data {
namespace {

/// "a.b[2]" as its parts: a, b, 2.
std::vector<std::string> Parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const bool bracket = path.front() == '[';
    if (bracket || path.front() == '.') path.remove_prefix(1);
    const std::size_t end = std::min(bracket ? path.find(']') : path.find_first_of(".["), path.size());
    if (end > 0) parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + (bracket ? 1 : 0), path.size()));
  }
  return parts;
}

/// Follows the parser's events and remembers the line of the longest beginning of the path that it came by.
class Finder final : public YAML::EventHandler {
 public:
  explicit Finder(std::vector<std::string> wanted) : wanted_(std::move(wanted)) {}

  std::size_t line() const { return line_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Value(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Value(mark, ""); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& text) override {
    Value(mark, text);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    Begin(mark);
    levels_.push_back({.sequence = true});
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    Begin(mark);
    levels_.push_back({});
  }
  void OnSequenceEnd() override { End(); }
  void OnMapEnd() override { End(); }

 private:
  struct Level {
    bool sequence = false, has_key = false;
    std::size_t index = 0;
    std::string key = {};
  };

  void Value(const YAML::Mark& mark, const std::string& text) {
    if (!levels_.empty() && !levels_.back().sequence && !levels_.back().has_key) {
      levels_.back().key = text;
      levels_.back().has_key = true;
      return Look(mark);
    }
    Begin(mark);
    Done();
  }
  /// An item of a sequence begins (a map's value stands where its key does).
  void Begin(const YAML::Mark& mark) {
    if (!levels_.empty() && levels_.back().sequence) Look(mark);
  }
  void End() {
    levels_.pop_back();
    Done();
  }
  void Done() {
    if (levels_.empty()) return;
    ++levels_.back().index;
    levels_.back().has_key = false;
  }
  void Look(const YAML::Mark& mark) {
    if (levels_.size() > wanted_.size() || levels_.size() < best_) return;
    for (std::size_t i = 0; i < levels_.size(); ++i)
      if ((levels_[i].sequence ? std::to_string(levels_[i].index) : levels_[i].key) != wanted_[i]) return;
    best_ = levels_.size();
    line_ = static_cast<std::size_t>(mark.line) + 1;
  }

  const std::vector<std::string> wanted_;
  std::vector<Level> levels_;
  std::size_t best_ = 0, line_ = 1;
};

}  // namespace

std::size_t LineOf(std::string_view yaml, std::string_view path) {
  Finder finder(Parts(path));
  try {
    std::istringstream in{std::string(yaml)};
    YAML::Parser parser(in);
    parser.HandleNextDocument(finder);
  } catch (const YAML::Exception&) {
    return finder.line();
  }
  return finder.line();
}

}  // namespace gpuop::data
