// The environment of programs on machines that this one is not: with simulated devices, or with a
// driver that is a fake.
#pragma once

#include <cstdlib>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {

using Variables = std::map<std::string, std::string>;

/// Those of tests, and more.
inline Variables with(Variables more) {
  auto all = environment();
  more.merge(all);
  return more;
}

/// Two devices, unless `more` says otherwise (DDPTRAIN_SIMULATED_COUNT).
inline Variables simulating(const Variables& more = {}) {
  auto all = with(more);
  all.emplace("DDPTRAIN_SIMULATED_DEVICE", test::build_folder() + "/libddptrain_simulated.so");
  return all;
}

/// A driver that shows a GPU, and no GPU behind it.
inline Variables with_fake_gpu(const Variables& more = {}) {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  auto all = with(more);
  all.insert({{"LD_LIBRARY_PATH", test::build_folder() + "/fake_driver/nvidia_ml" +
                                      (path ? ":" + std::string(path) : "")},
              {"FAKE_GPUS", "1"}});
  return all;
}

}  // namespace ddptrain::end_to_end
