#include "train/build/weights_memory.h"

#include "launch/failure.h"

namespace ddptrain {

void rethrow_of_weights() {
  const auto error = std::current_exception();
  try {
    std::rethrow_exception(error);
  } catch (const Error&) {
    throw;
  } catch (...) {
    if (failure_of(error, 0).code != Exit::memory) throw;
  }
  throw Error(
      Exit::memory,
      "out of memory for the model's weights, which need as much whatever the batch is; "
      "'ddptrain plan' says how much: take a smaller model, or fewer ranks on this machine");
}

}  // namespace ddptrain
