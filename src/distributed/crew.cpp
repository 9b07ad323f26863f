#include "distributed/crew.h"

#include <ATen/Parallel.h>

namespace ddptrain {

Crew::Crew(int size, int threads_each, std::function<void(const std::string&)> failed)
    : failed_(std::move(failed)) {
  // The number of compute threads belongs to the thread that sets it, and is the default of those
  // that are born later: each member sets its own, and the caller's is put back.
  const int own = at::get_num_threads();
  for (int i = 0; i < size; ++i)
    threads_.emplace_back([this, i, threads_each] { live(i, threads_each); });
  run([](int) {});
  at::set_num_threads(own);
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Crew::run(const std::function<void(int)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  first_ = nullptr;
  busy_ = static_cast<int>(threads_.size());
  ++round_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return busy_ == 0; });
  if (first_) std::rethrow_exception(first_);
}

void Crew::live(int number, int threads) {
  at::set_num_threads(threads);
  for (std::uint64_t done = 0;; ++done) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return round_ > done || ending_; });
    if (ending_) return;
    lock.unlock();
    attempt(number);
    lock.lock();
    if (--busy_ == 0) changed_.notify_all();
  }
}

void Crew::attempt(int number) {
  std::string message;
  try {
    (*work_)(number);
    return;
  } catch (const std::exception& error) {
    message = error.what();
    const std::lock_guard lock(mutex_);
    if (first_) return;
    first_ = std::current_exception();
  }
  failed_(message);
}

}  // namespace ddptrain
