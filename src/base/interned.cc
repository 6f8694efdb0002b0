#include "base/interned.h"

#include <array>
#include <cstring>
#include <new>
#include <unordered_set>

#include "base/mutex.h"
#include "base/text.h"

namespace gpuop {

/// All texts, in shards so that threads seldom meet.
struct InternedPool {
  using Rep = Interned::Rep;
  struct Key {
    std::string_view text;
    std::uint64_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Rep* r) const { return r->hash; }
    std::size_t operator()(const Key& k) const { return k.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Rep* a, const Rep* b) const { return a == b; }
    bool operator()(const Key& a, const Rep* b) const { return a.hash == b->hash && a.text == b->text(); }
    bool operator()(const Rep* a, const Key& b) const { return (*this)(b, a); }
  };
  struct Shard {
    Mutex mu;
    std::unordered_set<Rep*, Hash, Equal> texts GUARDED_BY(mu);
  };

  std::array<Shard, 16> shards;
  Shard& For(std::uint64_t hash) { return shards[hash >> 60U]; }

  /// Never destroyed: static objects may hold texts until the very end.
  static InternedPool& Instance() {
    static InternedPool& pool = *new InternedPool;
    return pool;
  }
};

Interned::Rep* Interned::Intern(std::string_view text) {
  if (text.empty()) return nullptr;
  const std::uint64_t hash = Hash64(text);
  InternedPool::Shard& shard = InternedPool::Instance().For(hash);
  Lock l(shard.mu);
  if (const auto it = shard.texts.find(InternedPool::Key{text, hash}); it != shard.texts.end()) {
    (*it)->refs.fetch_add(1, std::memory_order_relaxed);
    return *it;
  }
  void* memory = ::operator new(sizeof(Rep) + text.size());
  Rep* rep = new (memory) Rep{1, static_cast<std::uint32_t>(text.size()), hash};
  std::memcpy(static_cast<void*>(rep + 1), text.data(), text.size());
  shard.texts.insert(rep);
  return rep;
}

void Interned::Release(Rep* rep) {
  // The last reference is given up under the shard's lock only, so that nobody finds a text that is being freed.
  std::uint32_t refs = rep->refs.load(std::memory_order_relaxed);
  while (refs > 1)
    if (rep->refs.compare_exchange_weak(refs, refs - 1, std::memory_order_acq_rel)) return;
  InternedPool::Shard& shard = InternedPool::Instance().For(rep->hash);
  {
    Lock l(shard.mu);
    if (rep->refs.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    shard.texts.erase(rep);
  }
  rep->~Rep();
  ::operator delete(rep);
}

std::size_t Interned::Count() {
  std::size_t count = 0;
  for (InternedPool::Shard& shard : InternedPool::Instance().shards) {
    Lock l(shard.mu);
    count += shard.texts.size();
  }
  return count;
}

}  // namespace gpuop
