// Holds the arrows between rooms to the table in LAYERS.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/testing/source_dir.h"

namespace gpuop {
namespace {

namespace fs = std::filesystem;
using Layers = std::map<std::string, std::set<std::string>>;

Layers ReadLayers(std::istream& in) {
  Layers layers;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream rooms(line.substr(colon + 1));
    std::set<std::string>& allowed = layers[line.substr(0, colon)];
    for (std::string room; rooms >> room;) allowed.insert(room);
  }
  return layers;
}

/// `from` may include `include` when it is its own room's, a system header's, or a room's that LAYERS lists.
std::string Complaint(const Layers& layers, const std::string& from, const std::string& include) {
  const std::size_t slash = include.find('/');
  if (slash == std::string::npos) return include == "pch.h" ? "" : "include \"" + include + "\" names no room";
  const std::string to = include.substr(0, slash);
  if (to == from) return "";
  const auto it = layers.find(from);
  if (it == layers.end()) return "room " + from + " is not in LAYERS";
  return it->second.contains(to) ? "" : "room " + from + " may not include room " + to;
}

/// The operand that a file belongs to: the folder below operands/; "" for what all operands share, which lies in
/// operands/ itself, in operands/build, operands/host or operands/testing.
std::string OperandOf(const fs::path& below_src) {
  const std::string path = below_src.generic_string();
  if (!path.starts_with("operands/")) return "";
  for (const char* const shared : {"operands/build/", "operands/host/", "operands/testing/"})
    if (path.starts_with(shared)) return "";
  const std::size_t begin = std::string("operands/").size(), end = path.find('/', begin);
  return end == std::string::npos ? "" : path.substr(begin, end - begin);
}

/// The room's name in "src/<room>/…".
std::string RoomOf(const fs::path& below_src) { return below_src.begin()->string(); }

TEST(Layers, EveryIncludeFollowsTheTable) {
  const fs::path root = fs::path(SourceDir());
  std::ifstream table(root / "LAYERS");
  const Layers layers = ReadLayers(table);
  ASSERT_GE(layers.size(), 10U);
  std::size_t includes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "src")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cc" && path.extension() != ".h") continue;
    const fs::path below = fs::relative(path, root / "src");
    if (below.begin() == std::prev(below.end())) continue;  // src/pch.h
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("#include \"")) continue;
      const std::string include = line.substr(10, line.find('"', 10) - 10);
      ++includes;
      EXPECT_EQ(Complaint(layers, RoomOf(below), include), "") << below << ": " << line;
      const std::string from = OperandOf(below), to = OperandOf(include);
      EXPECT_TRUE(from.empty() || to.empty() || from == to) << below << " includes another operand: " << include;
    }
  }
  EXPECT_GE(includes, 20U);
}

TEST(Layers, AnOperandIsAFolderBelowOperands) {
  EXPECT_EQ(OperandOf("operands/gfd/manifest.h"), "gfd");
  EXPECT_EQ(OperandOf("operands/facts.h"), "");
  EXPECT_EQ(OperandOf("operands/build/pod.h"), "");
  EXPECT_EQ(OperandOf("kube/types/pod.h"), "");
}

TEST(Layers, AnArrowThatIsNotListedIsRefused) {
  std::istringstream table("base:\ndata: base\n");
  const Layers layers = ReadLayers(table);
  EXPECT_EQ(Complaint(layers, "data", "base/result.h"), "");
  EXPECT_EQ(Complaint(layers, "base", "data/json.h"), "room base may not include room data");
  EXPECT_EQ(Complaint(layers, "cli", "base/result.h"), "room cli is not in LAYERS");
  EXPECT_EQ(Complaint(layers, "data", "json.h"), "include \"json.h\" names no room");
}

}  // namespace
}  // namespace gpuop
