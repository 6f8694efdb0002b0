#include "machine/spec/spec.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/source_dir.h"
#include "data/json.h"
#include "data/schema_of.h"
#include "machine/spec/build.h"
#include "machine/spec/pci_address.h"

namespace gpuop::machine {
namespace {

constexpr std::string_view kGood = R"(machine: v1
name: m
host:
  cpus: 8
  numaNodes: 2
  os:
    id: ubuntu
    versionId: "24.04"
driver:
  version: 550.163.01
  cuda: "12.4"
gpus:
- model: a100-sxm4-40gb
  count: 2
  pci: ["0000:07:00.0", "0000:0F:00.0"]
  numa:
  - 0
  - 1
  mig:
    enabled: true
    instances: [3g.20gb]
faults:
- fault: xid
  gpu: 1
  value: 79
)";

/// kGood with one text in place of another, which must be there.
std::string With(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SpecTest, AGoodMachineFileIsRead) {
  const auto spec = ReadSpec(kGood, "m.yaml");
  ASSERT_TRUE(spec) << spec.error().text;
  EXPECT_EQ(spec->gpus[0].count, 2U);
  EXPECT_EQ(spec->host.kernel, "6.8.0-60-generic");
  EXPECT_EQ(spec->faults[0].value, 79);
}

struct Mistake {
  const char* name;
  const char* from;
  const char* to;
  const char* error;
};

class MistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, IsRefusedWithLineAndField) {
  const auto spec = ReadSpec(With(GetParam().from, GetParam().to), "m.yaml");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().code, Code::kInvalid);
  EXPECT_EQ(spec.error().text, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, MistakeTest,
    testing::Values(
        Mistake{"NoYaml", "cpus: 8", "cpus: [8", "m.yaml:5: end of sequence flow not found"},
        Mistake{"TwoDocuments", "name: m", "name: m\n---\nname: n", "m.yaml:1: expected one document, got 2"},
        Mistake{"WrittenTwice", "name: m", "name: m\nname: n", "m.yaml:3: name: written twice"},
        Mistake{"UnknownField", "  cpus: 8", "  cpu: 8", "m.yaml:4: host.cpu: unknown field"},
        Mistake{"WrongType", "cpus: 8", "cpus: many", "m.yaml:4: host.cpus: expected an integer, got a string"},
        Mistake{"MissingName", "name: m\n", "", "m.yaml:1: name: required"},
        Mistake{"BadName", "name: m", "name: My_Node",
                "m.yaml:2: name: \"My_Node\" does not match ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        Mistake{"OtherFormat", "machine: v1", "machine: v2", "m.yaml:1: machine: expected one of \"v1\", got \"v2\""},
        Mistake{"UnevenCpus", "cpus: 8", "cpus: 7",
                "m.yaml:4: host.cpus: 7 CPUs cannot be shared evenly by 2 NUMA nodes"},
        Mistake{"UnknownArchitecture", "  cpus: 8", "  cpus: 8\n  architecture: riscv",
                "m.yaml:5: host.architecture: expected one of \"amd64\", \"arm64\", got \"riscv\""},
        Mistake{
            "UnknownEngine", "  cpus: 8", "  cpus: 8\n  engine: {name: rkt}",
            "m.yaml:5: host.engine.name: expected one of \"containerd\", \"crio\", \"docker\", \"none\", got \"rkt\""},
        Mistake{"BadKernel", "  cpus: 8", "  cpus: 8\n  kernel: six",
                "m.yaml:5: host.kernel: \"six\" does not match ^[0-9]+\\.[0-9]+\\.[0-9]+[A-Za-z0-9._+-]*$"},
        Mistake{"NoDriverVersion", "  version: 550.163.01\n", "",
                "m.yaml:9: driver.version: required, because driver.installed is true"},
        Mistake{"VersionWithoutDriver", "  version: 550", "  installed: false\n  version: 550",
                "m.yaml:11: driver.version: given, but driver.installed is false"},
        Mistake{"BadDriverVersion", "550.163.01", "R550",
                "m.yaml:10: driver.version: \"R550\" does not match ^[0-9]{3}\\.[0-9]{2,3}(\\.[0-9]{2})?$"},
        Mistake{"CudaTooNew", "cuda: \"12.4\"", "cuda: \"12.8\"",
                "m.yaml:11: driver.cuda: driver 550.163.01 supports CUDA 12.4, not 12.8"},
        Mistake{"DriverTooOld", "model: a100-sxm4-40gb\n  count: 2\n  pci: [\"0000:07:00.0\", \"0000:0F:00.0\"]",
                "model: b200\n  count: 2\n  pci: [\"0000:07:00.0\", \"0000:0F:00.0\"]",
                "m.yaml:10: driver.version: 550.163.01 does not know NVIDIA B200; the first that does is 570"},
        Mistake{"UnknownModel", "a100-sxm4-40gb", "a100",
                "m.yaml:13: gpus[0].model: no model is called \"a100\"; there are t4, l40s, a30, a100-sxm4-40gb, "
                "a100-sxm4-80gb, h100-sxm5-80gb, b200, b300, gb200, gb10"},
        Mistake{"NoGpus", "count: 2", "count: 0", "m.yaml:14: gpus[0].count: 0 is less than 1"},
        Mistake{"TooManyGpus", "count: 2", "count: 17", "m.yaml:14: gpus[0].count: 17 is more than 16"},
        Mistake{"AddressMissing", ", \"0000:0F:00.0\"", "", "m.yaml:15: gpus[0].pci: 1 addresses for 2 GPUs"},
        Mistake{"BadAddress", "0000:0F:00.0", "0F.0",
                "m.yaml:15: gpus[0].pci[1]: \"0F.0\" is no PCI address such as 0000:07:00.0"},
        Mistake{"AddressTwice", "0000:0F:00.0", "07:00.0", "m.yaml:15: gpus[0].pci[1]: 07:00.0 is there twice"},
        Mistake{"NumaMissing", "  - 0\n", "", "m.yaml:16: gpus[0].numa: 1 values for 2 GPUs"},
        Mistake{"NumaTooHigh", "  - 1\n", "  - 2\n",
                "m.yaml:18: gpus[0].numa[1]: node 2 is not below host.numaNodes (2)"},
        Mistake{"BadUuid", "  count: 2", "  count: 2\n  uuids: [GPU-1, GPU-2]",
                "m.yaml:15: gpus[0].uuids[0]: \"GPU-1\" is no UUID such as GPU-8f3c7a52-1d0e-4b9f-a6c4-5e2b7d901c3a"},
        Mistake{"UnknownOverride", "  count: 2", "  count: 2\n  override: {colour: green}",
                "m.yaml:15: gpus[0].override.colour: unknown field"},
        Mistake{"BadOverride", "  count: 2", "  count: 2\n  override: {multiprocessors: 0}",
                "m.yaml:15: gpus[0].override.multiprocessors: 0 is less than 1"},
        Mistake{"MigWithoutMode", "enabled: true", "enabled: false",
                "m.yaml:20: gpus[0].mig.enabled: must be true, because there are instances"},
        Mistake{"UnknownProfile", "[3g.20gb]", "[3g.21gb]",
                "m.yaml:21: gpus[0].mig.instances[0]: no profile \"3g.21gb\" on NVIDIA A100-SXM4-40GB"},
        Mistake{"LayoutDoesNotFit", "[3g.20gb]", "[3g.20gb, 3g.20gb, 1g.5gb]",
                "m.yaml:21: gpus[0].mig.instances: A100-40GB: no room for 1g.5gb: no placement is free "
                "beside the others"},
        Mistake{"UnknownFault", "fault: xid", "fault: fire",
                "m.yaml:23: faults[0].fault: there is none called \"fire\"; `gpu-operator machine faults` lists them"},
        Mistake{"FaultOfNoGpu", "gpu: 1", "gpu: 2", "m.yaml:24: faults[0].gpu: there is no GPU 2; the machine has 2"},
        Mistake{"FaultWithoutGpu", "  gpu: 1\n", "", "m.yaml:23: faults[0].gpu: xid needs one"},
        Mistake{"FaultWithoutValue", "  value: 79\n", "", "m.yaml:23: faults[0].value: xid needs one"},
        Mistake{"FaultValueTooHigh", "value: 79", "value: 7900",
                "m.yaml:25: faults[0].value: 7900 is not between 1 and 999"},
        Mistake{"RebootFromTheStart", "fault: xid\n  gpu: 1\n  value: 79", "fault: reboot",
                "m.yaml:23: faults[0].fault: reboot happens while a machine runs; it cannot be there from the start"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(SpecTest, EveryReadyMadeMachineIsBuiltAsItSays) {
  const auto names = ReadyMadeMachines();
  EXPECT_EQ(names.size(), 12U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto spec = ReadSpec(*ReadyMadeMachine(name), name + ".yaml");
    ASSERT_TRUE(spec) << spec.error().text;
    EXPECT_EQ(spec->name, name);
    auto machine = std::make_unique<layout::Machine>();
    const auto built = BuildMachine(*spec, *machine);
    ASSERT_TRUE(built) << built.error().text;
    std::uint32_t gpus = 0;
    for (const GpuGroup& group : spec->gpus) gpus += group.count;
    EXPECT_EQ(machine->device_count, gpus);
    const auto again = ReadSpec(WriteSpec(*spec), name);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(WriteSpec(*again), WriteSpec(*spec));
  }
}

TEST(SpecTest, MigOfTheMixedMachineIsThereFromTheStart) {
  const auto spec = ReadSpec(*ReadyMadeMachine("mixed"), "mixed.yaml");
  ASSERT_TRUE(spec);
  auto machine = std::make_unique<layout::Machine>();
  ASSERT_TRUE(BuildMachine(*spec, *machine));
  EXPECT_EQ(machine->devices[0].facts.name.view(), "NVIDIA A100-PCIE-40GB");
  EXPECT_EQ(machine->devices[0].mig_current, 1U);
  int instances = 0;
  for (const auto& instance : machine->devices[0].instances) instances += instance.in_use;
  EXPECT_EQ(instances, 4);
  EXPECT_EQ(machine->devices[3].facts.name.view(), "NVIDIA L40S");
  EXPECT_EQ(machine->devices[3].facts.cpus, (std::array<std::uint64_t, 4>{0xffff000000000000, 0xffffffff, 0, 0}));
}

TEST(SpecTest, TheSchemaNamesEveryTopField) {
  const auto schema = data::ParseJson(SpecSchema());
  ASSERT_TRUE(schema);
  for (const char* field : {"machine", "name", "host", "driver", "gpus", "faults"})
    EXPECT_NE(data::Find(*schema, std::string("properties.") + field), nullptr) << field;
  EXPECT_EQ(data::StringOr(*schema, "properties.gpus.items.properties.count.type"), "integer");
}

std::string Document(const std::string& path) {
  std::ifstream in(std::string(SourceDir()) + "/docs/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The fields of a schema that `text` does not name.
void Missing(const data::Schema& schema, const std::string& path, const std::string& text, std::string& missing) {
  for (const data::Property& property : schema.properties) {
    const std::string here = path + property.name;
    if (!text.contains("| `" + here + "` |")) missing += here + " ";
    if (property.schema->items) Missing(*property.schema->items, here + "[].", text, missing);
    Missing(*property.schema, here + ".", text, missing);
  }
}

TEST(SpecTest, TheFormatsDocumentNamesEveryField) {
  std::string missing;
  Missing(*data::SchemaOf<Spec>(), "", Document("formats/machine-file.md"), missing);
  EXPECT_EQ(missing, "");
}

TEST(SpecTest, TheDocumentNamesEveryFaultAndMachine) {
  const std::string text = Document("simulated-machines.md");
  for (const FaultKind& kind : FaultKinds())
    EXPECT_TRUE(text.contains("`" + std::string(kind.name) + "`")) << kind.name;
  for (const std::string& name : ReadyMadeMachines()) EXPECT_TRUE(text.contains("`" + name + "`")) << name;
}

TEST(PciAddressTest, IsReadInTheFormsThatToolsPrint) {
  EXPECT_EQ(ParsePciAddress("00000000:07:00.0"), (PciAddress{0, 7, 0, 0}));
  EXPECT_EQ(ToText(*ParsePciAddress("000F:AB:1f.7")), "000f:ab:1f.7");
  for (const char* bad : {"", "07:00", "0000:7:00.0", "0000:07:20.0", "0000:07:00.8", "x000:07:00.0", "0:0:0:0.0"})
    EXPECT_FALSE(ParsePciAddress(bad)) << bad;
}

}  // namespace
}  // namespace gpuop::machine
