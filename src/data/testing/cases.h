#pragma once
// Tables of cases under testdata/data. Their answers were taken from the programs and libraries that ours must agree
// with.

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/source_dir.h"
#include "data/json.h"

namespace gpuop::data {

/// The cases of a file, which is one JSON list; a single broken case when it cannot be read, so that tests fail.
inline std::vector<Json> TestCases(const std::string& file) {
  std::ifstream in(std::string(SourceDir()) + "/testdata/data/" + file);
  std::stringstream text;
  text << in.rdbuf();
  auto cases = ParseJson(text.str());
  if (!cases) return {Json(JsonObject{{"name", "Unreadable"}, {"error", cases.error().text}})};
  return {cases->get_array().begin(), cases->get_array().end()};
}

/// Names a test by its case's `name`.
inline std::string CaseName(const testing::TestParamInfo<Json>& info) {
  return std::string(StringOr(info.param, "name"));
}

}  // namespace gpuop::data
