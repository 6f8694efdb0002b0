#include "os/journal_record.h"

namespace gpuop::os {
namespace {

JournalRecord Sample() {
  return {.name = "containerd \"v2\"\n",
          .stage = JournalRecord::Stage::kActivating,
          .folders = {"/etc/conf.d", std::string("/etc/\x01")},
          .items = {{"/etc/config.toml", PrintOf({FileState::Kind::kFile, {04755, 1, 4294967295U}, "old"}),
                     PrintOf({FileState::Kind::kLink, {}, "elsewhere"})},
                    {"/etc/new", {}, PrintOf({FileState::Kind::kFile, {0644, 0, 0}, ""})}}};
}

TEST(JournalRecord, IsReadAsItWasWritten) {
  const std::string text = WriteJournalRecord(Sample());
  EXPECT_EQ(
      text.substr(0, text.rfind("sum ")),
      "gpuop-journal 1\nname \"containerd \\\"v2\\\"\\n\"\nstage activating\n"
      "folder \"/etc/conf.d\"\nfolder \"/etc/\\u0001\"\n"
      "path \"/etc/config.toml\"\nbefore file 4755 1 4294967295 3 1a0fad1921d08076\n"
      "after link 9 dafd1c63f1c83cab\npath \"/etc/new\"\nbefore absent\nafter file 0644 0 0 0 cbf29ce484222325\n");
  auto read = ReadJournalRecord(text);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(*read, Sample());
}

TEST(JournalRecord, EveryDamagedBitAndEveryCutIsNoticed) {
  const std::string text = WriteJournalRecord(Sample());
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(ReadJournalRecord(text.substr(0, i))) << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_FALSE(ReadJournalRecord(damaged)) << i;
    }
  }
  EXPECT_FALSE(ReadJournalRecord(text + "\n"));
}

}  // namespace
}  // namespace gpuop::os
