#pragma once

#include <deque>
#include <list>
#include <memory>
#include <string>

#include "sim/api_server.h"
#include "sim/list_options.h"

namespace gpuop::sim {

/// An open watch: a place in its table's history, a filter and a sink. It keeps no events of its own, so a slow reader
/// costs nothing but the time until its history is forgotten, when it is cut.
class OpenWatch final : public Watch {
 public:
  OpenWatch(ApiServer& server, Request request, Form form, ListOptions options, std::shared_ptr<WatchSink> sink);
  ~OpenWatch() override;

  /// Takes the state to begin with and arms its timers. Called once.
  void Start();
  /// A commit to its table.
  void See(const Event& event);
  void Resume() override;
  /// Ends without a word, by a task.
  void Drop();

 private:
  void Schedule();
  void Pump();
  bool PumpInitial();
  void PumpHistory();
  bool Send(Text text);
  bool SendEvent(const Event& event);
  Text EventFor(const Event& event);
  void SendTooOld(std::uint64_t asked);
  void SendBookmark(bool initial_end);
  void ArmBookmark();
  void End();
  bool InScope(const Stored& stored) const;
  bool Matches(const StoredPtr& stored) const;
  std::string Compose(std::string_view type, std::string_view object) const;
  template <class F>
  auto Alive(F then);

  ApiServer& server_;
  Request request_;
  const ResourceInfo& info_;
  Form form_;
  ListOptions options_;
  std::shared_ptr<WatchSink> sink_;
  std::string include_object_;
  std::deque<StoredPtr> initial_;
  std::uint64_t cursor_ = 0;
  bool initial_end_owed_ = false, columns_sent_ = false, too_old_ = false;
  bool scheduled_ = false, paused_ = false, ended_ = false;
  std::shared_ptr<OpenWatch*> self_;  // empties when this goes
  std::list<OpenWatch*>::iterator place_;
};

}  // namespace gpuop::sim
