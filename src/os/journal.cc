#include "os/journal.h"

#include <unistd.h>

#include <set>

#include "base/text.h"
#include "os/diff.h"
#include "os/journal_files.h"
#include "os/journal_record.h"

namespace gpuop::os {
namespace {

std::string Describe(const FileAttributes& a) {
  char text[64];
  std::snprintf(text, sizeof text, "mode %04o owner %u:%u", a.mode, a.uid, a.gid);
  return text;
}

/// As text for a diff: a link is one line that says so.
std::string Text(const FileState& state) {
  return state.kind == FileState::Kind::kLink ? "link to " + state.bytes + "\n" : state.bytes;
}

std::string DiffOf(const Plan::Item& item) {
  const bool was = item.before.kind != FileState::Kind::kAbsent, is = item.after.kind != FileState::Kind::kAbsent;
  const std::string from = was ? "a" + item.path : "/dev/null", to = is ? "b" + item.path : "/dev/null";
  std::string out = UnifiedDiff(from, to, Text(item.before), Text(item.after));
  if (out.empty()) out = "--- " + from + "\n+++ " + to + "\n";
  const bool was_file = item.before.kind == FileState::Kind::kFile, is_file = item.after.kind == FileState::Kind::kFile;
  if (is_file && (!was_file || item.before.attributes != item.after.attributes)) {
    if (was_file) out.append("old ").append(Describe(item.before.attributes)).append("\n");
    out.append("new ").append(Describe(item.after.attributes)).append("\n");
  }
  return out;
}

Result<> Call(const std::function<Result<>(Hooks::Phase)>& activate, Hooks::Phase phase) {
  return activate ? activate(phase) : Result<>();
}

Result<std::optional<JournalRecord>> Load(const Fs& fs, const std::string& path) {
  auto text = fs.Read(path);
  if (!text && text.error().code == Code::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(std::move(text).error());
  auto record = ReadJournalRecord(*text);
  if (!record) return std::unexpected(std::move(record).error().During(path));
  return *std::move(record);
}

/// One change on its way: the record on the disk and what it stands for.
class Transaction {
 public:
  Transaction(Fs& fs, std::string path, JournalRecord record)
      : fs_(fs), path_(std::move(path)), record_(std::move(record)) {}

  JournalRecord::Stage stage() const { return record_.stage; }
  /// The commit failed in a way that leaves open what the disk says; only the next Recover can tell.
  bool unclear() const { return unclear_; }

  Result<> Enter(JournalRecord::Stage stage) {
    JournalRecord next = record_;
    next.stage = stage;
    const std::string text = WriteJournalRecord(next);
    if (text.size() > Fs::kReadLimit) return Fail(Code::kTooLarge, "too many files for one change");
    TRY(fs_.WriteAtomic(path_, text, FileAttributes{0600, ::geteuid(), ::getegid()}));
    record_.stage = stage;
    return {};
  }

  Result<> Change(const std::vector<Plan::Item>& items, const Hooks& hooks) {
    for (const std::string& folder : record_.folders) TRY(fs_.MakeFolder(folder));
    TRY(Stage(fs_, items));
    TRY(MoveNew(fs_, record_.items));
    TRY(CheckNew(fs_, record_.items));
    if (hooks.activate) {
      TRY(Enter(JournalRecord::Stage::kActivating));
      TRY(hooks.activate(Hooks::Phase::kApply));
    }
    return hooks.verify ? hooks.verify() : Result<>();
  }

  /// The moment after which the change stays.
  Result<> Commit() {
    Result<> entered = Enter(JournalRecord::Stage::kCommitted);
    if (entered) return {};
    // A write that fails may still have been done, so what can be read decides: Recover would go by it too.
    const auto shown = Load(fs_, path_);
    unclear_ = !shown;
    if (shown && *shown && (*shown)->stage == JournalRecord::Stage::kCommitted) return {};
    return entered;
  }

  Result<> Finish() {
    TRY(RemoveOld(fs_, record_.items));
    return RemoveWithLeftovers(fs_, path_);
  }

  Result<std::vector<std::string>> Undo(const Hooks& hooks) {
    ASSIGN(std::vector<std::string> left, PutBack(fs_, record_));
    if (record_.stage == JournalRecord::Stage::kActivating) TRY(Call(hooks.activate, Hooks::Phase::kUndo));
    TRY(RemoveWithLeftovers(fs_, path_));
    return left;
  }

 private:
  Fs& fs_;
  const std::string path_;
  JournalRecord record_;
  bool unclear_ = false;
};

/// The error of a change that has been undone as far as `undone` says.
std::unexpected<Error> Explain(Error why, const Result<std::vector<std::string>>& undone) {
  if (!undone) {
    why.text += "; undoing it failed and will be tried again at the next start: " + undone.error().text;
  } else if (!undone->empty()) {
    why.text += "; put back except " + Join(*undone, ", ");
  }
  return std::unexpected(std::move(why));
}

}  // namespace

std::string Plan::Diff() const {
  std::string out;
  for (const Item& item : items) out += DiffOf(item);
  return out;
}

Journal::Journal(Fs& fs, std::string folder) : fs_(fs), folder_(std::move(folder)) {}

Result<Plan> Journal::MakePlan(std::string name, const std::vector<Change>& changes) const {
  Plan plan{.name = std::move(name), .items = {}};
  std::set<std::string> seen;
  for (const Change& change : changes) {
    ASSIGN(const auto parts, SplitPath(change.path));
    if (parts.second.empty() || !change.path.starts_with('/') || change.path.ends_with('/'))
      return Fail(Code::kInvalid, Quote(change.path) + ": not the absolute path of a file");
    if (!seen.insert(change.path).second) return Fail(Code::kInvalid, change.path + ": comes twice in one plan");
    Plan::Item item{.path = change.path, .before = {}, .after = {.kind = change.kind}};
    ASSIGN(item.before, StateOf(fs_, change.path));
    if (change.kind != FileState::Kind::kAbsent) item.after.bytes = change.bytes;
    if (item.after.bytes.size() > kFileLimit) return Fail(Code::kTooLarge, change.path + ": too long for a plan");
    if (change.kind == FileState::Kind::kFile) {
      const FileAttributes fresh{0644, ::geteuid(), ::getegid()};
      const bool was_file = item.before.kind == FileState::Kind::kFile;
      item.after.attributes = change.attributes.value_or(was_file ? item.before.attributes : fresh);
    }
    if (item.before != item.after) plan.items.push_back(std::move(item));
  }
  return plan;
}

Result<> Journal::Apply(const Plan& plan, const Hooks& hooks) {
  if (plan.empty()) return {};
  TRY(MakeFolders(fs_, folder_, 0700));
  ASSIGN(const std::unique_ptr<FileLock> lock, fs_.Lock(Own("lock")));
  ASSIGN(std::optional<JournalRecord> earlier, Load(fs_, Own("transaction")));
  if (earlier && earlier->stage == JournalRecord::Stage::kCommitted) {
    TRY(Transaction(fs_, Own("transaction"), *std::move(earlier)).Finish());
  } else if (earlier) {
    return Fail(Code::kConflict, "the change \"" + earlier->name + "\" was cut short and must be undone first");
  }

  JournalRecord record{.name = plan.name, .folders = {}, .items = {}};
  ASSIGN(record.folders, MissingFolders(fs_, plan.items));
  for (const Plan::Item& item : plan.items) {
    ASSIGN(const FileState now, StateOf(fs_, item.path));
    if (now != item.before) return Fail(Code::kConflict, item.path + ": changed since it was planned");
    record.items.push_back({item.path, PrintOf(item.before), PrintOf(item.after)});
  }
  Transaction transaction(fs_, Own("transaction"), std::move(record));
  Result<> done = transaction.Enter(JournalRecord::Stage::kWriting);
  if (done) done = transaction.Change(plan.items, hooks);
  if (done) done = transaction.Commit();
  if (transaction.unclear())
    return std::unexpected(
        std::move(done).error().During(plan.name + ": whether it stays is settled at the next start"));
  if (!done) return Explain(std::move(done).error().During(plan.name), transaction.Undo(hooks));
  // What Finish cannot remove now it will the next time; the change itself stands.
  [[maybe_unused]] const Result<> tidied = transaction.Finish();
  return {};
}

Result<Recovery> Journal::Recover(const Hooks& hooks) {
  ASSIGN(const bool used, Exists(fs_, folder_));
  if (!used) return Recovery{};
  ASSIGN(const std::unique_ptr<FileLock> lock, fs_.Lock(Own("lock")));
  ASSIGN(std::optional<JournalRecord> record, Load(fs_, Own("transaction")));
  if (!record) {
    TRY(RemoveWithLeftovers(fs_, Own("transaction")));
    return Recovery{};
  }
  Recovery recovery{.outcome = Recovery::Outcome::kUndone, .name = record->name};
  const std::string doing = "recover from \"" + record->name + "\"";
  Transaction transaction(fs_, Own("transaction"), *std::move(record));
  if (transaction.stage() == JournalRecord::Stage::kCommitted) {
    recovery.outcome = Recovery::Outcome::kFinished;
    if (auto done = transaction.Finish(); !done) return std::unexpected(std::move(done).error().During(doing));
    return recovery;
  }
  auto left = transaction.Undo(hooks);
  if (!left) return std::unexpected(std::move(left).error().During(doing));
  recovery.left = *std::move(left);
  return recovery;
}

}  // namespace gpuop::os
