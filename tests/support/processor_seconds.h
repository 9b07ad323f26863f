// How a test compares the cost of work that grows, on a machine that does other things too.
#pragma once

#include <time.h>

#include <algorithm>
#include <limits>

namespace ddptrain {

/// Seconds of processor of this thread, the least of three runs of `work`: what else a machine does
/// makes work slower, never faster.
template <typename Work>
double processor_seconds(const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    timespec before{}, after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    work();
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    best = std::min(best, static_cast<double>(after.tv_sec - before.tv_sec) +
                              1e-9 * static_cast<double>(after.tv_nsec - before.tv_nsec));
  }
  return best;
}

}  // namespace ddptrain
