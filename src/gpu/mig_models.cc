// The models' tables. Shapes, ids and counts: NVIDIA's MIG User Guide and listings of `nvidia-smi mig -lgip` and
// `-lgipp`. Memory is what those listings show; where none was at hand it is the share in eighths that the name says.

#include <algorithm>
#include <array>
#include <cstdlib>

#include "gpu/mig_geometry.h"
#include "gpu/nvml/constants.h"

namespace gpuop::gpu {
namespace {

using std::uint64_t;
using Names = std::array<std::string_view, 7>;

/// The family of seven compute and eight memory slices: A100, H100, H200, GH200, B200, B300, GB200, GB300. In the order
/// 1g, 1g+me, 1g of double memory, 2g, 3g, 4g, 7g.
constexpr std::array<MigProfile, 7> Sevenths(const Names& names, const std::array<uint64_t, 4>& mib,
                                             const std::array<unsigned, 7>& sms,
                                             const std::array<MigEngines, 7>& engines) {
  using namespace nvml;
  const auto eighth = mib[0], quarter = mib[1], half = mib[2], whole = mib[3];
  return {{
      {names[0], kGpuInstanceProfile1Slice, 19, 1, 7, sms[0], engines[0], eighth, 1, 1, 7},
      {names[1], kGpuInstanceProfile1SliceRev1, 20, 1, 1, sms[1], engines[1], eighth, 1, 1, 7},
      {names[2], kGpuInstanceProfile1SliceRev2, 15, 1, 4, sms[2], engines[2], quarter, 2, 2, 4},
      {names[3], kGpuInstanceProfile2Slice, 14, 2, 3, sms[3], engines[3], quarter, 2, 2, 3},
      {names[4], kGpuInstanceProfile3Slice, 9, 3, 2, sms[4], engines[4], half, 4, 4, 2},
      {names[5], kGpuInstanceProfile4Slice, 5, 4, 1, sms[5], engines[5], half, 4, 4, 1},
      {names[6], kGpuInstanceProfile7Slice, 0, 7, 1, sms[6], engines[6], whole, 8, 8, 1},
  }};
}

/// Memory of an instance of a GPU for which no listing was at hand: its eighths, less what the driver keeps.
constexpr std::array<uint64_t, 4> Shares(uint64_t total_mib) {
  const auto share = [&](uint64_t eighths) { return (total_mib * eighths / 8 - total_mib / 256) / 64 * 64; };
  return {share(1), share(2), share(4), share(8)};
}

constexpr std::array<MigEngines, 7> kAmpereEngines = {{
    {1, 0, 0, 0, 0},
    {1, 1, 0, 1, 1},
    {1, 1, 0, 0, 0},
    {2, 1, 0, 0, 0},
    {3, 2, 0, 0, 0},
    {4, 2, 0, 0, 0},
    {7, 5, 0, 1, 1},
}};
constexpr std::array<MigEngines, 7> kHopperEngines = {{
    {1, 1, 0, 1, 0},
    {1, 1, 0, 1, 1},
    {1, 1, 0, 1, 0},
    {2, 2, 0, 2, 0},
    {3, 3, 0, 3, 0},
    {4, 4, 0, 4, 0},
    {8, 7, 0, 7, 1},
}};
constexpr std::array<MigEngines, 7> kBlackwellEngines = {{
    {2, 1, 0, 1, 0},
    {2, 1, 0, 1, 1},
    {2, 1, 0, 1, 0},
    {3, 2, 0, 2, 0},
    {6, 3, 0, 3, 0},
    {8, 4, 0, 4, 0},
    {16, 7, 0, 7, 1},
}};
constexpr std::array<unsigned, 7> kAmpereSms = {14, 14, 14, 28, 42, 56, 98};
constexpr std::array<unsigned, 7> kHopperSms = {16, 16, 26, 32, 60, 64, 132};
constexpr std::array<unsigned, 7> kHopperPcieSms = {14, 14, 16, 30, 46, 62, 114};
constexpr std::array<unsigned, 7> kBlackwellSms = {18, 18, 30, 36, 70, 72, 148};
constexpr std::array<unsigned, 7> kGraceBlackwellSms = {18, 18, 30, 36, 70, 72, 152};

constexpr Names kNames40 = {"1g.5gb", "1g.5gb+me", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"};
constexpr Names kNames80 = {"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"};
constexpr Names kNames94 = {"1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"};
constexpr Names kNames96 = {"1g.12gb", "1g.12gb+me", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"};
constexpr Names kNames141 = {"1g.18gb", "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"};
constexpr Names kNames144 = {"1g.18gb", "1g.18gb+me", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"};
constexpr Names kNames180 = {"1g.23gb", "1g.23gb+me", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"};
constexpr Names kNames186 = {"1g.23gb", "1g.23gb+me", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"};
constexpr Names kNames189 = {"1g.24gb", "1g.24gb+me", "1g.47gb", "2g.47gb", "3g.95gb", "4g.95gb", "7g.189gb"};
constexpr Names kNames269 = {"1g.34gb", "1g.34gb+me", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"};
constexpr Names kNames278 = {"1g.35gb", "1g.35gb+me", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"};

constexpr auto kA100x40 = Sevenths(kNames40, {4864, 9856, 19968, 40192}, kAmpereSms, kAmpereEngines);
constexpr auto kA100x80 = Sevenths(kNames80, {9728, 19968, 40192, 80896}, kAmpereSms, kAmpereEngines);
constexpr auto kH100 = Sevenths(kNames80, {9984, 20096, 40320, 81152}, kHopperSms, kHopperEngines);
constexpr auto kH100Pcie = Sevenths(kNames80, {9984, 20096, 40320, 81152}, kHopperPcieSms, kHopperEngines);
constexpr auto kH100Nvl = Sevenths(kNames94, {11008, 22144, 47488, 95360}, kHopperSms, kHopperEngines);
constexpr auto kH100x96 = Sevenths(kNames96, Shares(97871), kHopperSms, kHopperEngines);
constexpr auto kH200 = Sevenths(kNames141, {16384, 33280, 71424, 143360}, kHopperSms, kHopperEngines);
constexpr auto kGh200x144 = Sevenths(kNames144, Shares(146944), kHopperSms, kHopperEngines);
constexpr auto kB200 = Sevenths(kNames180, Shares(183359), kBlackwellSms, kBlackwellEngines);
constexpr auto kGb200 = Sevenths(kNames186, Shares(189471), kGraceBlackwellSms, kBlackwellEngines);
constexpr auto kGb200x189 = Sevenths(kNames189, Shares(193024), kGraceBlackwellSms, kBlackwellEngines);
constexpr auto kB300 = Sevenths(kNames269, Shares(275040), kBlackwellSms, kBlackwellEngines);
constexpr auto kGb300 = Sevenths(kNames278, Shares(284208), kGraceBlackwellSms, kBlackwellEngines);

constexpr std::array<MigProfile, 5> kA30 = {{
    {"1g.6gb", nvml::kGpuInstanceProfile1Slice, 14, 1, 4, 14, {1, 1, 0, 0, 0}, 5952, 1, 1, 4},
    {"1g.6gb+me", nvml::kGpuInstanceProfile1SliceRev1, 21, 1, 1, 14, {1, 1, 0, 1, 1}, 5952, 1, 1, 4},
    {"2g.12gb", nvml::kGpuInstanceProfile2Slice, 5, 2, 2, 28, {2, 2, 0, 0, 0}, 11968, 2, 2, 2},
    {"2g.12gb+me", nvml::kGpuInstanceProfile2SliceRev1, 6, 2, 1, 28, {2, 2, 0, 1, 1}, 11968, 2, 2, 2},
    {"4g.24gb", nvml::kGpuInstanceProfile4Slice, 0, 4, 1, 56, {4, 4, 0, 1, 1}, 24000, 4, 4, 1},
}};

constexpr uint64_t kPro1 = 24187, kPro2 = 48517, kPro4 = 97344;  // 23.62, 47.38 and 95.06 GiB
constexpr std::array<MigProfile, 11> kRtxPro6000 = {{
    {"1g.24gb", nvml::kGpuInstanceProfile1Slice, 14, 1, 4, 46, {1, 1, 1, 1, 0}, kPro1, 3, 3, 4},
    {"1g.24gb+me", nvml::kGpuInstanceProfile1SliceRev1, 21, 1, 1, 46, {1, 1, 1, 1, 1}, kPro1, 3, 3, 4},
    {"1g.24gb+gfx", nvml::kGpuInstanceProfile1SliceGfx, 47, 1, 4, 46, {1, 1, 1, 1, 0}, kPro1, 3, 3, 4, true},
    {"1g.24gb+me.all", nvml::kGpuInstanceProfile1SliceAllMe, 65, 1, 1, 46, {1, 4, 4, 4, 1}, kPro1, 3, 3, 4},
    {"1g.24gb-me", nvml::kGpuInstanceProfile1SliceNoMe, 67, 1, 4, 46, {1, 0, 0, 0, 0}, kPro1, 3, 3, 4},
    {"2g.48gb", nvml::kGpuInstanceProfile2Slice, 5, 2, 2, 94, {2, 2, 2, 2, 0}, kPro2, 6, 6, 2},
    {"2g.48gb+gfx", nvml::kGpuInstanceProfile2SliceGfx, 35, 2, 2, 94, {2, 2, 2, 2, 0}, kPro2, 6, 6, 2, true},
    {"2g.48gb+me.all", nvml::kGpuInstanceProfile2SliceAllMe, 64, 2, 1, 94, {2, 4, 4, 4, 1}, kPro2, 6, 6, 2},
    {"2g.48gb-me", nvml::kGpuInstanceProfile2SliceNoMe, 66, 2, 2, 94, {2, 0, 0, 0, 0}, kPro2, 6, 6, 2},
    {"4g.96gb", nvml::kGpuInstanceProfile4Slice, 0, 4, 1, 188, {4, 4, 4, 4, 1}, kPro4, 12, 12, 1},
    {"4g.96gb+gfx", nvml::kGpuInstanceProfile4SliceGfx, 32, 4, 1, 188, {4, 4, 4, 4, 1}, kPro4, 12, 12, 1, true},
}};

constexpr std::uint16_t kA100x40Ids[] = {0x20B0, 0x20B1, 0x20F1, 0x20F6};
constexpr std::uint16_t kA100x80Ids[] = {0x20B2, 0x20B5, 0x20F3, 0x20F5};
constexpr std::uint16_t kA30Ids[] = {0x20B7};
constexpr std::uint16_t kH100Ids[] = {0x2330, 0x2324};
constexpr std::uint16_t kH100PcieIds[] = {0x2331, 0x2322};
constexpr std::uint16_t kH100NvlIds[] = {0x2321, 0x233A};
constexpr std::uint16_t kH100x96Ids[] = {0x2342, 0x233D, 0x20B6, 0x2329};
constexpr std::uint16_t kH200Ids[] = {0x2335, 0x233B};
constexpr std::uint16_t kGh200x144Ids[] = {0x2348};
constexpr std::uint16_t kB200Ids[] = {0x2901};
constexpr std::uint16_t kGb200Ids[] = {0x2941};
constexpr std::uint16_t kB300Ids[] = {0x3182};
constexpr std::uint16_t kGb300Ids[] = {0x31C2};
constexpr std::uint16_t kRtxPro6000Ids[] = {0x2BB5};

constexpr MigModel kModels[] = {
    {"A100-40GB", kA100x40Ids, 40960, 7, 8, kA100x40.back().engines, kA100x40, true},
    {"A100-80GB", kA100x80Ids, 81920, 7, 8, kA100x80.back().engines, kA100x80, true},
    {"A30", kA30Ids, 24576, 4, 4, kA30.back().engines, kA30, true},
    {"H100-80GB", kH100Ids, 81559, 7, 8, kH100.back().engines, kH100},
    {"H100-PCIe-80GB", kH100PcieIds, 81559, 7, 8, kH100Pcie.back().engines, kH100Pcie},
    {"H100-NVL-94GB", kH100NvlIds, 95830, 7, 8, kH100Nvl.back().engines, kH100Nvl},
    {"H100-96GB", kH100x96Ids, 97871, 7, 8, kH100x96.back().engines, kH100x96},
    {"H200", kH200Ids, 143771, 7, 8, kH200.back().engines, kH200},
    {"GH200-144GB", kGh200x144Ids, 146944, 7, 8, kGh200x144.back().engines, kGh200x144},
    {"B200", kB200Ids, 183359, 7, 8, kB200.back().engines, kB200},
    {"GB200", kGb200Ids, 189471, 7, 8, kGb200.back().engines, kGb200},
    {"GB200-189GB", kGb200Ids, 193024, 7, 8, kGb200x189.back().engines, kGb200x189},
    {"B300", kB300Ids, 275040, 7, 8, kB300.back().engines, kB300},
    {"GB300", kGb300Ids, 284208, 7, 8, kGb300.back().engines, kGb300},
    {"RTX-PRO-6000", kRtxPro6000Ids, 97887, 4, 12, kRtxPro6000.back().engines, kRtxPro6000},
};

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

std::span<const MigModel> MigModels() { return kModels; }

const MigModel* FindMigModel(std::string_view name) {
  const auto* const it = std::ranges::find(kModels, name, &MigModel::name);
  return it == std::end(kModels) ? nullptr : it;
}

const MigModel* FindMigModel(std::uint16_t device_id, std::uint64_t memory_mib) {
  const MigModel* best = nullptr;
  for (const MigModel& model : kModels) {
    if (std::ranges::find(model.device_ids, device_id) == model.device_ids.end()) continue;
    if (best == nullptr || Distance(model.memory_mib, memory_mib) < Distance(best->memory_mib, memory_mib))
      best = &model;
  }
  return best;
}

}  // namespace gpuop::gpu
