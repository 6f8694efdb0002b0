#pragma once
// The fixtures under testdata/, recorded from a real API server by tools/fixtures.

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/testing/source_dir.h"
#include "data/json.h"

namespace gpuop::sim::types {

struct FixtureFile {
  std::string name;
  std::string path;
};

inline std::vector<FixtureFile> FixtureFiles(const std::string& folder) {
  std::vector<FixtureFile> out;
  const std::filesystem::path root = std::filesystem::path(SourceDir()) / "testdata" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(root))
    if (entry.path().extension() == ".json") out.push_back({entry.path().stem().string(), entry.path().string()});
  std::ranges::sort(out, {}, &FixtureFile::name);
  return out;
}

inline boost::json::value ReadFixture(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto parsed = data::ParseJson(text);
  EXPECT_TRUE(parsed) << path;
  return parsed ? *std::move(parsed) : boost::json::value();
}

/// A name that gtest takes: "pod-env" becomes "pod_env".
inline std::string TestName(std::string name) {
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

/// With members sorted by name all the way down, so that a difference is easy to read.
inline boost::json::value Sorted(const boost::json::value& value) {
  if (const auto* list = value.if_array()) {
    boost::json::array out;
    for (const auto& element : *list) out.push_back(Sorted(element));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<std::string> names;
  for (const auto& [name, member] : value.get_object()) names.emplace_back(name);
  std::ranges::sort(names);
  boost::json::object out;
  for (const std::string& name : names) out[name] = Sorted(value.at(name));
  return out;
}
inline std::string Printed(const boost::json::value& value) { return data::ToPrettyJson(Sorted(value), 1); }

}  // namespace gpuop::sim::types
