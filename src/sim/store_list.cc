// Lists: of the table as it is, and as it was.

#include <algorithm>

#include "sim/store.h"

namespace gpuop::sim {
namespace {

/// Collects one page from objects offered in the order of their keys.
class PageMaker {
 public:
  explicit PageMaker(const Store::Query& query) : query_(query) {}

  /// Takes the next object; false once nothing more needs to be offered.
  bool Offer(const std::string& key, const StoredPtr& stored) {
    if (query_.matches && !query_.matches(*stored)) return true;
    if (query_.limit == 0 || page_.items.size() < query_.limit) {
      page_.items.push_back(stored);
      return true;
    }
    if (page_.next.empty()) page_.next = key;
    if (query_.matches) return false;
    page_.remaining = page_.remaining.value_or(0) + 1;
    return true;
  }
  Page Take() { return std::move(page_); }

 private:
  const Store::Query& query_;
  Page page_;
};

std::string Prefix(const Store::Query& query) { return query.ns ? *query.ns + "/" : std::string(); }

}  // namespace

Page Store::List(std::string_view name, const Query& query) const {
  PageMaker page(query);
  const Table* table = Find(name);
  if (table == nullptr) return page.Take();
  const std::string prefix = Prefix(query);
  for (auto it = table->objects.lower_bound(std::max(prefix, query.from)); it != table->objects.end(); ++it)
    if (!it->first.starts_with(prefix) || !page.Offer(it->first, it->second)) break;
  return page.Take();
}

std::optional<Page> Store::ListAt(std::string_view name, const Query& query, std::uint64_t revision) const {
  if (revision < OldestRevision(name)) return std::nullopt;
  const Table* table = Find(name);
  if (table == nullptr) return Page{};
  const std::string prefix = Prefix(query);
  const std::string from = std::max(prefix, query.from);
  // What later writes replaced, oldest last, so that the state just after `revision` remains.
  std::map<std::string, PastVersion, std::less<>> then;
  for (auto it = table->events.rbegin(); it != table->events.rend() && it->revision > revision; ++it) {
    const Stored& same = it->Namesake();
    std::string key = StoreKey(same.ns, same.name);
    if (key >= from && key.starts_with(prefix)) then.insert_or_assign(std::move(key), it->Before());
  }
  PageMaker page(query);
  auto now = table->objects.lower_bound(from);
  auto past = then.begin();
  const auto in_range = [&] { return now != table->objects.end() && now->first.starts_with(prefix); };
  bool more = true;
  while (more && (in_range() || past != then.end())) {
    if (past == then.end() || (in_range() && now->first < past->first)) {
      more = page.Offer(now->first, now->second);
      ++now;
      continue;
    }
    if (in_range() && now->first == past->first) ++now;
    if (const StoredPtr before = past->second.Get()) more = page.Offer(past->first, before);
    ++past;
  }
  return page.Take();
}

}  // namespace gpuop::sim
