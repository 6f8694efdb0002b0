// Our programs started by NVIDIA's manifests: what their operator gives each container (a record of v26.7.0) through
// the option readers of the program that the container names.

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "base/testing/source_dir.h"
#include "data/json.h"
#include "operands/device_plugin/settings.h"
#include "operands/driver_manager/options.h"
#include "operands/gfd/options.h"
#include "operands/mps/options.h"
#include "operands/toolkit/program/options.h"
#include "operands/validator/options.h"

namespace gpuop::operands {
namespace {

using Words = std::vector<std::string>;

/// One container as the kubelet starts it.
struct Start {
  std::string set, container;
  Words argv;
  std::map<std::string, std::string> env;

  std::optional<std::string> Variable(const std::string& name) const {
    const auto at = env.find(name);
    return at == env.end() ? std::nullopt : std::optional(at->second);
  }
  const char* Pointer(const char* name) const {
    const auto at = env.find(name);
    return at == env.end() ? nullptr : at->second.c_str();
  }
};

/// What their entry point scripts become in the end, by container; scripts are not in the record.
const std::map<std::string, std::string> kEntryPoints = {{"nvidia-container-toolkit-ctr", "nvidia-toolkit"},
                                                         {"nvidia-device-plugin", "nvidia-device-plugin"}};

Words WordsOf(const data::JsonObject& container, const char* field) {
  Words out;
  if (const data::JsonArray* words = data::GetArray(container, field))
    for (const data::Json& word : *words) out.emplace_back(word.as_string());
  return out;
}

Start StartOf(const std::string& set, const data::JsonObject& container) {
  Start out{.set = set, .container = std::string(data::StringOr(container, "name")), .argv = {}, .env = {}};
  out.argv = WordsOf(container, "command");
  for (std::string& word : WordsOf(container, "args")) out.argv.push_back(std::move(word));
  if (const auto script = kEntryPoints.find(out.container); script != kEntryPoints.end()) out.argv = {script->second};
  // A shell that starts one program is that program.
  if (out.argv.size() == 3 && out.argv[1] == "-c" && out.argv[2].find(' ') == std::string::npos)
    out.argv = {out.argv[2]};
  if (const data::JsonObject* env = data::GetObject(container, "env"))
    for (const auto& [name, value] : *env)
      out.env[std::string(name)] = value.is_string() ? std::string(value.as_string()) : "from-a-field";
  return out;
}

std::vector<Start> Starts() {
  std::ifstream file(SourceDir() + std::string("/testdata/manifests/oracle_default.json"));
  const auto record = data::ParseJson(std::string(std::istreambuf_iterator<char>(file), {}));
  std::vector<Start> out;
  for (const auto& [set, object] : record.value().at("DaemonSet").as_object())
    for (const char* const kind : {"pod.initContainers", "pod.containers"})
      if (const data::JsonArray* containers = data::GetArray(object, kind))
        for (const data::Json& container : *containers) out.push_back(StartOf(std::string(set), container.as_object()));
  return out;
}

/// Reads what the program is told; the error, or "" when it starts.
std::string Read(const Start& s) {
  const Words args(s.argv.begin() + 1, s.argv.end());
  const auto text = [&s](const std::string& name) { return s.Variable(name); };
  const auto pointer = [&s](const char* name) { return s.Pointer(name); };
  const auto told = [](const auto& result) { return result ? std::string() : result.error().text; };
  const std::map<std::string, std::function<std::string()>> readers = {
      {"nvidia-validator", [&] { return told(validator::ReadOptions(args, text)); }},
      {"driver-manager", [&] { return told(driver_manager::ReadOptions(text)); }},
      {"nvidia-toolkit", [&] { return told(toolkit::ReadOptions(args, pointer)); }},
      {"mps-control-daemon", [&] { return told(mps::ReadOptions(args, pointer)); }},
      {"gpu-feature-discovery",
       [&] {
         const auto given = gfd::ReadGiven(args, text);
         return given ? told(gfd::MakeOptions(*given, nullptr)) : given.error().text;
       }},
      {"nvidia-device-plugin",
       [&] {
         const auto flags = device_plugin::ReadFlags(args, pointer);
         return flags ? told(device_plugin::MakeSettings(*flags, pointer, nullptr)) : flags.error().text;
       }},
  };
  const auto reader = readers.find(s.argv[0]);
  return reader == readers.end() ? "there is no program " + s.argv[0] : reader->second();
}

/// Programs that are not ours: their images stay NVIDIA's. And waiting in a shell, which our manifests do without one.
bool IsOthers(const Start& s) {
  return s.container == "nvidia-dcgm-exporter" || s.container == "nvidia-driver-ctr" ||
         s.container == "nvidia-mig-manager" ||
         (s.argv.size() == 3 && (s.argv[2].starts_with("until ") || s.argv[2].starts_with("echo ")));
}

TEST(NvidiasManifestsTest, OurProgramsTakeWhatTheirContainersAreTold) {
  int ours = 0;
  for (const Start& start : Starts()) {
    if (IsOthers(start)) continue;
    ++ours;
    EXPECT_EQ(Read(start), "") << start.set << " " << start.container;
  }
  EXPECT_EQ(ours, 11) << "of the record's containers 11 run a program that is also ours";
}

TEST(NvidiasManifestsTest, AVariableThatCannotBeReadIsNamed) {
  int named = 0;
  for (Start start : Starts())
    if (auto value = start.env.find("WITH_WAIT"); value != start.env.end()) {
      value->second = "perhaps";
      named += Read(start).find("WITH_WAIT") != std::string::npos;
    }
  EXPECT_EQ(named, 5);
}

}  // namespace
}  // namespace gpuop::operands
