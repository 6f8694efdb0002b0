#include "operands/labels.h"

#include <gtest/gtest.h>

namespace gpuop::operands {
namespace {

struct OsCase {
  const char *id, *version, *tag;
};

TEST(OsTagTest, IsIdAndVersionAndOfRedHatsFamilyTheMajorPart) {
  for (const OsCase& c :
       {OsCase{"ubuntu", "24.04", "ubuntu24.04"}, OsCase{"talos", "v1.12.6", "talosv1.12.6"},
        OsCase{"rhel", "9.4", "rhel9"}, OsCase{"rhel", "8.10", "rhel8"}, OsCase{"rhel", "10.2", "rhel10"},
        OsCase{"rocky", "9.5", "rocky9"}, OsCase{"ol", "9.5", "ol9"}, OsCase{"sles", "15.6", "sles15.6"},
        OsCase{"sles", "15-SP6", "sles15-SP6"}, OsCase{"sl-micro", "6.0", "sl-micro6.0"},
        OsCase{"archlinux", "rolling", "archlinuxrolling"}, OsCase{"rhcos", "4.14", "rhcos4.14"},
        OsCase{"unknown", "", "unknown"}, OsCase{"", "1", ""}})
    EXPECT_EQ(OsTag(c.id, c.version), c.tag) << c.id << " " << c.version;
}

TEST(SanitizedKernelTest, LosesArchitectureAndUnderscores) {
  for (const char* arch : {"x86_64", "aarch64", "x86_64_64k", "aarch64_64k"})
    EXPECT_EQ(SanitizedKernel(std::string("5.14.0-427.37.1.el9_4.") + arch), "5.14.0-427.37.1.el9.4") << arch;
  EXPECT_EQ(SanitizedKernel("6.8.0-60-generic"), "6.8.0-60-generic");
}

TEST(GroupLabelsTest, SayWhatIsKnownAsLabelValues) {
  EXPECT_EQ(
      GroupLabels({.os_id = "ubuntu", .os_version = "24.04", .kernel = "6.8.0-60-generic", .runtime = "containerd"}),
      (StringMap{{kOsLabel, "ubuntu24.04"}, {kRuntimeLabel, "containerd"}, {kKernelLabel, "6.8.0-60-generic"}}));
  EXPECT_EQ(GroupLabels({.kernel = "5.14.0+64k~rc1+"}), (StringMap{{kKernelLabel, "5.14.0-64k-rc1"}}));
  EXPECT_TRUE(GroupLabels({}).empty());
}

}  // namespace
}  // namespace gpuop::operands
