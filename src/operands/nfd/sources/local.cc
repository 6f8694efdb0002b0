#include "base/text.h"
#include "operands/nfd/sources/feature_file.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {

Found FindLocal(const Question& question) {
  LocalFeatures local;
  const os::Fs& fs = question.host.fs();
  const std::string folder = question.host.At(kFeaturesFolder);
  Found out;
  std::size_t total = 0;
  for (const std::string& name : question.host.List(kFeaturesFolder, out.failed)) {
    if (name.starts_with('.')) continue;
    const std::string path = folder + "/" + name;
    const auto info = fs.Stat(path);
    out.failed = out.failed || (!info && info.error().code == Code::kIo);
    if (!info || info->type == os::FileType::kFolder) continue;
    const auto text = fs.Read(path, kMaxFeatureFile);
    if (!text) {
      out.failed = out.failed || text.error().code == Code::kIo;
      out.complaints.push_back(text.error().text);
      continue;
    }
    total += text->size();
    if (total > kMaxFeatureFiles) {
      out.complaints.push_back(path + ": feature files of more than " + std::to_string(kMaxFeatureFiles) +
                               " bytes in all");
      break;
    }
    for (const std::string& complaint : AddFeatureFile(*text, question.clock.Wall(), local))
      out.complaints.push_back(path + ": " + complaint);
  }
  out.features.attributes["local.label"] = local.labels;
  out.features.attributes["local.feature"] = std::move(local.features);
  out.labels = std::move(local.labels);
  out.until = local.until;
  return out;
}

}  // namespace gpuop::operands::nfd
