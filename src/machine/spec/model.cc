#include "machine/spec/model.h"

#include <algorithm>

#include "base/check.h"
#include "data/reader.h"
#include "data/yaml.h"
#include "machine/spec/data_files.h"

namespace gpuop::machine {
namespace {

struct Catalogue {
  std::vector<GpuModel> models;
  template <class V>
  void Visit(V& v) {
    v("models", models, {.required = true});
  }
};

}  // namespace

const std::vector<GpuModel>& GpuModels() {
  static const std::vector<GpuModel> kModels = [] {
    const auto json = data::ParseYaml(ModelsFile());
    GPUOP_CHECK(json.has_value());
    auto catalogue = data::ReadAs<Catalogue>(*json);
    GPUOP_CHECK(catalogue.has_value());
    return std::move(catalogue->models);
  }();
  return kModels;
}

const GpuModel* FindGpuModel(std::string_view model) {
  const auto it = std::ranges::find(GpuModels(), model, &GpuModel::model);
  return it == GpuModels().end() ? nullptr : &*it;
}

}  // namespace gpuop::machine
