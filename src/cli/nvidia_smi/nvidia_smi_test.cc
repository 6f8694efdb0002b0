#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/nvidia_smi/arguments.h"
#include "cli/nvidia_smi/command.h"
#include "gpu/nvml_fake.h"

namespace gpuop::cli::nvidia_smi {
namespace {

using gpu::FakeGpu;
using gpu::nvml::Return;
using testing::HasSubstr;

/// Two A100 and a T4 that answer in this process.
struct Machine {
  gpu::FakeNvml fake;
  std::unique_ptr<gpu::Nvml> nvml;

  Machine() {
    for (unsigned i = 0; i < 3; ++i) {
      FakeGpu& gpu = fake.gpus.emplace_back();
      gpu.uuid = "GPU-" + std::to_string(i);
      gpu.minor = i;
      gpu.mig = gpu::FindMigModel("A100-40GB");
    }
    fake.gpus[1].pci = "00000000:0F:00.0";
    FakeGpu& t4 = fake.gpus[2];
    t4.name = "Tesla T4";
    t4.pci = "00000001:3B:00.0";
    t4.mig = nullptr;
    t4.memory_mib = 15360;
    t4.compute_major = 7;
    t4.compute_minor = 5;
    nvml = gpu::Nvml::Start(fake.Table()).value();
  }
  Outcome Smi(std::vector<std::string> args) { return Run(*nvml, args, "Mon Feb  2 00:04:39 2026"); }
  void EnableMig(unsigned gpu) { fake.gpus[gpu].mig_enabled = fake.gpus[gpu].mig_pending = true; }
};

TEST(NvidiaSmiTest, ListsGpusAndMigDevices) {
  Machine m;
  m.EnableMig(0);
  m.fake.gpus[0].AddInstance("3g.20gb", {1, 2});
  const Outcome out = m.Smi({"-L"});
  EXPECT_EQ(out.status, 0);
  EXPECT_EQ(out.text,
            "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)\n"
            "  MIG 1c.3g.20gb  Device  0: (UUID: MIG-0-2-0)\n"
            "  MIG 2c.3g.20gb  Device  1: (UUID: MIG-0-2-1)\n"
            "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
            "GPU 2: Tesla T4 (UUID: GPU-2)\n");
  EXPECT_EQ(m.Smi({"-L", "-i", "0001:3b:00.0"}).text, "GPU 2: Tesla T4 (UUID: GPU-2)\n");
  EXPECT_EQ(m.Smi({"-L", "--id=GPU-1"}).text, "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n");
  EXPECT_EQ(m.Smi({"-L", "-i", "7"}).status, 6);
}

TEST(NvidiaSmiTest, TheTableHasTheWidthsThatProgramsRead) {
  Machine m;
  m.EnableMig(0);
  m.fake.gpus[0].AddInstance("1g.5gb");
  const Outcome out = m.Smi({});
  EXPECT_EQ(out.status, 0);
  EXPECT_THAT(out.text, HasSubstr("\n| NVIDIA-SMI 550.163.01             Driver Version: 550.163.01     "
                                  "CUDA Version: 12.4     |\n"));
  EXPECT_THAT(out.text, HasSubstr("\n|   0  NVIDIA A100-SXM4-40GB         N/A  |   00000000:07:00.0 N/A |"));
  EXPECT_THAT(out.text, HasSubstr("       0MiB /  40960MiB |"));
  EXPECT_THAT(out.text, HasSubstr("|                                         |                        |"
                                  "              Enabled |\n"));
  EXPECT_THAT(out.text, HasSubstr("\n|  0   13   0   0  |"));
  EXPECT_THAT(out.text, HasSubstr("|  No running processes found                                             "
                                  "                |\n"));
  std::size_t line = 0;
  for (std::size_t end; (end = out.text.find('\n', line)) != std::string::npos; line = end + 1) {
    const std::string_view text = std::string_view(out.text).substr(line, end - line);
    if (text.starts_with("|") || text.starts_with("+")) EXPECT_EQ(text.size(), 91U) << text;
  }
}

TEST(NvidiaSmiTest, QueriesAnswerAsCsv) {
  Machine m;
  EXPECT_EQ(m.Smi({"--query-gpu=index,gpu_name,memory.total,mig.mode.current,compute_cap", "--format=csv"}).text,
            "index, name, memory.total [MiB], mig.mode.current, compute_cap\n"
            "0, NVIDIA A100-SXM4-40GB, 40960 MiB, Disabled, 8.0\n"
            "1, NVIDIA A100-SXM4-40GB, 40960 MiB, Disabled, 8.0\n"
            "2, Tesla T4, 15360 MiB, [N/A], 7.5\n");
  EXPECT_EQ(m.Smi({"--query-gpu", "driver_version", "--format=csv,noheader", "-i", "0"}).text, "550.163.01\n");
  EXPECT_EQ(m.Smi({"--query-gpu=pci.bus_id,memory.total", "--format=csv,noheader,nounits", "-i", "0,1"}).text,
            "00000000:07:00.0, 40960\n00000000:0F:00.0, 40960\n");
  const Outcome unknown = m.Smi({"--query-gpu=cuda_version", "--format=csv"});
  EXPECT_EQ(unknown.text, "Field \"cuda_version\" is not a valid field to query.\n");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(m.Smi({"--query-compute-apps=pid,used_memory", "--format=csv"}).text, "pid, used_gpu_memory [MiB]\n");
}

TEST(NvidiaSmiTest, WrongArgumentsEndWithTwo) {
  Machine m;
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--bogus"},
                                             {"-L", "-q"},
                                             {"mig"},
                                             {"mig", "-lgi", "-lci"},
                                             {"mig", "-cgi"},
                                             {"mig", "-lgi", "-gi", "x"},
                                             {"-i"},
                                             {"--query-gpu=name"},
                                             {"--query-gpu=name", "--format=noheader"},
                                             {"--query-gpu=name", "--format=csv,xml"},
                                             {"-mig", "maybe"},
                                             {"-q", "-d", "NONSENSE"}})
    EXPECT_EQ(m.Smi(args).status, 2) << testing::PrintToString(args);
}

TEST(NvidiaSmiTest, MigWithoutMigIsNothingFound) {
  Machine m;
  for (const char* flag : {"-lgip", "-lgi", "-lci", "-dgi"}) {
    const Outcome out = m.Smi({"mig", flag});
    EXPECT_EQ(out.text, "No MIG-enabled devices found.\n");
    EXPECT_EQ(out.status, 6);
  }
  m.EnableMig(0);
  EXPECT_EQ(m.Smi({"mig", "-lgi"}).text, "No GPU instances found: Not Found\n");
  EXPECT_EQ(m.Smi({"mig", "-dci"}).status, 6);
}

TEST(NvidiaSmiTest, MigModeChangesSayWhatBecameOfThem) {
  Machine m;
  const Outcome on = m.Smi({"-i", "0,2", "-mig", "1"});
  EXPECT_EQ(on.text,
            "Enabled MIG Mode for GPU 00000000:07:00.0\n"
            "Unable to enable MIG Mode for GPU 00000001:3B:00.0: NVML_ERROR_NOT_SUPPORTED\n"
            "Treating as warning and moving on.\n"
            "All done.\n");
  EXPECT_EQ(on.status, 0);
  EXPECT_TRUE(m.fake.gpus[0].mig_enabled);
  m.fake.gpus[1].busy = true;
  const Outcome busy = m.Smi({"-i", "1", "-mig", "1"});
  EXPECT_THAT(busy.text, HasSubstr("Warning: MIG mode is in pending enable state for GPU 00000000:0F:00.0:"));
  EXPECT_THAT(busy.text, HasSubstr("is currently being used by one or more other processes"));
  EXPECT_EQ(m.Smi({"--query-gpu=mig.mode.current,mig.mode.pending", "--format=csv,noheader", "-i", "1"}).text,
            "Disabled, Enabled\n");
  m.fake.fail["nvmlDeviceSetMigMode"] = Return::kNoPermission;
  const Outcome denied = m.Smi({"-mig", "0"});
  EXPECT_THAT(denied.text, HasSubstr("Terminating early due to previous errors.\n"));
  EXPECT_EQ(denied.status, 4);
}

TEST(NvidiaSmiTest, InstancesAreMadeListedAndDestroyed) {
  Machine m;
  m.EnableMig(0);
  EXPECT_EQ(
      m.Smi({"mig", "-cgi", "9,MIG 2g.10gb,19", "-C"}).text,
      "Successfully created GPU instance ID  2 on GPU  0 using profile MIG 3g.20gb (ID  9)\n"
      "Successfully created compute instance ID  0 on GPU  0 GPU instance ID  2 using profile MIG 3g.20gb (ID  2)\n"
      "Successfully created GPU instance ID  4 on GPU  0 using profile MIG 2g.10gb (ID 14)\n"
      "Successfully created compute instance ID  0 on GPU  0 GPU instance ID  4 using profile MIG 2g.10gb (ID  1)\n"
      "Successfully created GPU instance ID  8 on GPU  0 using profile MIG 1g.5gb (ID 19)\n"
      "Successfully created compute instance ID  0 on GPU  0 GPU instance ID  8 using profile MIG 1g.5gb (ID  0)\n");
  EXPECT_EQ(m.Smi({"mig", "-lgi"}).text,
            "+---------------------------------------------------------+\n"
            "| GPU instances:                                          |\n"
            "| GPU   Name               Profile  Instance   Placement  |\n"
            "|                            ID       ID       Start:Size |\n"
            "|=========================================================|\n"
            "|   0  MIG 1g.5gb            19        8          1:1     |\n"
            "+---------------------------------------------------------+\n"
            "|   0  MIG 2g.10gb           14        4          2:2     |\n"
            "+---------------------------------------------------------+\n"
            "|   0  MIG 3g.20gb            9        2          4:4     |\n"
            "+---------------------------------------------------------+\n");
  EXPECT_THAT(m.Smi({"mig", "-lci", "-gi", "4"}).text,
              HasSubstr("|   0      4       MIG 2g.10gb          1         0          0:2     |\n"));
  const Outcome full = m.Smi({"mig", "-cgi", "3g.20gb"});
  EXPECT_EQ(full.text,
            "Unable to create a GPU instance on GPU  0 using profile 3g.20gb: NVML_ERROR_INSUFFICIENT_RESOURCES\n"
            "Failed to create GPU instances: NVML_ERROR_INSUFFICIENT_RESOURCES\n");
  EXPECT_NE(full.status, 0);
  EXPECT_NE(m.Smi({"mig", "-dgi", "-gi", "8"}).status, 0);  // its compute instance is still there
  EXPECT_EQ(m.Smi({"mig", "-dci", "-gi", "2,8", "-ci", "0"}).text,
            "Successfully destroyed compute instance ID  0 from GPU  0 GPU instance ID  2\n"
            "Successfully destroyed compute instance ID  0 from GPU  0 GPU instance ID  8\n");
  EXPECT_EQ(m.Smi({"mig", "-dgi", "-gi", "8"}).text, "Successfully destroyed GPU instance ID  8 from GPU  0\n");
  EXPECT_EQ(m.fake.gpus[0].instances.size(), 2U);
  EXPECT_EQ(m.Smi({"mig", "-cci", "0,1", "-gi", "2"}).status, 0);
}

TEST(NvidiaSmiTest, ProfilesAndPlacementsAreListedAsDriversDo) {
  Machine m;
  m.EnableMig(0);
  const std::string profiles = m.Smi({"mig", "-lgip"}).text;
  EXPECT_THAT(profiles,
              HasSubstr("|   0  MIG 1g.5gb          19     7/7        4.75       No     14     0     0   |\n"
                        "|                                                               1     0     0   |\n"));
  EXPECT_THAT(profiles,
              HasSubstr("|   0  MIG 7g.40gb          0     1/1        39.25      No     98     5     0   |\n"));
  EXPECT_LT(profiles.find("1g.5gb+me"), profiles.find("1g.10gb"));
  EXPECT_THAT(m.Smi({"mig", "-lgipp"}).text,
              testing::StartsWith("GPU  0 Profile ID 19 Placements: {0,1,2,3,4,5,6}:1\n"));
  EXPECT_THAT(m.Smi({"mig", "-lgipp"}).text, testing::EndsWith("GPU  0 Profile ID  5 Placement : {0}:4\n"
                                                               "GPU  0 Profile ID  0 Placement : {0}:8\n"));
  m.fake.gpus[0].AddInstance("3g.20gb");
  EXPECT_THAT(m.Smi({"mig", "-lcip"}).text,
              HasSubstr("|   0      2       MIG 1c.3g.20gb       0      0/3           14        2     0     0   |\n"
                        "|                                                                      3     0         |\n"));
  EXPECT_THAT(m.Smi({"mig", "-lcip"}).text, HasSubstr("MIG 3g.20gb          2*     0/1"));
  EXPECT_THAT(m.Smi({"mig", "-lcipp"}).text, HasSubstr("GPU  0 GI  2 Profile ID  0 Placements: {0,1,2}:1\n"));
}

TEST(NvidiaSmiTest, APlacementCanBeAskedFor) {
  Machine m;
  m.EnableMig(0);
  EXPECT_EQ(m.Smi({"mig", "-cgi", "14:0"}).status, 0);
  EXPECT_EQ(m.fake.gpus[0].instances[0].placement, (gpu::MigPlacement{0, 2}));
  EXPECT_NE(m.Smi({"mig", "-cgi", "14:1"}).status, 0);
  EXPECT_EQ(m.Smi({"mig", "-cgi", "77"}).status, 2);
}

TEST(NvidiaSmiTest, ALostGpuIsToldAndTheOthersAreShown) {
  Machine m;
  m.fake.lost["GPU-1"] = true;
  const Outcome out = m.Smi({"-L"});
  EXPECT_EQ(out.text,
            "Unable to determine the device handle for GPU1: NVML_ERROR_GPU_IS_LOST\n"
            "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0)\n"
            "GPU 2: Tesla T4 (UUID: GPU-2)\n");
  EXPECT_EQ(out.status, 15);
  m.fake.gpus.clear();
  EXPECT_EQ(m.Smi({"-L"}).text, "No devices were found\n");
  EXPECT_EQ(m.Smi({"-L"}).status, 6);
}

TEST(NvidiaSmiTest, TheReportIsATreeWithItsColonsInOneColumn) {
  Machine m;
  m.EnableMig(0);
  m.fake.gpus[0].AddInstance("1g.5gb");
  const std::string text = m.Smi({"-q", "-i", "0"}).text;
  EXPECT_THAT(text, testing::StartsWith("\n==============NVSMI LOG==============\n\n"
                                        "Timestamp                                 : Mon Feb  2 00:04:39 2026\n"
                                        "Driver Version                            : 550.163.01\n"
                                        "CUDA Version                              : 12.4\n\n"
                                        "Attached GPUs                             : 3\n\n"
                                        "GPU 00000000:07:00.0\n"
                                        "    Product Name                          : NVIDIA A100-SXM4-40GB\n"));
  EXPECT_THAT(text, HasSubstr("    MIG Mode\n"
                              "        Current                           : Enabled\n"
                              "        Pending                           : Enabled\n"
                              "    MIG Device\n"
                              "        Index                             : 0\n"
                              "        GPU Instance ID                   : 13\n"));
  EXPECT_THAT(text, HasSubstr("        Total                             : 40960 MiB\n"));
  const std::string memory = m.Smi({"-q", "-d", "memory", "-i", "2"}).text;
  EXPECT_THAT(memory, HasSubstr("FB Memory Usage"));
  EXPECT_THAT(memory, testing::Not(HasSubstr("Product Name")));
}

TEST(NvidiaSmiTest, TheMatrixNamesNvLinksWhereThereAreAnyAndPcieOtherwise) {
  Machine m;
  for (unsigned i = 0; i < 2; ++i) m.fake.gpus[i].links.assign(12, "switch");
  const Outcome out = m.Smi({"topo", "-m"});
  EXPECT_EQ(out.status, 0);
  EXPECT_THAT(out.text, testing::StartsWith("\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"));
  EXPECT_THAT(out.text, HasSubstr("\nGPU0\t X \tNV12\t"));
  EXPECT_THAT(out.text, HasSubstr("\nGPU1\tNV12\t X \t"));
  EXPECT_THAT(out.text, testing::ContainsRegex("\nGPU2\t(PIX|PXB|PHB|NODE|SYS)\t"));
  EXPECT_EQ(m.Smi({"topo"}).status, 2);
}

TEST(NvidiaSmiTest, LinksAreListedOneByOne) {
  Machine m;
  m.fake.gpus[0].links.assign(2, "switch");
  EXPECT_THAT(
      m.Smi({"nvlink", "-s", "-i", "0"}).text,
      testing::MatchesRegex("GPU 0: NVIDIA A100-SXM4-40GB .UUID: GPU-0.\n\t Link 0: [^\n]+\n\t Link 1: [^\n]+\n"));
  EXPECT_EQ(m.Smi({"nvlink", "-s", "-i", "2"}).text, "GPU 2: Tesla T4 (UUID: GPU-2)\n");
}

TEST(NvidiaSmiTest, VersionsAreToldAndALoopsTimeIsRead) {
  Machine m;
  EXPECT_THAT(m.Smi({"--version"}).text, testing::StartsWith("NVIDIA-SMI version  : 550.163.01\n"));
  EXPECT_THAT(m.Smi({"--version"}).text, HasSubstr("CUDA Version        : 12.4\n"));
  EXPECT_EQ(ParseArguments({"-L", "-l", "2"})->again_ms, 2000);
  EXPECT_EQ(ParseArguments({"-L", "-l"})->again_ms, 5000);
  EXPECT_EQ(ParseArguments({"--query-gpu=name", "--format=csv", "-lms", "100"})->again_ms, 100);
  EXPECT_FALSE(ParseArguments({"-L", "-l", "soon"}));
}

TEST(NvidiaSmiTest, WithoutACallForItAResetIsNotSupported) {
  Machine m;
  const Outcome out = m.Smi({"-r", "-i", "0"});
  EXPECT_EQ(out.text, "Resetting GPU 00000000:07:00.0 is not supported.\n");
  EXPECT_EQ(out.status, 3);
}

}  // namespace
}  // namespace gpuop::cli::nvidia_smi
