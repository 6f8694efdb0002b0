#include "sim/reader.h"

#include "sim/encode.h"

namespace gpuop::sim {

Answer<Response> Reader::Get() {
  ASSIGN(const Form form, Negotiate(request_.http->accept));
  if (const auto rv = request_.Param("resourceVersion"); rv && !rv->empty()) {
    const auto revision = ReadListOptions(request_);
    if (!revision) return std::unexpected(revision.error());
    if (revision->revision.value_or(0) > server_.store().revision())
      return std::unexpected(TooLargeRevision(*revision->revision, server_.store().revision()));
  }
  const StoredPtr stored = server_.store().Get(info_.table, request_.ns(), request_.name());
  if (!stored) return std::unexpected(NotFound(info_, request_.name()));
  return server_.EncoderFor(request_, form).Object(stored);
}

Answer<Response> Reader::List() {
  ASSIGN(const Form form, Negotiate(request_.http->accept, true));
  ASSIGN(const ListOptions options, ReadListOptions(request_));
  ListMeta meta;
  ASSIGN(const Page page, Collect(options, meta.revision));
  if (!page.next.empty()) {
    const Stored& last = *page.items.back();
    const std::string start = request_.ns().empty() ? StoreKey(last.ns, last.name) : std::string(last.name);
    meta.continue_token = EncodeContinue({meta.revision, start + '\0'});
    meta.remaining = page.remaining;
  }
  return server_.EncoderFor(request_, form).List(page.items, meta);
}

Store::Query Reader::QueryOf(const ListOptions& options) const {
  Store::Query query;
  if (info_.namespaced && !request_.ns().empty()) query.ns = request_.ns();
  query.limit = options.limit;
  query.matches = options.filter.matches;
  return query;
}

Answer<Page> Reader::Collect(const ListOptions& options, std::uint64_t& revision) const {
  const Store& store = server_.store();
  revision = store.revision();
  if (options.revision.value_or(0) > revision) return std::unexpected(TooLargeRevision(*options.revision, revision));
  if (!options.continue_token.empty()) return Continue(options, revision);
  Store::Query query = QueryOf(options);
  if (options.match == ListOptions::Match::kExact ||
      (options.match == ListOptions::Match::kNone && options.limit > 0 && options.revision.value_or(0) > 0)) {
    revision = *options.revision;
    auto page = store.ListAt(info_.table, query, revision);
    if (!page) return std::unexpected(Expired("The resourceVersion for the provided list is too old."));
    return *std::move(page);
  }
  if (options.revision == 0 && options.match == ListOptions::Match::kNone) query.limit = 0;  // as from a cache: all
  if (!options.filter.name.empty() && (query.ns || !info_.namespaced)) return ListOne(options);
  return store.List(info_.table, query);
}

Answer<Page> Reader::ListOne(const ListOptions& options) const {
  Page page;
  StoredPtr stored = server_.store().Get(info_.table, request_.ns(), options.filter.name);
  if (stored && options.filter.matches(*stored)) page.items.push_back(std::move(stored));
  return page;
}

Answer<Page> Reader::Continue(const ListOptions& options, std::uint64_t& revision) const {
  ASSIGN(const ContinueToken token, DecodeContinue(options.continue_token));
  Store::Query query = QueryOf(options);
  query.from = query.ns ? *query.ns + "/" + token.start : token.start;
  if (token.revision == 0) return server_.store().List(info_.table, query);
  if (token.revision > revision) return std::unexpected(TooLargeRevision(token.revision, revision));
  auto page = server_.store().ListAt(info_.table, query, token.revision);
  if (!page) {
    Status expired = Expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without "
        "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
        "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
        "deleted between the time the first chunk was returned and now may show up in the list.");
    expired.continue_token = EncodeContinue({0, token.start});
    return std::unexpected(std::move(expired));
  }
  revision = token.revision;
  return *std::move(page);
}

}  // namespace gpuop::sim
