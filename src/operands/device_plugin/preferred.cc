#include "operands/device_plugin/preferred.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace gpuop::operands::device_plugin {
namespace {

constexpr int kPerLink = 100;

int PathScore(gpu::Closeness::Path path) {
  using enum gpu::Closeness::Path;
  switch (path) {
    case kSystem: return 10;
    case kNode: return 20;
    case kHostBridge: return 30;
    case kMultipleSwitches: return 40;
    case kSingleSwitch: return 50;
    case kSameBoard: return 60;
  }
  return 0;
}

int ScoreOf(const gpu::Device& a, const gpu::Device& b, const gpu::Closeness& closeness) {
  int path = PathScore(closeness.path);
  if (a.numa_node && a.numa_node == b.numa_node) path = std::max(path, PathScore(gpu::Closeness::Path::kNode));
  return path + kPerLink * static_cast<int>(closeness.links);
}

/// Sets of at most this many are all looked at: C(20, 10).
constexpr double kMostSets = 184756;

double Choices(std::size_t from, std::size_t take) {
  double out = 1;
  for (std::size_t i = 0; i < take; ++i) out = out * static_cast<double>(from - i) / static_cast<double>(i + 1);
  return out;
}

/// The search for one request.
class Search {
 public:
  Search(std::span<const int> scores, std::size_t count, std::uint64_t required, std::size_t size)
      : scores_(scores), count_(count), required_(required), size_(size), ties_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) ties_[i] += scores[i * count + j];
      if ((required >> i & 1U) == 0) free_.push_back(i);
    }
  }

  std::uint64_t Run() {
    const std::size_t need = size_ - static_cast<std::size_t>(std::popcount(required_));
    if (Choices(free_.size(), need) > kMostSets) return Grow(need);
    TryAll(Of(required_), 0, need);
    return best_.bits;
  }

 private:
  /// A set with what belongs together inside it, and all ties of its elements: those inside twice, the others torn.
  struct Set {
    std::uint64_t bits = 0;
    int inside = 0, ties = 0;
    std::pair<int, int> worth() const { return {inside, 2 * inside - ties}; }
  };

  int To(std::size_t element, std::uint64_t set) const {
    int sum = 0;
    for (; set != 0; set &= set - 1) sum += scores_[element * count_ + static_cast<std::size_t>(std::countr_zero(set))];
    return sum;
  }
  Set With(const Set& set, std::size_t element) const {
    return {set.bits | 1ULL << element, set.inside + To(element, set.bits), set.ties + ties_[element]};
  }
  Set Of(std::uint64_t bits) const {
    Set out;
    for (; bits != 0; bits &= bits - 1) out = With(out, static_cast<std::size_t>(std::countr_zero(bits)));
    return out;
  }
  bool Consider(const Set& set) {
    if (best_.bits != 0 && set.worth() <= best_.worth()) return false;
    best_ = set;
    return true;
  }

  /// `set` with each choice of `need` of the free elements from number `first` on; sets of the first elements come
  /// first.
  void TryAll(const Set& set, std::size_t first, std::size_t need) {
    if (need == 0) {
      Consider(set);
      return;
    }
    for (std::size_t i = first; i + need <= free_.size(); ++i) TryAll(With(set, free_[i]), i + 1, need - 1);
  }

  /// From what is required, always the element that fits best, then exchanges as long as one helps.
  std::uint64_t Grow(std::size_t need) {
    std::uint64_t set = required_;
    for (; need > 0; --need) {
      std::size_t pick = 0;
      int best = -1;
      for (const std::size_t i : free_)
        if ((set >> i & 1U) == 0 && To(i, set) > best) pick = i, best = To(i, set);
      set |= 1ULL << pick;
    }
    Consider(Of(set));
    for (bool better = true; better;) {
      better = false;
      for (const std::size_t out : free_)
        for (const std::size_t in : free_)
          if ((best_.bits >> out & 1U) != 0 && (best_.bits >> in & 1U) == 0)
            better |= Consider(Of((best_.bits & ~(1ULL << out)) | 1ULL << in));
    }
    return best_.bits;
  }

  const std::span<const int> scores_;
  const std::size_t count_;
  const std::uint64_t required_;
  const std::size_t size_;
  std::vector<std::size_t> free_;
  /// Of each element with all others.
  std::vector<int> ties_;
  Set best_;
};

Error Unknown(const std::string& id) {
  return {Code::kIo,
          "error getting list of preferred allocation devices: unable to retrieve list of available devices: no device "
          "with uuid: " +
              id};
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

Affinity::Affinity(const gpu::Inventory& inventory) {
  const std::size_t n = inventory.devices.size();
  scores_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    places_[inventory.devices[i].uuid] = i;
    for (std::size_t j = 0; j < n; ++j)
      if (const auto* closeness = inventory.Between(static_cast<unsigned>(i), static_cast<unsigned>(j));
          closeness != nullptr && i != j)
        scores_[i * n + j] = ScoreOf(inventory.devices[i], inventory.devices[j], *closeness);
  }
}

int Affinity::Between(std::string_view gpu, std::string_view other) const {
  const auto a = places_.find(gpu), b = places_.find(other);
  return a == places_.end() || b == places_.end() ? 0 : scores_[a->second * places_.size() + b->second];
}

std::uint64_t BestSet(std::span<const int> scores, std::size_t count, std::uint64_t required, std::size_t size) {
  return Search(scores, count, required, size).Run();
}

Chooser::Chooser(const Resource& resource, const Affinity& affinity, Spread spread) : spread_(spread) {
  whole_gpus_ = true;
  for (const Unit& unit : resource.units) {
    if (unit.is_mig() || unit.shared) whole_gpus_ = false;
    const auto known = std::ranges::find(gpus_, unit.gpu);
    const auto gpu = static_cast<std::size_t>(known - gpus_.begin());
    if (known == gpus_.end()) gpus_.push_back(unit.gpu), totals_.push_back(0);
    for (std::string& id : IdsOf(unit)) {
      places_.emplace(std::move(id), Place{gpu, places_.size()});
      ++totals_[gpu];
    }
  }
  scores_.resize(gpus_.size() * gpus_.size());
  for (std::size_t i = 0; i < gpus_.size(); ++i)
    for (std::size_t j = 0; j < gpus_.size(); ++j)
      if (i != j) scores_[i * gpus_.size() + j] = affinity.Between(gpus_[i], gpus_[j]);
}

Result<std::vector<std::string>> Chooser::Choose(const PreferredRequest& request) const {
  return whole_gpus_ ? Aligned(request) : Spreading(request);
}

Result<std::vector<std::string>> Chooser::Aligned(const PreferredRequest& request) const {
  std::vector<std::size_t> gpus;  // of the available devices
  std::uint64_t required = 0;
  for (const auto* list : {&request.available, &request.required})
    for (const std::string& id : *list)
      if (!places_.contains(id)) return std::unexpected(Unknown(id));
  for (const std::string& id : request.available) gpus.push_back(places_.find(id)->second.gpu);
  std::ranges::sort(gpus);
  const auto [last, end] = std::ranges::unique(gpus);
  gpus.erase(last, end);
  for (const std::string& id : request.required) {
    if (!Contains(request.available, id)) return std::vector<std::string>();
    required |= 1ULL << (std::ranges::find(gpus, places_.find(id)->second.gpu) - gpus.begin());
  }
  const std::size_t n = gpus.size();
  if (request.size <= 0 || n > 64 || static_cast<std::size_t>(request.size) > n ||
      std::popcount(required) > request.size)
    return std::vector<std::string>();
  std::vector<int> scores(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) scores[i * n + j] = scores_[gpus[i] * gpus_.size() + gpus[j]];
  const std::uint64_t set = BestSet(scores, n, required, static_cast<std::size_t>(request.size));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i)
    if ((set >> i & 1U) != 0) out.push_back(gpus_[gpus[i]]);
  return out;
}

Result<std::vector<std::string>> Chooser::Spreading(const PreferredRequest& request) const {
  std::vector<std::string> out;
  for (const std::string& id : request.required)
    if (!Contains(out, id)) out.push_back(id);
  // Candidates by GPU, in order; the next of each is at its back.
  std::vector<std::vector<std::pair<std::size_t, std::string>>> free(gpus_.size());
  std::size_t available = 0;
  for (const std::string& id : request.available) {
    const auto place = places_.find(id);
    if (place == places_.end() || Contains(request.required, id)) continue;
    free[place->second.gpu].emplace_back(place->second.order, id);
    ++available;
  }
  const int need = request.size - static_cast<int>(out.size());
  if (need > 0 && static_cast<std::size_t>(need) > available)
    return Fail(
        Code::kIo,
        "error getting list of preferred allocation devices: not enough available devices to satisfy allocation");
  for (auto& list : free) std::ranges::sort(list, std::greater<>());
  std::vector<unsigned> picked(gpus_.size(), 0);
  for (int i = 0; i < need; ++i) {
    std::size_t best = gpus_.size();
    std::tuple<int, unsigned> best_rank;
    for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (free[gpu].empty()) continue;
      const int used = static_cast<int>(totals_[gpu] - free[gpu].size());
      const std::tuple rank(spread_ == Spread::kPacked ? -used : used, picked[gpu]);
      if (best == gpus_.size() || rank < best_rank) best = gpu, best_rank = rank;
    }
    out.push_back(std::move(free[best].back().second));
    free[best].pop_back();
    ++picked[best];
  }
  return out;
}

}  // namespace gpuop::operands::device_plugin
