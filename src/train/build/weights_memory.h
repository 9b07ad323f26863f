// Where memory ends before a batch was seen.
#pragma once

#include <exception>

#include "base/error.h"

namespace ddptrain {

/// Throws the exception under way on, as an Error (Exit::memory) that blames no batch where it says
/// that memory ended. Errors of ours are thrown on as they are.
[[noreturn]] void rethrow_of_weights();

/// Does work that needs memory for weights alone: to make, load or copy them.
template <class Work>
auto with_weights(Work work) {
  try {
    return work();
  } catch (...) {
    rethrow_of_weights();
  }
}

}  // namespace ddptrain
