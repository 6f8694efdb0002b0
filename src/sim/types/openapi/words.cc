#include "sim/types/openapi/words.h"

#include <map>

#include "base/text.h"
#include "sim/types/openapi/words_text.h"

namespace gpuop::sim::types {
namespace {

/// By type, then by field; "" is the type itself.
using Words = std::map<std::string_view, std::map<std::string_view, std::string_view>>;

Words Read() {
  Words out;
  std::map<std::string_view, std::string_view>* type = nullptr;
  bool begins = false;
  for (const std::string_view line : Split(WordsText(), '\n')) {
    if (line.empty()) continue;
    if (line.front() == '@') {
      type = &out[line.substr(1)];
      begins = true;
    } else if (std::exchange(begins, false)) {
      (*type)[""] = line;
    } else if (const auto parts = Cut(line, ' ')) {
      (*type)[parts->first] = parts->second;
    }
  }
  return out;
}

const Words& All() {
  static const Words& words = *new Words(Read());
  return words;
}

}  // namespace

std::string_view WordsOf(std::string_view type) { return WordsOf(type, ""); }

std::string_view WordsOf(std::string_view type, std::string_view field) {
  const auto found = All().find(type);
  if (found == All().end()) return {};
  const auto words = found->second.find(field);
  return words == found->second.end() ? std::string_view() : words->second;
}

void ForEachWords(const std::function<void(std::string_view, std::string_view, std::string_view)>& see) {
  for (const auto& [type, fields] : All())
    for (const auto& [field, words] : fields) see(type, field, words);
}

}  // namespace gpuop::sim::types
