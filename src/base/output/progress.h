// Signs of life from work that has no steps: reading, unpacking, converting data.
#pragma once

#include <functional>

namespace ddptrain {

/// Work that may take long calls it once for each of its pieces (a file, a thousand rows), on any
/// thread. Costs next to nothing without a listener.
void progress();

/// While it lives, progress() calls `tell`, then what was called before. Listeners end in the
/// reverse order, after the threads that call progress().
class ProgressListener {
 public:
  explicit ProgressListener(std::function<void()> tell);
  ~ProgressListener();
  ProgressListener(const ProgressListener&) = delete;
  ProgressListener& operator=(const ProgressListener&) = delete;

 private:
  std::function<void()> tell_;
  const ProgressListener* before_;
  friend void progress();
};

}  // namespace ddptrain
