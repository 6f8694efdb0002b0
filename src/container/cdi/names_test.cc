#include "container/cdi/names.h"

namespace gpuop::container {
namespace {

TEST(CdiNameTest, TakesWellFormedNames) {
  for (const char* name :
       {"vendor.com/class=dev", "a/b=c", "aa/b=cc", "a/bb=cc", "vendor.com/class=0", "vendor1.com/class.subclass=dev1",
        "other-vendor1.com/class_1=dev_1", "yet_another-vendor2.com/c-lass_2=dev_1:2.3",
        "nvidia.com/gpu=GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c", "nvidia.com/gpu=0:1"}) {
    EXPECT_TRUE(IsCdiName(name)) << name;
    EXPECT_EQ(SplitCdiName(name).text(), name);
  }
}

TEST(CdiNameTest, SplitsNamesThatAreNotWellFormedAndRefusesThem) {
  for (const char* name :
       {"_invalid.com/class=dev", "invalid2.com-/class=dev", "invalid3.com/_class=dev", "invalid4.com/class_=dev",
        "invalid5.com/class=-dev", "invalid6.com/class=dev:", "*.com/*dev=*gpu*", "1vendor.com/class=dev"}) {
    EXPECT_FALSE(SplitCdiName(name).vendor.empty()) << name;
    EXPECT_FALSE(IsCdiName(name)) << name;
  }
}

TEST(CdiNameTest, TakesOtherTextsForUnqualifiedNames) {
  for (const char* name : {"", "/dev/null", "/a/b=c", "0", "all", "vendor.com/class", "vendor.com/class=", "=dev",
                           "novendor=dev", "/class=dev", "vendor.com/=dev"}) {
    EXPECT_EQ(SplitCdiName(name), (CdiName{"", "", name})) << name;
    EXPECT_FALSE(IsCdiName(name)) << name;
  }
  EXPECT_EQ(ParseCdiName("0").error().text, "unqualified device \"0\": expected vendor/class=device");
}

TEST(CdiNameTest, SaysWhichPartIsWrong) {
  EXPECT_EQ(ParseCdiName("vendor.com/class=dev:").error(),
            (Error{Code::kInvalid,
                   "device \"vendor.com/class=dev:\": device name \"dev:\" must end with a letter or "
                   "digit"}));
}

TEST(CdiAnnotationTest, MakesKeys) {
  EXPECT_EQ(CdiAnnotationKey("vendor.class", "device").value(), "cdi.k8s.io/vendor.class_device");
  EXPECT_EQ(CdiAnnotationKey("v-e.n_d.or.cl-as_s", "d-e/v/i/c-e").value(), "cdi.k8s.io/v-e.n_d.or.cl-as_s_d-e_v_i_c-e");
  const std::string long_plugin(57, 'a');
  for (const auto& [plugin, id] : std::vector<std::pair<std::string, std::string>>{{"", "device"},
                                                                                   {"plugin", ""},
                                                                                   {"_plugin", "device"},
                                                                                   {"plugin", "device_"},
                                                                                   {"pl+ugin", "device"},
                                                                                   {"plugin", "dev+ice"},
                                                                                   {long_plugin, "device"}})
    EXPECT_FALSE(CdiAnnotationKey(plugin, id)) << plugin << " " << id;
}

TEST(CdiAnnotationTest, AddsNothingOnAnError) {
  std::map<std::string, std::string> annotations;
  ASSERT_TRUE(AddCdiAnnotation(annotations, "v.c", "d", {"vendor.com/class=a", "vendor.com/class=b"}));
  EXPECT_EQ(annotations["cdi.k8s.io/v.c_d"], "vendor.com/class=a,vendor.com/class=b");
  const auto before = annotations;
  EXPECT_EQ(AddCdiAnnotation(annotations, "v.c", "d", {"vendor.com/class=c"}).error().code, Code::kAlreadyExists);
  EXPECT_FALSE(AddCdiAnnotation(annotations, "v.c", "e", {"vendor.com/class=c", "vendor2.com/device2"}));
  EXPECT_FALSE(AddCdiAnnotation(annotations, "v.c", "e", {"/dev/null"}));
  EXPECT_EQ(annotations, before);
}

TEST(CdiAnnotationTest, ReadsTheAnnotationsOfItsPrefixOnly) {
  const auto read = ParseCdiAnnotations(
      {{"cdi.k8s.io/b", "v.com/c=2"}, {"cdi.k8s.io/a", "v.com/c=0,v.com/c=1"}, {"example.com/x", "/dev/null"}});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->keys, (std::vector<std::string>{"cdi.k8s.io/a", "cdi.k8s.io/b"}));
  EXPECT_EQ(read->devices, (std::vector<std::string>{"v.com/c=0", "v.com/c=1", "v.com/c=2"}));
  EXPECT_FALSE(ParseCdiAnnotations({{"cdi.k8s.io/a", "/dev/null"}}));
}

}  // namespace
}  // namespace gpuop::container
