#include "base/output/progress.h"

#include <atomic>
#include <utility>

namespace ddptrain {
namespace {

// Pieces of work are deep below the code that reports them: this is all that they share.
std::atomic<const ProgressListener*> progress_listener{nullptr};

}  // namespace

void progress() {
  const auto* listener = progress_listener.load(std::memory_order_acquire);
  for (; listener; listener = listener->before_)
    if (listener->tell_) listener->tell_();
}

ProgressListener::ProgressListener(std::function<void()> tell)
    : tell_(std::move(tell)), before_(progress_listener.load()) {
  progress_listener.store(this, std::memory_order_release);
}

ProgressListener::~ProgressListener() { progress_listener.store(before_); }

}  // namespace ddptrain
