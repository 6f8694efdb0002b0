#include "gpu/mig_geometry.h"

#include <algorithm>
#include <tuple>

namespace gpuop::gpu {
namespace {

/// What a set of instances takes of a GPU.
struct Load {
  std::uint32_t memory = 0;  // a bit for each memory slice
  unsigned slices = 0;
  MigEngines engines;
};

std::uint32_t Mask(MigPlacement at) { return ((1U << at.size) - 1U) << at.start; }

void Add(Load& load, const MigInstance& instance) {
  const MigProfile& p = *instance.profile;
  load.memory |= Mask(instance.placement);
  load.slices += p.slices;
  load.engines.copy += p.engines.copy;
  load.engines.decoder += p.engines.decoder;
  load.engines.encoder += p.engines.encoder;
  load.engines.jpeg += p.engines.jpeg;
  load.engines.ofa += p.engines.ofa;
}

Load Total(std::span<const MigInstance> instances) {
  Load load;
  for (const MigInstance& instance : instances) Add(load, instance);
  return load;
}

unsigned Count(std::span<const MigInstance> instances, const MigProfile& profile) {
  return static_cast<unsigned>(
      std::ranges::count_if(instances, [&](const MigInstance& i) { return i.profile == &profile; }));
}

/// The first engine of which there are not enough, or null.
const char* MissingEngine(const MigEngines& have, const MigEngines& taken, const MigEngines& more) {
  if (taken.copy + more.copy > have.copy) return "copy engine";
  if (taken.decoder + more.decoder > have.decoder) return "decoder";
  if (taken.encoder + more.encoder > have.encoder) return "encoder";
  if (taken.jpeg + more.jpeg > have.jpeg) return "JPEG engine";
  if (taken.ofa + more.ofa > have.ofa) return "optical flow accelerator";
  return nullptr;
}

bool HasRoom(const MigModel& model, const Load& load, const MigProfile& profile) {
  return load.slices + profile.slices <= model.compute_slices &&
         MissingEngine(model.engines, load.engines, profile.engines) == nullptr;
}

/// How many placements of all profiles stay free, each weighed by its size: what a choice leaves to others.
unsigned RoomLeft(const MigModel& model, std::uint32_t memory) {
  unsigned room = 0;
  for (const MigProfile& p : model.profiles)
    for (unsigned i = 0; i < p.starts; ++i)
      if ((memory & Mask({i * p.step, p.size})) == 0) room += p.size;
  return room;
}

/// Depth-first search for places, larger instances first. Engines, slices and counts are sums that the order cannot
/// change, so they are checked once for all; what is left is an exact cover of memory slices, which is tiny.
class Search {
 public:
  Search(std::span<const MigProfile* const> wanted, std::uint32_t memory, std::vector<MigInstance>& out)
      : wanted_(wanted), out_(out), memory_(memory) {
    for (std::size_t i = 0; i < wanted.size(); ++i) order_.push_back(i);
    // Profiles of one model stand in one table, so their order is the same in every run.
    std::ranges::sort(order_, {}, [&](std::size_t i) { return std::tuple(~wanted[i]->size, wanted[i], i); });
  }

  bool Run(std::size_t depth = 0, unsigned from = 0) {
    if (depth == order_.size()) return true;
    const std::size_t index = order_[depth];
    const MigProfile& p = *wanted_[index];
    for (unsigned i = from; i < p.starts; ++i) {
      const MigPlacement at{i * p.step, p.size};
      if ((memory_ & Mask(at)) != 0) continue;
      memory_ |= Mask(at);
      out_[index] = {&p, at};
      // Equal ones are taken from left to right: their order is no choice.
      const bool same_next = depth + 1 < order_.size() && wanted_[order_[depth + 1]] == &p;
      if (Run(depth + 1, same_next ? i + 1 : 0)) return true;
      memory_ &= ~Mask(at);
    }
    return false;
  }

 private:
  std::span<const MigProfile* const> wanted_;
  std::vector<MigInstance>& out_;
  std::vector<std::size_t> order_;
  std::uint32_t memory_;
};

std::string NoRoom(const MigModel& model, const MigProfile& profile, std::string_view what) {
  return std::string(model.name) + ": no room for " + std::string(profile.name) + ": " + std::string(what);
}

/// Whether sums allow `wanted` beside `kept`; if not, which profile is the first too many and why.
Result<> CheckSums(const MigModel& model, std::span<const MigInstance> kept,
                   std::span<const MigProfile* const> wanted) {
  Load load = Total(kept);
  std::vector<MigInstance> all(kept.begin(), kept.end());
  for (const MigProfile* p : wanted) {
    if (Count(all, *p) >= p->max_instances)
      return Fail(Code::kUnavailable,
                  NoRoom(model, *p, "at most " + std::to_string(p->max_instances) + " of them fit on one GPU"));
    if (load.slices + p->slices > model.compute_slices)
      return Fail(Code::kUnavailable,
                  NoRoom(model, *p, "all " + std::to_string(model.compute_slices) + " compute slices are taken"));
    if (const char* engine = MissingEngine(model.engines, load.engines, p->engines))
      return Fail(Code::kUnavailable, NoRoom(model, *p, std::string("no ") + engine + " is left"));
    all.push_back({p, {}});
    Add(load, {p, {0, 0}});
  }
  return {};
}

}  // namespace

std::optional<MigPlacement> MigProfile::PlacementAt(unsigned start) const {
  if (start % step != 0 || start / step >= starts) return std::nullopt;
  return MigPlacement{start, size};
}

const MigProfile* MigModel::FindByName(std::string_view profile) const {
  const auto it = std::ranges::find(profiles, profile, &MigProfile::name);
  return it == profiles.end() ? nullptr : &*it;
}

const MigProfile* MigModel::FindById(unsigned id) const {
  const auto it = std::ranges::find(profiles, id, &MigProfile::id);
  return it == profiles.end() ? nullptr : &*it;
}

const MigProfile* MigModel::FindByNvmlProfile(unsigned nvml_profile) const {
  const auto it = std::ranges::find(profiles, nvml_profile, &MigProfile::nvml_profile);
  return it == profiles.end() ? nullptr : &*it;
}

std::string WhyNot(const MigModel& model, std::span<const MigInstance> taken, const MigProfile& profile,
                   MigPlacement placement) {
  if (profile.PlacementAt(placement.start) != placement)
    return "it cannot begin at memory slice " + std::to_string(placement.start) + " with " +
           std::to_string(placement.size) + " slices";
  if (Count(taken, profile) >= profile.max_instances)
    return "at most " + std::to_string(profile.max_instances) + " of them fit on one GPU";
  const Load load = Total(taken);
  if ((load.memory & Mask(placement)) != 0) return "memory slices there are taken";
  if (load.slices + profile.slices > model.compute_slices) return "too few compute slices are left";
  if (const char* engine = MissingEngine(model.engines, load.engines, profile.engines))
    return std::string("no ") + engine + " is left";
  return {};
}

std::vector<MigPlacement> FreePlacements(const MigModel& model, std::span<const MigInstance> taken,
                                         const MigProfile& profile) {
  std::vector<MigPlacement> free;
  const Load load = Total(taken);
  if (Count(taken, profile) >= profile.max_instances || !HasRoom(model, load, profile)) return free;
  for (unsigned i = 0; i < profile.starts; ++i) {
    const MigPlacement at{i * profile.step, profile.size};
    if ((load.memory & Mask(at)) == 0) free.push_back(at);
  }
  return free;
}

unsigned RemainingCapacity(const MigModel& model, std::span<const MigInstance> taken, const MigProfile& profile) {
  std::vector<MigInstance> all(taken.begin(), taken.end());
  unsigned count = 0;
  // Placements of one profile do not cross each other, so taking them from the left finds the most.
  for (const MigPlacement at : FreePlacements(model, taken, profile)) {
    if (!WhyNot(model, all, profile, at).empty()) continue;
    all.push_back({&profile, at});
    ++count;
  }
  return count;
}

std::optional<MigPlacement> PreferredPlacement(const MigModel& model, std::span<const MigInstance> taken,
                                               const MigProfile& profile) {
  const std::uint32_t memory = Total(taken).memory;
  std::optional<MigPlacement> best;
  unsigned best_room = 0;
  for (const MigPlacement at : FreePlacements(model, taken, profile)) {
    const unsigned room = RoomLeft(model, memory | Mask(at));
    if (best && room < best_room) continue;
    best = at;
    best_room = room;
  }
  return best;
}

Result<std::vector<MigInstance>> Place(const MigModel& model, std::span<const MigInstance> kept,
                                       std::span<const MigProfile* const> wanted) {
  TRY(CheckSums(model, kept, wanted));
  std::vector<MigInstance> out(wanted.size());
  const std::uint32_t memory = Total(kept).memory;
  if (Search(wanted, memory, out).Run()) return out;
  // The sums are right and the shapes are not: name the first of the request that makes it impossible.
  std::size_t fits = 0;
  while (fits + 1 < wanted.size() && Search(wanted.first(fits + 1), memory, out).Run()) ++fits;
  return Fail(Code::kUnavailable, NoRoom(model, *wanted[fits], "no placement is free beside the others"));
}

unsigned GpuInstanceId(const MigModel& model, MigPlacement placement) {
  const unsigned parts = model.memory_slices / placement.size;
  return parts - 1 + placement.start / placement.size;
}

std::vector<MigComputeProfile> ComputeProfiles(const MigModel& model, const MigProfile& profile) {
  // NVML's index, slices and spacing of starts; see `nvidia-smi mig -lcip`.
  struct Kind {
    unsigned nvml_profile, slices, step;
  };
  static constexpr Kind kKinds[] = {{0, 1, 1}, {1, 2, 2}, {2, 3, 4}, {3, 4, 4}, {4, 7, 8}};
  // A part has the multiprocessors of so many smallest instances; only the whole has those that are left over.
  const MigProfile* const smallest = model.FindByNvmlProfile(0);
  const unsigned per_slice = smallest != nullptr ? smallest->multiprocessors : profile.multiprocessors / profile.slices;
  std::vector<MigComputeProfile> out;
  for (const Kind& kind : kKinds) {
    if (kind.slices > profile.slices) continue;
    // NVML offers no part of more than half, rounded up.
    if (kind.slices < profile.slices && 2 * kind.slices > profile.slices + 1) continue;
    MigComputeProfile p{.nvml_profile = kind.nvml_profile, .id = kind.nvml_profile, .slices = kind.slices};
    for (unsigned start = 0; start + kind.slices <= profile.slices; start += kind.step) p.starts.push_back(start);
    p.max_instances = static_cast<unsigned>(p.starts.size());
    p.multiprocessors = kind.slices == profile.slices ? profile.multiprocessors : kind.slices * per_slice;
    out.push_back(std::move(p));
  }
  return out;
}

std::string ComputeProfileName(const MigProfile& profile, unsigned slices) {
  if (slices == profile.slices) return std::string(profile.name);
  return std::to_string(slices) + "c." + std::string(profile.name);
}

}  // namespace gpuop::gpu
