#include "machine/cuda/driver/queue.h"

#include <utility>

namespace gpuop::machine::cuda {

Queue::Queue() : thread_([this] { Work(); }) {}

Queue::~Queue() {
  {
    Lock lock(mu_);
    over_ = true;
  }
  more_.notify_all();
}

Queue::Ticket Queue::Push(Task task) {
  Lock lock(mu_);
  waiting_.push_back(std::move(task));
  more_.notify_one();
  return ++given_;
}

void Queue::Wait(Ticket ticket) {
  Lock lock(mu_);
  less_.wait(mu_, [&]() REQUIRES(mu_) { return done_ >= ticket; });
}

bool Queue::Done(Ticket ticket) const {
  Lock lock(mu_);
  return done_ >= ticket;
}

Queue::Ticket Queue::last() const {
  Lock lock(mu_);
  return given_;
}

void Queue::Work() {
  while (true) {
    Task task;
    {
      Lock lock(mu_);
      more_.wait(mu_, [&]() REQUIRES(mu_) { return !waiting_.empty() || over_; });
      if (waiting_.empty()) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
    task = {};
    Lock lock(mu_);
    ++done_;
    less_.notify_all();
  }
}

}  // namespace gpuop::machine::cuda
