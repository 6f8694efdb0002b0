// What NVIDIA's `nvidia-ctk cdi generate` 1.20.0 wrote for the same trees (testdata/toolkit/generate.json).
#include "base/testing/source_dir.h"
#include "base/text.h"
#include "container/generate/generate.h"
#include "container/testing/elf_file.h"
#include "os/diff.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::container {
namespace {

constexpr const char* kRoot = "/root-of-driver";

/// "c /dev/nvidia0 195:0 666 gid=44", "l /a -> b", "f /lib/x.so soname=x", "d /x", "s /run/x/socket".
void Put(os::FakeFs& fs, const std::string& line) {
  const std::vector<std::string_view> words = Split(line, ' ');
  const std::string path(words[1]);
  if (words[0] == "c") {
    const auto numbers = *Cut(words[2], ':');
    os::FileAttributes attributes{.mode = static_cast<mode_t>(std::stoul(std::string(words[3]), nullptr, 8))};
    if (words.size() > 4) attributes.gid = static_cast<gid_t>(*ParseInt(words[4].substr(4)));
    fs.PutDevice(path,
                 {.major = static_cast<unsigned>(*ParseInt(numbers.first)),
                  .minor = static_cast<unsigned>(*ParseInt(numbers.second))},
                 attributes);
  } else if (words[0] == "l") {
    ASSERT_TRUE(os::MakeFolders(fs, path.substr(0, path.rfind('/'))));
    ASSERT_TRUE(fs.Symlink(std::string(words[3]), path));
  } else if (words[0] == "d") {
    ASSERT_TRUE(os::MakeFolders(fs, path));
  } else if (words.size() > 2 && words[2].starts_with("soname=")) {
    fs.Put(path, ElfFile(std::string(words[2].substr(7))));
  } else {
    fs.Put(path, "");
  }
}

struct Tree {
  os::FakeFs driver, host;
  MachineFacts machine;
};

/// The instance numbers of a record's MIG devices, which are the recording's own, are taken from the record's nodes.
void AddMigDevices(const data::Json& record, MachineFacts& machine) {
  const data::JsonArray* devices = data::GetArray(record, "spec.devices");
  for (const data::Json& device : *devices) {
    std::string name(data::StringOr(device, "name"));
    if (name.starts_with("mig")) name = name.substr(3);
    const auto parts = Cut(name, ':');
    if (!parts || name.starts_with("MIG-")) continue;
    const data::JsonArray& nodes = *data::GetArray(device, "containerEdits.deviceNodes");
    const auto cap = [&](std::size_t i) {
      return static_cast<unsigned>(
          *ParseInt(data::StringOr(nodes[i], "path").substr(std::string_view("/dev/nvidia-caps/nvidia-cap").size())));
    };
    const unsigned gpu = static_cast<unsigned>(*ParseInt(parts->first));
    const unsigned instance = (cap(1) - 3 - 135 * gpu) / 9;
    MigFacts mig{.index = static_cast<unsigned>(*ParseInt(parts->second)),
                 .gpu_instance = instance,
                 .compute_instance = cap(2) - 4 - 135 * gpu - 9 * instance};
    for (const data::Json& other : *devices)
      if (data::StringOr(other, "name").starts_with("MIG-")) mig.uuid = data::StringOr(other, "name");
    machine.gpus[gpu].mig_enabled = true;
    machine.gpus[gpu].mig_devices.push_back(mig);
  }
}

void Build(const data::Json& records, const data::Json& record, Tree& tree) {
  const std::string name(data::StringOr(record, "tree"));
  for (const data::Json& line : data::GetObject(records, "trees")->at(name).get_array())
    Put(tree.driver, std::string(data::AsView(line.get_string())));
  const std::string uuid =
      name == "gb200" ? "GPU-b200b200-0000-0000-0000-00000000000" : "GPU-12345678-1234-1234-1234-12345678000";
  for (unsigned i = 0; tree.driver.Stat("/dev/nvidia" + std::to_string(i)); ++i)
    tree.machine.gpus.push_back(
        {.index = i, .minor = i, .uuid = uuid + std::to_string(i), .pci = "0000:0" + std::to_string(i) + ":00.0"});
  if (!name.ends_with("mig")) return;
  AddMigDevices(record, tree.machine);
  if (data::StringOr(record, "mig.name") == "mixed") tree.machine.gpus[2].mig_enabled = true;
  std::string minors = "config 1\nmonitor 2\n";
  for (unsigned g = 0; g < 8; ++g)
    for (unsigned i = 0; i < 15; ++i) {
      const std::string at = "gpu" + std::to_string(g) + "/gi" + std::to_string(i);
      minors += at + "/access " + std::to_string(135 * g + 3 + 9 * i) + "\n";
      for (unsigned c = 0; c < 8; ++c)
        minors += at + "/ci" + std::to_string(c) + "/access " + std::to_string(135 * g + 4 + 9 * i + c) + "\n";
    }
  tree.host.Put("/proc/driver/nvidia-caps/mig-minors", minors);
}

struct Call {
  GenerateOptions options;
  bool known = true;
};

Call Parse(const data::Json& record) {
  Call call;
  GenerateOptions& o = call.options;
  o.driver_root = o.dev_root = kRoot;
  std::vector<CdiNaming> naming;
  std::vector<std::string> devices;
  for (const data::Json& item : *data::GetArray(record, "argv")) {
    const std::string argument(data::AsView(item.get_string()));
    const auto parts = Cut(argument, '=');
    if (argument == "--no-all-device") o.all_device = false;
    if (!parts) continue;
    const std::string value(parts->second);
    if (parts->first == "--mode") o.mode = CdiModeNamed(value).value();
    if (parts->first == "--vendor") o.vendor = value;
    if (parts->first == "--ldconfig-path") o.ldconfig_path = value;
    if (parts->first == "--disable-hook") o.disabled_hooks.insert(value);
    if (parts->first == "--enable-hook") o.enabled_hooks.insert(value);
    if (parts->first == "--feature-flag") o.features.insert(value);
    if (parts->first == "--device-id") devices.push_back(value);
    if (parts->first == "--device-name-strategy") {
      call.known = call.known && CdiNamingNamed(value).has_value();
      if (call.known) naming.push_back(*CdiNamingNamed(value));
    }
  }
  if (!naming.empty()) o.naming = naming;
  if (!devices.empty()) o.devices = devices;
  return call;
}

std::string Place(std::string text) {
  for (std::size_t i = text.find("$ROOT"); i != std::string::npos; i = text.find("$ROOT", i)) text.replace(i, 5, kRoot);
  return text;
}

TEST(GenerateOracleTest, EveryRecordAgrees) {
  const auto fs = os::RealFs::Open(SourceDir()).value();
  const data::Json records = data::ParseJson(fs->Read("/testdata/toolkit/generate.json").value()).value();
  int compared = 0;
  for (const data::Json& record : *data::GetArray(records, "runs")) {
    std::string trace(data::StringOr(record, "tree"));
    for (const data::Json& item : *data::GetArray(record, "argv"))
      trace += " " + std::string(data::AsView(item.get_string()));
    SCOPED_TRACE(trace);
    const Call call = Parse(record);
    Tree tree;
    Build(records, record, tree);
    const bool fails = data::IntOr(record, "exit_code") != 0;
    if (!call.known) {
      EXPECT_TRUE(fails);
      continue;
    }
    const auto spec = GenerateCdiSpec({tree.driver, tree.driver, tree.host}, tree.machine, call.options);
    EXPECT_EQ(spec.has_value(), !fails) << (spec ? "" : spec.error().text);
    ++compared;
    if (!spec || fails) continue;
    // Theirs gives every device a chmod hook without a path (docs/container.md, "Differences").
    if (call.options.enabled_hooks.contains("chmod")) continue;
    const data::Json want = data::ParseJson(Place(data::ToJson(*data::Find(record, "spec")))).value();
    const std::string theirs = CdiSpecToYaml(ReadCdiSpec("record", data::ToJson(want)).value());
    EXPECT_EQ(os::UnifiedDiff("theirs", "ours", theirs, CdiSpecToYaml(*spec)), "");
  }
  EXPECT_EQ(compared, 30);
}

}  // namespace
}  // namespace gpuop::container
