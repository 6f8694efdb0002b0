// What NVIDIA's device plugin 0.20.0 told the kubelet on the same machines (testdata/device_plugin/recorded.json).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/source_dir.h"
#include "base/text.h"
#include "data/json.h"
#include "operands/device_plugin/answer.h"
#include "operands/device_plugin/preferred.h"
#include "operands/device_plugin/roster.h"
#include "operands/device_plugin/testing/profiles.h"
#include "os/real_fs.h"

namespace gpuop::operands::device_plugin {
namespace {

using data::Json;

std::string Text(const Json& json) { return std::string(data::AsView(json.get_string())); }

std::vector<std::string> List(const Json& json) {
  std::vector<std::string> out;
  for (const Json& entry : json.get_array()) out.push_back(Text(entry));
  return out;
}

/// One run: the machine, the settings, and what NVIDIA's plugin said.
class Run {
 public:
  explicit Run(const Json& record) : record_(record), inventory_(MachineOf(data::StringOr(record, "profile"))) {
    const Json& mig = record.at("mig_init");
    if (mig.is_string()) Divide(Text(mig));
    for (gpu::Device& device : inventory_.devices) device.numa_node = 0;
  }

  Result<Settings> MakeSettings() const {
    std::vector<std::string> args;
    for (std::string& arg : List(record_.at("argv")))
      if (!arg.starts_with("--config-file")) args.push_back(std::move(arg));
    for (std::string& arg : args)
      if (const auto at = arg.find("$ROOT"); at != std::string::npos) arg.replace(at, 5, "/root-of-driver");
    const Json& config = record_.at("config");
    const std::string text = config.is_string() ? Text(config) : "";
    return TrySettings(args, config.is_string() ? text.c_str() : nullptr);
  }

  const Json& record() const { return record_; }
  const gpu::Inventory& inventory() const { return inventory_; }
  /// NVIDIA's name for a MIG device, whose numbers are the recording's own.
  std::map<std::string, std::string> theirs_of;

 private:
  /// "0:3g.20gb,2g.10gb;1:1g.5gb*7", "*" for all GPUs.
  void Divide(const std::string& text) {
    for (const std::string_view part : Split(text, ';')) {
      const auto cut = *Cut(part, ':');
      for (std::size_t i = 0; i < inventory_.devices.size(); ++i)
        if (cut.first == "*" || cut.first == std::to_string(i)) SetMig(inventory_, i, cut.second);
    }
  }

  const Json& record_;
  gpu::Inventory inventory_;
};

/// The recording's MIG devices are the recording's own: theirs and ours are paired by place.
std::string Ours(const std::string& theirs, const std::vector<std::string>& their_ids,
                 const std::vector<std::string>& our_ids) {
  const auto at = std::ranges::find(their_ids, theirs);
  return at == their_ids.end() ? theirs : our_ids[static_cast<std::size_t>(at - their_ids.begin())];
}

/// Sorted by GPU; MIG-a0000001-… is on GPU 1.
std::vector<std::string> TheirIds(const Json& resource) {
  std::vector<std::string> out;
  for (const Json& device : resource.at("devices").get_array()) out.push_back(Text(device.at("id")));
  std::ranges::sort(out, {}, [](const std::string& id) {
    const auto cut = id.find("::");
    return std::pair(id.substr(0, cut), cut == std::string::npos ? 0 : std::stoi(id.substr(cut + 2)));
  });
  return out;
}

/// The GPUs of "0:3,1:2" in NVIDIA_VISIBLE_DEVICES, sorted.
std::vector<std::string> GpusOf(const std::map<std::string, std::string>& env) {
  std::vector<std::string> out;
  for (const std::string_view index : Split(env.at("NVIDIA_VISIBLE_DEVICES"), ',')) {
    const auto cut = Cut(index, ':');
    out.emplace_back(cut ? cut->first : index);
  }
  std::ranges::sort(out);
  return out;
}

void CheckAnswer(const Run& run, const Settings& settings, const Resource& resource, const Json& allocate,
                 const std::vector<std::string>& their_ids, const std::vector<std::string>& our_ids) {
  std::vector<std::string> ids;
  for (const std::string& id : List(allocate.at("request"))) ids.push_back(Ours(id, their_ids, our_ids));
  const auto checked = CheckRequest(resource, ids);
  if (const Json* error = data::Find(allocate, "response.error")) {
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().text, data::StringOr(*error, "message"));
    return;
  }
  ASSERT_TRUE(checked) << checked.error().text;
  Extras extras;
  extras.imex_channels =
      data::StringOr(run.record(), "profile") == "a100x" ? settings.imex_channels : std::vector<unsigned>();
  extras.control_nodes = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"};
  for (const auto& [on, name] : {std::pair(settings.gdrcopy, "gdrcopy=all"), std::pair(settings.gds, "gds=all"),
                                 std::pair(settings.mofed, "mofed=all")})
    if (on) extras.cdi_devices.emplace_back(name);
  const Answer answer = MakeAnswer(resource, ids, settings, extras, "<fresh-uuid>");
  const Json& theirs = allocate.at("response").at(0);
  const auto translated = [&](std::string text) {
    // Longer names first: "…10" holds "…1".
    for (std::size_t i = their_ids.size(); i-- > 0;)
      for (std::size_t at = 0; (at = text.find(their_ids[i], at)) != std::string::npos; at += our_ids[i].size())
        text.replace(at, their_ids[i].size(), our_ids[i]);
    return text;
  };
  std::map<std::string, std::string> env, annotations;
  for (const auto& member : theirs.at("envs").get_object()) env[member.key()] = translated(Text(member.value()));
  for (const auto& member : theirs.at("annotations").get_object())
    annotations[member.key()] = translated(Text(member.value()));
  if (resource.units.front().is_mig() && settings.ids == IdStrategy::kIndex) {
    // The numbers of MIG devices are the recording's own: it is the GPUs that must agree.
    EXPECT_EQ(GpusOf(answer.env), GpusOf(env));
  } else {
    EXPECT_EQ(answer.env, env);
  }
  EXPECT_EQ(answer.annotations, annotations);
  std::vector<std::string> cdi = List(theirs.at("cdi_devices"));
  for (std::string& name : cdi) name = translated(std::move(name));
  EXPECT_EQ(answer.cdi_devices, cdi);
  std::vector<Answer::Mount> mounts;
  for (const Json& mount : theirs.at("mounts").get_array())
    mounts.push_back({translated(Text(mount.at("container_path"))), Text(mount.at("host_path"))});
  EXPECT_EQ(answer.mounts, mounts);
  // Theirs come in no order, name a GPU once for each of its MIG devices, and their capability numbers are the
  // recording's.
  std::set<std::pair<std::string, std::string>> nodes, their_nodes;
  const auto is_cap = [](std::string_view path) { return path.starts_with("/dev/nvidia-caps/"); };
  std::size_t caps = 0, their_caps = 0;
  for (const Answer::Mount& node : answer.nodes)
    is_cap(node.container_path) ? void(++caps) : void(nodes.emplace(node.container_path, node.host_path));
  for (const Json& node : theirs.at("devices").get_array()) {
    EXPECT_EQ(data::StringOr(node, "permissions"), "rw");
    const std::string path = Text(node.at("container_path"));
    is_cap(path) ? void(++their_caps) : void(their_nodes.emplace(path, Text(node.at("host_path"))));
  }
  EXPECT_EQ(nodes, their_nodes);
  EXPECT_EQ(caps, their_caps);
}

/// How many of the answer's ids come from each GPU, sorted.
std::vector<int> SpreadOf(const Resource& resource, const std::vector<std::string>& ids) {
  std::map<std::string, int> counts;
  for (const std::string& id : ids)
    for (const Unit& unit : resource.units)
      if (unit.uuid == UuidOf(id)) ++counts[unit.gpu];
  std::vector<int> out;
  for (const auto& [gpu, count] : counts) out.push_back(count);
  std::ranges::sort(out);
  return out;
}

int ScoreOf(const Affinity& affinity, const std::vector<std::string>& gpus) {
  int out = 0;
  for (const std::string& a : gpus)
    for (const std::string& b : gpus) out += a < b ? affinity.Between(a, b) : 0;
  return out;
}

void CheckPreferred(const Run& run, const Settings& settings, const Resource& resource, const Json& preferred,
                    const std::vector<std::string>& their_ids, const std::vector<std::string>& our_ids) {
  const auto ours = [&](const std::vector<std::string>& list) {
    std::vector<std::string> out;
    for (const std::string& id : list) out.push_back(Ours(id, their_ids, our_ids));
    return out;
  };
  PreferredRequest request{ours(List(preferred.at("available"))), ours(List(preferred.at("must"))),
                           static_cast<int>(data::IntOr(preferred, "size"))};
  const Affinity affinity(run.inventory());
  const auto choice = Chooser(resource, affinity, settings.spread).Choose(request);
  if (const Json* error = data::Find(preferred, "response.error"); error != nullptr) {
    ASSERT_FALSE(choice);
    EXPECT_EQ(choice.error().text, data::StringOr(*error, "message"));
    return;
  }
  ASSERT_TRUE(choice) << choice.error().text;
  std::vector<std::string> theirs = ours(List(preferred.at("response").at(0)));
  EXPECT_EQ(choice->size(), theirs.size());
  for (const std::string& id : request.required)
    if (!theirs.empty()) EXPECT_TRUE(std::ranges::find(*choice, id) != choice->end());
  if (resource.units.front().is_mig()) return;  // theirs are picked at random; ours are spread over the GPUs
  if (resource.units.front().shared) {
    bool known = SpreadOf(resource, *choice) == SpreadOf(resource, theirs);
    if (const Json* others = data::Find(preferred, "other_answers_seen"))
      for (const Json& other : others->get_array())
        known |= SpreadOf(resource, *choice) == SpreadOf(resource, ours(List(other.at(0))));
    EXPECT_TRUE(known) << Words(*choice) << " instead of " << Words(theirs);
  } else {
    EXPECT_GE(ScoreOf(affinity, *choice), ScoreOf(affinity, theirs)) << Words(*choice) << " for " << Words(theirs);
  }
}

void Check(const Json& record) {
  Run run(record);
  const auto settings = run.MakeSettings();
  const bool fails = record.at("exit_code").is_int64();
  if (!settings) {
    EXPECT_TRUE(fails) << settings.error().text;
    return;
  }
  const Plan plan = PlanResources(run.inventory(), MinorsOf(run.inventory()), *settings);
  EXPECT_EQ(plan.misfit.has_value(), fails) << (plan.misfit ? plan.misfit->text : "");
  if (fails) return;
  const data::JsonObject& theirs = record.at("resources").get_object();
  ASSERT_EQ(plan.resources.size(), theirs.size());
  for (const Resource& resource : plan.resources) {
    const Json* const theirs_now = theirs.if_contains(resource.name);
    ASSERT_NE(theirs_now, nullptr) << resource.name;
    std::vector<std::string> our_ids;
    for (const Unit& unit : resource.units)
      for (std::string& id : IdsOf(unit)) our_ids.push_back(std::move(id));
    const std::vector<std::string> their_ids = TheirIds(*theirs_now);
    ASSERT_EQ(our_ids.size(), their_ids.size()) << resource.name;
    if (!resource.units.front().is_mig()) EXPECT_EQ(our_ids, their_ids);
    for (const Json& registration : record.at("registrations").get_array())
      if (data::StringOr(registration, "resource_name") == resource.name)
        EXPECT_EQ(SocketNameOf(resource.name), data::StringOr(registration, "endpoint"));
    for (const Json& allocate : theirs_now->at("allocate").get_array())
      CheckAnswer(run, *settings, resource, allocate, their_ids, our_ids);
    if (const Json* preferred = data::Find(*theirs_now, "preferred"))
      for (const Json& one : preferred->get_array()) CheckPreferred(run, *settings, resource, one, their_ids, our_ids);
  }
}

TEST(DevicePluginOracleTest, EveryRunAgrees) {
  const auto fs = os::RealFs::Open(SourceDir());
  const auto text = (*fs)->Read("testdata/device_plugin/recorded.json");
  ASSERT_TRUE(text) << text.error().text;
  const auto records = data::ParseJson(*text);
  ASSERT_TRUE(records) << records.error().text;
  std::size_t runs = 0;
  for (const Json& record : *data::GetArray(*records, "runs")) {
    const testing::Message name = testing::Message() << data::StringOr(record, "name");
    SCOPED_TRACE(name);
    Check(record);
    ++runs;
  }
  EXPECT_EQ(runs, 31U);
}

}  // namespace
}  // namespace gpuop::operands::device_plugin
