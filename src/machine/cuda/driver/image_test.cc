#include "machine/cuda/driver/image.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace gpuop::machine::cuda {
namespace {

const std::string kText = ".version 8.0\n.target sm_80\n" + std::string(200, ' ') + "\n";

template <class T>
void Put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// One entry of a fat binary as nvcc writes it.
std::string Entry(std::uint16_t kind, std::uint32_t arch, std::uint64_t flags, std::string payload,
                  std::uint64_t whole) {
  std::string entry(64, '\0');
  const std::uint32_t compressed = flags == 0 ? 0 : static_cast<std::uint32_t>(payload.size());
  payload.resize((payload.size() + 7) / 8 * 8);
  Put<std::uint16_t>(entry, 0, kind);
  Put<std::uint32_t>(entry, 4, 64);
  Put<std::uint64_t>(entry, 8, payload.size());
  Put<std::uint32_t>(entry, 16, compressed);
  Put<std::uint32_t>(entry, 28, arch);
  Put<std::uint64_t>(entry, 40, flags);
  Put<std::uint64_t>(entry, 56, whole);
  return entry + payload;
}

std::string Fatbin(const std::string& entries) {
  std::string header(16, '\0');
  Put<std::uint32_t>(header, 0, 0xba55ed50);
  Put<std::uint16_t>(header, 4, 1);
  Put<std::uint16_t>(header, 6, 16);
  Put<std::uint64_t>(header, 8, entries.size());
  return header + entries;
}

Result<std::string> Read(const std::string& bytes, int compute = 80) {
  return PtxOf(std::as_bytes(std::span(bytes.data(), bytes.size())), compute);
}

TEST(PtxOf, FindsTheNewestThatTheDeviceRuns) {
  const std::string old = ".version 7.0\n.target sm_70\n";
  const std::string image =
      Fatbin(Entry(2, 80, 0,
                   "\x7f"
                   "ELF",
                   0) +
             Entry(1, 70, 0, old, 0) + Entry(1, 80, 0, kText, 0) + Entry(1, 90, 0, ".version 8.0\n.target sm_90\n", 0));
  EXPECT_EQ(Read(image, 80).value(), kText);
  EXPECT_EQ(Read(image, 75).value(), old);
  EXPECT_EQ(Read(image, 60).error().code, Code::kUnsupported);
}

TEST(PtxOf, Decompresses) {
  std::string lz4(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(kText.size()))), '\0');
  lz4.resize(static_cast<std::size_t>(
      LZ4_compress_default(kText.data(), lz4.data(), static_cast<int>(kText.size()), static_cast<int>(lz4.size()))));
  EXPECT_EQ(Read(Fatbin(Entry(1, 80, 0x2011, lz4, kText.size()))).value(), kText);
  std::string zstd(ZSTD_compressBound(kText.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), kText.data(), kText.size(), 3));
  EXPECT_EQ(Read(Fatbin(Entry(1, 80, 0x8011, zstd, kText.size()))).value(), kText);
  EXPECT_EQ(Read(Fatbin(Entry(1, 80, 0x8011, "nonsense", kText.size()))).error().code, Code::kInvalid);
}

TEST(PtxOf, RefusesWhatHoldsNoPtx) {
  EXPECT_EQ(Read(Fatbin(Entry(2, 80, 0,
                              "\x7f"
                              "ELF",
                              0)))
                .error()
                .code,
            Code::kUnsupported);
  EXPECT_EQ(Read("\x7f"
                 "ELF and so on")
                .error()
                .code,
            Code::kUnsupported);
  EXPECT_EQ(Read("hello").error().code, Code::kInvalid);
  EXPECT_EQ(Read("").error().code, Code::kInvalid);
  std::string cut = Fatbin(Entry(1, 80, 0, kText, 0));
  cut.resize(cut.size() - 8);
  EXPECT_EQ(Read(cut).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace gpuop::machine::cuda
