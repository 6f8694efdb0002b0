// What nfd-worker v0.19.0 found on a machine with eight GPUs, beside what ours finds on one set up like it.

#include <gtest/gtest.h>

#include "base/testing/source_dir.h"
#include "data/json.h"
#include "operands/nfd/worker/discovery.h"
#include "os/fake_fs.h"
#include "os/real_fs.h"

namespace gpuop::operands::nfd {
namespace {

void PutMachine(os::FakeFs& fs) {
  const auto sys = [&](const std::string& path, const std::string& text) { fs.Put("/host-sys" + path, text + "\n"); };
  for (int i = 0; i < 8; ++i) {
    const std::string at = "/bus/pci/devices/0000:0" + std::to_string(i) + ":00.0/";
    for (const auto& [name, value] : {std::pair("class", "0x030200"),
                                      {"vendor", "0x10de"},
                                      {"device", "0x20b0"},
                                      {"subsystem_vendor", "0x10de"},
                                      {"subsystem_device", "0x1347"}})
      sys(at + name, value);
  }
  for (const char* disk : {"vda", "vdb", "vdc"})
    for (const auto& [name, value] : {std::pair("rotational", "0"), {"dax", "0"}, {"nr_zones", "0"}, {"zoned", "none"}})
      sys(std::string("/block/") + disk + "/queue/" + name, value);
  for (const auto& [name, value] : {std::pair("mtu", "1500"), {"operstate", "up"}, {"speed", "10000"}})
    sys(std::string("/class/net/eth0/") + name, value);
  for (const char* name : {"bond0", "dummy0", "lo"}) {
    sys(std::string("/class/net/") + name + "/operstate", "down");
    sys(std::string("/class/net/") + name + "/mtu", "1500");
    sys(std::string("/devices/virtual/net/") + name + "/mtu", "1500");
  }
  sys("/class/net/bond0/speed", "1");
  sys("/bus/node/devices/node0/cpulist", "0-1");
  for (const char* size : {"2048", "1048576"})
    sys("/kernel/mm/hugepages/hugepages-" + std::string(size) + "kB/nr_hugepages", "0");
  sys("/devices/system/cpu/cpu0/topology/physical_package_id", "0");
  sys("/devices/system/cpu/cpu0/topology/thread_siblings_list", "0");
  fs.Put("/proc/version", "Linux version 6.1.0-18-cloud (x) #1 SMP\n");
  fs.Put("/proc/swaps", "Filename Type Size Used Priority\n");
  fs.Put("/host-boot/config-6.1.0-18-cloud", "CONFIG_NO_HZ=y\nCONFIG_NO_HZ_IDLE=y\n# CONFIG_NO_HZ_FULL is not set\n");
  fs.Put("/host-etc/os-release",
         "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n"
         "VERSION=\"12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\nHOME_URL=\"https://www.debian.org/\"\n"
         "SUPPORT_URL=\"https://www.debian.org/support\"\nBUG_REPORT_URL=\"https://bugs.debian.org/\"\n");
}

/// What a label says of this computer's processor is not compared; cpuid_test.cc has the records' processor.
bool OfProcessor(std::string_view label) { return label.contains("/cpu-cpuid.") || label.contains("/cpu-model."); }

/// Each feature with the names in it: "kernel.version: full major minor revision", "pci.device[0]: class …".
std::set<std::string> Shape(const Features& features) {
  std::set<std::string> out;
  const auto names = [](const auto& elements) {
    std::string text;
    for (const auto& [name, value] : elements) text += " " + name;
    return text;
  };
  for (const auto& [feature, elements] : features.attributes)
    if (!feature.starts_with("cpu.") && feature != "kernel.config") out.insert(feature + ":" + names(elements));
  for (const auto& [feature, elements] : features.instances)
    for (std::size_t i = 0; i < elements.size(); ++i)
      out.insert(feature + "[" + std::to_string(i) + "]:" + names(elements[i]));
  return out;
}

std::set<std::string> RecordedShape(const data::Json& features) {
  Features out;
  const auto add = [](TextMap& to, const data::Json& from) {
    if (const auto* list = from.if_array())
      for (const data::Json& name : *list) to[std::string(data::AsView(name.get_string()))];
    if (const auto* map = from.if_object())
      for (const auto& member : *map) to[std::string(member.key())];
  };
  for (const auto& feature : features.at("attributes").get_object())
    add(out.attributes[std::string(feature.key())], feature.value());
  for (const auto& feature : features.at("instances").get_object()) {
    auto& instances = out.instances[std::string(feature.key())];
    for (const data::Json& instance : feature.value().get_array()) add(instances.emplace_back(), instance);
  }
  return Shape(out);
}

TEST(NfdWorkerOracleTest, EveryRecordedRunFindsTheSame) {
  const auto files = os::RealFs::Open(std::string(SourceDir()) + "/testdata/nfd");
  const data::Json records = *data::ParseJson(*(*files)->Read("/oracle.json"));
  const auto& runs = *data::GetArray(records, "worker");
  EXPECT_EQ(runs.size(), 6U);
  for (const data::Json& run : runs) {
    SCOPED_TRACE(std::string(data::StringOr(run, "name")));
    os::FakeFs fs;
    PutMachine(fs);
    fs.Put("/conf", std::string(data::StringOr(run, "config")));
    std::vector<std::string> args = {"-config=/conf"};
    for (const data::Json& arg : *data::GetArray(run, "argv")) args.emplace_back(data::AsView(arg.get_string()));
    const auto flags =
        container::ParseFlags(FlagsOf(WorkerFlags()), args, [](const char*) -> const char* { return nullptr; });
    ASSERT_TRUE(flags);
    const auto settings = ReadWorkerSettings(*flags, fs);
    ASSERT_TRUE(settings) << settings.error().text;
    FakeClock clock;
    FakeLog log;
    const Host host(fs);
    const NodeFacts facts = NodeDiscovery(host, "n1", clock, log).Look(*settings, true);
    TextMap got = facts.labels, want;
    for (const auto& member : run.at("labels").get_object())
      want[std::string(member.key())] = data::AsView(member.value().get_string());
    for (auto& [name, value] : got)
      if (const auto it = want.find(name); it != want.end() && it->second == "<machine>") value = "<machine>";
    std::erase_if(got, [](const auto& label) { return OfProcessor(label.first); });
    std::erase_if(want, [](const auto& label) { return OfProcessor(label.first); });
    EXPECT_EQ(got, want);
    EXPECT_EQ(Shape(facts.features), RecordedShape(run.at("features")));
  }
}

}  // namespace
}  // namespace gpuop::operands::nfd
