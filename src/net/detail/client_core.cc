#include "net/detail/exchange.h"

namespace gpuop::net::detail {

std::shared_ptr<Wire> ClientCore::TakeIdle() {
  if (idle.empty()) return nullptr;
  std::shared_ptr<Wire> wire = std::move(idle.back());
  idle.pop_back();
  return wire;
}

bool ClientCore::Reserve() {
  if (open >= options.max_connections) return false;
  ++open;
  return true;
}

void ClientCore::Return(std::shared_ptr<Wire> wire) {
  if (closed || options.max_idle == 0) {
    wire.reset();
    return Release();
  }
  wire->idle_since = io.Now();
  Watch(wire);
  idle.push_back(std::move(wire));
  if (idle.size() > options.max_idle) Forget(idle.front());
  SetExpiry();
  WakeWaiting();
}

// An idle connection has nothing to say: whatever makes it readable, it is of no more use.
void ClientCore::Watch(const std::shared_ptr<Wire>& wire) {
  wire->transport->WhenReadable([weak_core = weak_from_this(), weak = std::weak_ptr(wire)] {
    auto core = weak_core.lock();
    auto w = weak.lock();
    if (core && w) core->Forget(w);
  });
}

void ClientCore::Forget(const std::shared_ptr<Wire>& wire) {
  if (std::erase(idle, std::shared_ptr(wire)) > 0) Release();
}

void ClientCore::SetExpiry() {
  if (idle.empty()) return expiry.Cancel();
  expiry.Set(idle.front()->idle_since + options.idle_timeout, [weak = weak_from_this()] {
    auto core = weak.lock();
    if (!core) return;
    while (!core->idle.empty() && core->idle.front()->idle_since + core->options.idle_timeout <= core->io.Now())
      core->Forget(core->idle.front());
    core->SetExpiry();
  });
}

void ClientCore::Release() {
  --open;
  WakeWaiting();
}

void ClientCore::WakeWaiting() {
  while (!waiting.empty()) {
    auto next = waiting.front().lock();
    waiting.pop_front();
    if (!next) continue;
    io.Post([next] { next->Proceed(); });
    return;
  }
}

void ClientCore::Close() {
  closed = true;
  expiry.Cancel();
  idle.clear();
}

}  // namespace gpuop::net::detail
