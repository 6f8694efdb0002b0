#include "operands/nfd/sources/feature_file.h"

#include <algorithm>

#include "base/text.h"

namespace gpuop::operands::nfd {
namespace {

/// One file while it is read.
class FileReader {
 public:
  FileReader(WallTime now, LocalFeatures& out) : now_(now), out_(out) {}

  void Line(std::string_view line) {
    if (line.starts_with("# +")) return Directive(Trim(line.substr(3)));
    if (Trim(line).empty() || Trim(line).starts_with('#')) return;
    if (!expiry_ || *expiry_ > now_) Entry(line);
    no_feature_ = no_label_ = false;
  }
  std::vector<std::string> complaints;

 private:
  void Directive(std::string_view text) {
    if (text == "no-feature") {
      no_feature_ = true;
    } else if (text == "no-label") {
      no_label_ = true;
    } else if (text.starts_with("expiry-time=")) {
      const auto time = ParseTime(Trim(text.substr(12)));
      if (time)
        expiry_ = *time;
      else
        complaints.push_back("expiry time " + Quote(text.substr(12)) + " is no RFC 3339 time");
    } else {
      complaints.push_back("directive " + Quote(text) + " is unknown");
    }
  }

  void Entry(std::string_view line) {
    const auto cut = Cut(line, '=');
    const std::string key(cut ? cut->first : line);
    const std::string value(cut ? cut->second : "true");
    if (no_feature_)
      out_.features.erase(key);
    else
      out_.features[key] = value;
    if (no_label_)
      out_.labels.erase(key);
    else
      out_.labels[key] = value;
    if (expiry_) out_.until = out_.until ? std::min(*out_.until, *expiry_) : *expiry_;
  }

  const WallTime now_;
  LocalFeatures& out_;
  std::optional<WallTime> expiry_;
  bool no_feature_ = false, no_label_ = false;
};

}  // namespace

std::vector<std::string> AddFeatureFile(std::string_view text, WallTime now, LocalFeatures& out) {
  FileReader reader(now, out);
  for (std::string_view line : Split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.Line(line);
  }
  return std::move(reader.complaints);
}

}  // namespace gpuop::operands::nfd
