#include "container/elf/elf.h"

#include "container/elf/ldcache.h"
#include "container/testing/elf_file.h"

namespace gpuop::container {
namespace {

TEST(ElfTest, ReadsTheSoname) {
  EXPECT_EQ(ElfSoname(PartsOf(ElfFile("libcuda.so.1"))).value(), "libcuda.so.1");
  EXPECT_EQ(ElfSoname(PartsOf(ElfFile(""))).value(), "");
}

TEST(ElfTest, ReadsANoteOfItsOwner) {
  const std::string file = ElfFile("libcuda.so.1", ".note.cuda.fwd_compatibility", "NVIDIA Corporation", "{\"a\": 1}");
  EXPECT_EQ(ElfNote(PartsOf(file), ".note.cuda.fwd_compatibility", "NVIDIA Corporation").value(), "{\"a\": 1}");
  EXPECT_EQ(ElfNote(PartsOf(file), ".note.cuda.fwd_compatibility", "Somebody").value(), std::nullopt);
  EXPECT_EQ(ElfNote(PartsOf(file), ".note.other", "NVIDIA Corporation").value(), std::nullopt);
  EXPECT_EQ(ElfSoname(PartsOf(file)).value(), "libcuda.so.1");
}

TEST(ElfTest, NoCutAndNoFlippedByteDoesHarm) {
  const std::string file = ElfFile("libcuda.so.1", ".note.x", "N", "text");
  for (std::size_t size = 0; size < file.size(); ++size) {
    (void)ElfSoname(PartsOf(std::string_view(file).substr(0, size))).has_value();
    (void)ElfNote(PartsOf(std::string_view(file).substr(0, size)), ".note.x", "N").has_value();
  }
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string broken = file;
    broken[at] = static_cast<char>(broken[at] ^ 0xff);
    (void)ElfSoname(PartsOf(broken)).has_value();
    (void)ElfNote(PartsOf(broken), ".note.x", "N").has_value();
  }
  EXPECT_EQ(ElfSoname(PartsOf(std::string_view("#!/bin/sh\n"))).error().code, Code::kInvalid);
}

TEST(LdCacheTest, ReadsBothLayouts) {
  const std::vector<LdCacheEntry> want = {{"libcuda.so.1", "/usr/lib/libcuda.so.1"}, {"libc.so.6", "/lib/libc.so.6"}};
#if defined(__x86_64__)
  for (const bool old_in_front : {false, true})
    EXPECT_EQ(
        ReadLdCache(LdCacheFile({{want[0].name, want[0].path}, {want[1].name, want[1].path}}, old_in_front)).value(),
        want);
#endif
  EXPECT_TRUE(ReadLdCache(LdCacheFile({{"lib32.so", "/lib32.so"}}, false, 0x0003))->empty()) << "another architecture";
}

TEST(LdCacheTest, RefusesWhatIsCutShort) {
  const std::string file = LdCacheFile({{"a", "/a"}, {"b", "/b"}}, true);
  for (std::size_t size = 0; size < file.size(); ++size)
    (void)ReadLdCache(std::string_view(file).substr(0, size)).has_value();
  EXPECT_FALSE(ReadLdCache(""));
  EXPECT_FALSE(ReadLdCache(std::string("ld.so-1.7.0\0\xff\xff\xff\x7f", 16)));
}

}  // namespace
}  // namespace gpuop::container
