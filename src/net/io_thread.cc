#include "net/io_thread.h"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <thread>

#include "base/check.h"
#include "base/mutex.h"
#include "net/detail/core.h"

namespace gpuop::net {
namespace asio = boost::asio;
using boost::system::error_code;

struct IoThread::Core {
  using Key = std::pair<TimePoint, std::uint64_t>;

  // On the I/O thread only. Before `context`: the tasks that die with it may hold timers.
  std::map<Key, Task> timers;
  std::uint64_t last_id = 0;
  std::optional<TimePoint> alarm_at;
  static constexpr std::size_t kScratchBytes = 64UL * 1024;
  /// Not touched before it is needed, hence no array.
  const std::unique_ptr<char[]> scratch = std::make_unique_for_overwrite<char[]>(kScratchBytes);
  std::string out_scratch;

  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer alarm{context};
  std::atomic<std::thread::id> thread{};
  Mutex mu;
  std::condition_variable_any changed;
  bool running GUARDED_BY(mu) = false;
  std::jthread own;

  void SetRunning(bool now) {
    Lock l(mu);
    thread = now ? std::this_thread::get_id() : std::thread::id();
    running = now;
    changed.notify_all();
  }

  std::uint64_t Add(TimePoint when, Task task) {
    timers.emplace(Key(when, ++last_id), std::move(task));
    SetAlarm();
    return last_id;
  }

  void SetAlarm() {
    if (timers.empty()) return;
    const TimePoint first = timers.begin()->first.first;
    if (alarm_at && *alarm_at <= first) return;
    alarm_at = first;
    alarm.expires_at(std::chrono::steady_clock::time_point(first.time_since_epoch()));
    alarm.async_wait([this](error_code error) {
      if (!error) RunDue();
    });
  }

  // Only what was due when it began, and not all of it when that is much, so that timers cannot keep the sockets
  // waiting.
  void RunDue() {
    constexpr int kMostAtOnce = 64;
    alarm_at.reset();
    const Key end(std::chrono::steady_clock::now(), last_id + 1);
    for (int ran = 0; ran < kMostAtOnce && !timers.empty() && timers.begin()->first < end; ++ran) {
      Task task = std::move(timers.extract(timers.begin()).mapped());
      task();
    }
    SetAlarm();
  }
};

IoThread::IoThread() : core_(std::make_unique<Core>()) {}

IoThread::~IoThread() {
  Stop();
  if (core_->own.joinable()) core_->own.join();
  // Destroying a task may post another.
  while (!core_->timers.empty()) std::exchange(core_->timers, {}).clear();
}

void IoThread::Start() {
  GPUOP_CHECK(!core_->own.joinable());
  core_->own = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  Lock l(core_->mu);
  core_->changed.wait(core_->mu, [this]() REQUIRES(core_->mu) { return core_->running; });
}

void IoThread::Run(std::stop_token stop) {
  core_->context.restart();
  const std::stop_callback on_stop(stop, [this] { core_->context.stop(); });
  core_->SetRunning(true);
  core_->context.run();
  core_->SetRunning(false);
}

void IoThread::Stop() {
  if (core_->own.joinable())
    core_->own.request_stop();
  else
    core_->context.stop();
}

bool IoThread::OnThread() const { return core_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

void IoThread::Dispatch(Task task) {
  if (OnThread())
    task();
  else
    Post(std::move(task));
}

void IoThread::RunAndWait(Task task) {
  if (OnThread()) return task();
  struct Shared {
    Task task;
    enum { kWaiting, kTaken, kDone } state = kWaiting;
  };
  auto shared = std::make_shared<Shared>(std::move(task));
  Core& core = *core_;
  {
    Lock l(core.mu);
    if (core.running) {
      asio::post(core.context, [shared, &core] {
        {
          Lock inner(core.mu);
          if (std::exchange(shared->state, Shared::kTaken) != Shared::kWaiting) return;
        }
        shared->task();
        Lock inner(core.mu);
        shared->state = Shared::kDone;
        core.changed.notify_all();
      });
      core.changed.wait(core.mu, [&]() REQUIRES(core.mu) { return shared->state == Shared::kDone || !core.running; });
    }
    if (shared->state != Shared::kWaiting) return;
    shared->state = Shared::kTaken;  // the loop has ended, or never began
  }
  shared->task();
}

void IoThread::PostAt(TimePoint when, Task task) {
  if (when <= Now())
    asio::post(core_->context, std::move(task));
  else if (OnThread())
    core_->Add(when, std::move(task));
  else
    asio::post(core_->context, [this, when, t = std::move(task)]() mutable { core_->Add(when, std::move(t)); });
}

namespace detail {

void Timer::Set(TimePoint when, Executor::Task task) {
  Cancel();
  when_ = when;
  id_ = io_.core().Add(when, std::move(task));
}

void Timer::Cancel() {
  if (id_ != 0) io_.core().timers.erase({when_, std::exchange(id_, 0)});
}

struct WatchedFd::Watch {
  asio::posix::stream_descriptor descriptor;
  bool open = true;
};

WatchedFd::WatchedFd(IoThread& io, int fd)
    : fd_(fd), watch_(std::make_shared<Watch>(asio::posix::stream_descriptor(io.core().context, fd))) {}

WatchedFd::~WatchedFd() {
  watch_->open = false;
  error_code ignored;
  watch_->descriptor.close(ignored);
}

void WatchedFd::WhenReadable(Executor::Task then) {
  watch_->descriptor.async_wait(asio::posix::descriptor_base::wait_read,
                                [w = watch_, t = std::move(then)](error_code) mutable {
                                  if (w->open) t();
                                });
}

void WatchedFd::WhenWritable(Executor::Task then) {
  watch_->descriptor.async_wait(asio::posix::descriptor_base::wait_write,
                                [w = watch_, t = std::move(then)](error_code) mutable {
                                  if (w->open) t();
                                });
}

std::span<char> Scratch(IoThread& io) { return {io.core().scratch.get(), IoThread::Core::kScratchBytes}; }
std::string& OutScratch(IoThread& io) { return io.core().out_scratch; }

class Lookup {
 public:
  explicit Lookup(IoThread& io) : resolver(io.core().context) {}
  asio::ip::tcp::resolver resolver;
};

namespace {

Result<std::vector<Address>> Addresses(const error_code& error, const asio::ip::tcp::resolver::results_type& found) {
  if (error) return Fail(Code::kUnavailable, error == asio::error::host_not_found ? "no such host" : error.message());
  std::vector<Address> all;
  for (const auto& entry : found) {
    Address a;
    const auto endpoint = entry.endpoint();
    a.family = endpoint.protocol().family();
    a.size = static_cast<std::uint32_t>(endpoint.size());
    std::copy_n(reinterpret_cast<const char*>(endpoint.data()), a.size, a.bytes.begin());
    all.push_back(a);
  }
  return all;
}

}  // namespace

std::shared_ptr<Lookup> LookUp(IoThread& io, const std::string& host, std::uint16_t port,
                               std::move_only_function<void(Result<std::vector<Address>>)> then) {
  auto lookup = std::make_shared<Lookup>(io);
  lookup->resolver.async_resolve(host, std::to_string(port),
                                 [w = std::weak_ptr(lookup), then = std::move(then)](error_code e, auto found) mutable {
                                   if (!w.expired()) then(Addresses(e, found));
                                 });
  return lookup;
}

}  // namespace detail
}  // namespace gpuop::net
