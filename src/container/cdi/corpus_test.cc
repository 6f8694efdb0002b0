// Specs that containerd's CDI library reads or refuses (testdata/cdi, where "reader" marks its verdict if it is not
// ours): e2e/engines holds the verdicts to the library itself.
#include <gtest/gtest.h>

#include "base/testing/source_dir.h"
#include "container/cdi/spec.h"
#include "os/real_fs.h"

namespace gpuop::container {
namespace {

TEST(CdiCorpusTest, EachSpecIsReadOrRefusedAndWhatIsReadIsWrittenTheSame) {
  const auto fs = os::RealFs::Open(SourceDir()).value();
  const data::Json corpus = data::ParseJson(fs->Read("/testdata/cdi/specs.json").value()).value();
  ASSERT_GE(corpus.get_array().size(), 80U);
  for (const data::Json& entry : corpus.get_array()) {
    const std::string name(data::StringOr(entry, "name"));
    const auto spec = ReadCdiSpec("/x.yaml", std::string(data::StringOr(entry, "text")));
    EXPECT_EQ(spec.has_value(), data::BoolOr(entry, "accepted")) << name << (spec ? "" : ": " + spec.error().text);
    if (!spec) EXPECT_TRUE(spec.error().text.starts_with("/x.yaml")) << name << ": " << spec.error().text;
    if (spec) EXPECT_EQ(ReadCdiSpec("again", CdiSpecToYaml(*spec)), *spec) << name;
  }
}

}  // namespace
}  // namespace gpuop::container
