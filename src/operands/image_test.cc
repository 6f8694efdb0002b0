#include "operands/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operands/driver/image.h"
#include "operands/names.h"

namespace gpuop::operands {
namespace {

using ::testing::HasSubstr;

api::ImageSource Source(std::string repository, std::string image, std::string version) {
  api::ImageSource out;
  out.repository = std::move(repository);
  out.image = std::move(image);
  out.version = std::move(version);
  return out;
}

struct Case {
  const char *repository, *image, *version, *want;
};

TEST(ResolveImageTest, JoinsWhatIsWholeAndRefusesTheRest) {
  const Facts facts{.image_env = {{"GFD_IMAGE", "r/from-env:1"}, {"EMPTY_IMAGE", ""}}};
  for (const Case& c : {Case{"r.io/a", "b", "v1", "r.io/a/b:v1"}, Case{"r", "b", "sha256:ab", "r/b@sha256:ab"},
                        Case{"", "r/b@sha256:ab", "", "r/b@sha256:ab"}, Case{"", "whole:1", "", "whole:1"},
                        Case{"", "", "", "r/from-env:1"}, Case{"r", "b", "", "version is missing"},
                        Case{"r", "", "v1", "image is missing"}, Case{"", "b", "v1", "repository is missing"},
                        Case{"r", "", "", "image is missing"}, Case{"", "", "v1", "repository is missing"}}) {
    const auto image = ResolveImage(Source(c.repository, c.image, c.version), "GFD_IMAGE", facts, "spec.gfd");
    EXPECT_THAT(image ? *image : image.error().text, HasSubstr(c.want));
    if (!image) EXPECT_THAT(image.error().text, HasSubstr("spec.gfd: invalid image specification"));
  }
  for (const char* env : {"EMPTY_IMAGE", "ABSENT_IMAGE"}) {
    const auto image = ResolveImage({}, env, facts, "spec.gfd");
    ASSERT_FALSE(image);
    EXPECT_THAT(image.error().text, HasSubstr(env));
  }
}

TEST(ResolveImageTest, OsTagsAndPullPolicies) {
  EXPECT_EQ(WithOsTag("r/d:1", "rhel9"), "r/d:1-rhel9");
  EXPECT_EQ(WithOsTag("r/d@sha256:ab", "rhel9"), "r/d@sha256:ab");
  EXPECT_EQ(PullPolicy("Always"), "Always");
  EXPECT_EQ(PullPolicy("Never"), "Never");
  EXPECT_EQ(PullPolicy(""), "IfNotPresent");
  EXPECT_EQ(PullPolicy("sometimes"), "IfNotPresent");
}

struct DriverCase {
  const char *repository, *image, *version;
  bool precompiled;
  const char* want;
};

TEST(OwnDriverImageTest, IsAWholeReferenceForTheNodesOs) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const NodeGroup group{.os_id = "ubuntu", .os_version = "24.04", .kernel = "6.8.0-60-generic"};
  for (const DriverCase& c :
       {DriverCase{"", "nvcr.io/nvidia/driver", "595.1", false, "nvcr.io/nvidia/driver:595.1-ubuntu24.04"},
        DriverCase{"nvcr.io/nvidia", "driver", "595.1", false, "nvcr.io/nvidia/driver:595.1-ubuntu24.04"},
        DriverCase{"", "r.io/driver:595.1", "", false, "r.io/driver:595.1-ubuntu24.04"},
        DriverCase{"", "r.io:5000/driver", "1", false, "r.io:5000/driver:1-ubuntu24.04"},
        DriverCase{"nvcr.io/nvidia", "driver", "595", true, "nvcr.io/nvidia/driver:595-6.8.0-60-generic-ubuntu24.04"},
        DriverCase{"", "nvcr.io/nvidia/driver", "", false, "spec.version is missing"},
        DriverCase{"", "r.io:5000/driver", "", false, "neither tag nor digest"},
        DriverCase{"r", "driver:1", "2", false, "has a tag or digest beside"},
        DriverCase{"r", "driver", "", false, "missing beside spec.repository"},
        DriverCase{"", "r.io//driver:1", "", false, "is not an image reference"},
        DriverCase{"", "r.io/Driver", "1", false, "is not an image reference"},
        DriverCase{"", "r.io/driver@sha256:ab", "", false, "is not an image reference"},
        DriverCase{"/r", "driver", "1", false, "is not an image reference"}}) {
    api::NvidiaDriverSpec spec;
    spec.repository = c.repository;
    spec.image = c.image;
    spec.version = c.version;
    spec.use_precompiled = c.precompiled;
    const auto image = driver::OwnDriverImage(spec, group);
    EXPECT_THAT(image ? *image : image.error().text, HasSubstr(c.want)) << c.repository << " " << c.image;
  }
  api::NvidiaDriverSpec spec;
  spec.version = digest;
  EXPECT_EQ(driver::OwnDriverImage(spec, group).value(), "nvcr.io/nvidia/driver@" + digest);
  spec.use_precompiled = true;
  EXPECT_THAT(driver::OwnDriverImage(spec, group).error().text, HasSubstr("cannot be used with usePrecompiled"));
}

TEST(NameHashTest, IsNvidias) {
  EXPECT_EQ(Fnv1a32("2269c984-db9a-4b0e-9fd5-86df0ad269f7"), 3728368426U);
  EXPECT_EQ(NameHash("2269c984-db9a-4b0e-9fd5-86df0ad269f7"), "7c6d7bd86b");
  EXPECT_EQ(NameHash("bfac7359-6033-45ce-88d6-53db0078526e"), "67cc6dbb79");
  EXPECT_EQ(NameHash("bfac7359-6033-45ce-88d6-53db0078526e-5.15.0-70-generic"), "59b779bcc5");
  EXPECT_EQ(NameHash("d5b3a1f2-38a9-4b72-bff1-21fd569fd305-414.92.202309282257"), "6f4fc4fc6");
  EXPECT_EQ(NameHash("rhcos4.14-414.92.202309282257"), "5bbdb464cb");
}

}  // namespace
}  // namespace gpuop::operands
