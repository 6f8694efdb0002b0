#include "operands/config_manager/follower.h"

#include "base/text.h"
#include "operands/config_manager/selection.h"

namespace gpuop::operands::config_manager {

Follower::Follower(Parts parts, Options options)
    : fs_(parts.fs), programs_(parts.programs), log_(parts.log), options_(std::move(options)) {
  if (parts.metrics == nullptr) return;
  good_ = &parts.metrics->gauge("gpu_operator_config_manager_selected",
                                "1 while the configuration that the node asks for is the one that is linked.");
  links_ = &parts.metrics->counter("gpu_operator_config_manager_links_total", "Changes of the link.");
  signals_ = &parts.metrics->counter("gpu_operator_config_manager_signals_total", "Signals sent.");
}

Result<std::uint64_t> Follower::ContentOf(const std::string& target) const {
  if (target == kNothing) return Hash64("");
  ASSIGN(const std::string text, fs_.Read(target));
  return Hash64(text);
}

Result<bool> Follower::Link(const std::string& target) {
  if (const auto now = fs_.ReadLink(options_.destination); now && *now == target) return false;
  TRY(os::MakeFolders(fs_, os::FolderOf(options_.destination)));
  TRY(fs_.Symlink(target, options_.destination));
  log_.Info("configuration selected", {{"config", target}});
  if (links_ != nullptr) links_->Add();
  return true;
}

void Follower::Signal() {
  if (!options_.send_signal) return;
  const auto sent = programs_.Signal(options_.process, options_.signal);
  if (!sent)
    log_.Error("the program cannot be told", {{"process", options_.process}, {"reason", sent.error().text}});
  else if (*sent == 0)
    log_.Warn("nobody to tell: the program does not run, and reads its configuration when it starts",
              {{"process", options_.process}});
  else
    log_.Info("the program is told", {{"process", options_.process}, {"signal", std::to_string(options_.signal)}});
  if (sent && signals_ != nullptr) signals_->Add(static_cast<double>(*sent));
}

Result<bool> Follower::Follow(const std::optional<std::string>& label) {
  const auto follow = [&]() -> Result<bool> {
    ASSIGN(const auto names, fs_.List(options_.source));
    ASSIGN(const std::string target, Select(label, Configurations(names), options_));
    ASSIGN(const std::uint64_t content, ContentOf(target));
    ASSIGN(const bool linked, Link(target));
    const bool rewritten = content_ && *content_ != content;
    content_ = content;
    if (rewritten && !linked) log_.Info("configuration rewritten", {{"config", target}});
    if (linked || rewritten) Signal();
    return linked;
  };
  auto done = follow();
  if (good_ != nullptr) good_->Set(done ? 1 : 0);
  return done;
}

}  // namespace gpuop::operands::config_manager
