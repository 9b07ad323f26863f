#include "train/build/weights_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

namespace ddptrain {
namespace {

/// The code and message that work for weights ends with.
std::pair<Exit, std::string> ended(void (*work)()) {
  try {
    with_weights([&] { work(); });
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& other) {
    return {Exit::bug, other.what()};
  }
  return {Exit::done, ""};
}

TEST(WithWeights, BlamesNoBatchWhereMemoryEnds) {
  for (const auto& [code, message] :
       {ended([] { throw std::bad_alloc(); }),
        ended([] { throw std::runtime_error("DefaultCPUAllocator: can't allocate memory"); })}) {
    EXPECT_EQ(code, Exit::memory);
    EXPECT_EQ(
        message,
        "out of memory for the model's weights, which need as much whatever the batch is; "
        "'ddptrain plan' says how much: take a smaller model, or fewer ranks on this machine");
  }
}

TEST(WithWeights, LeavesOtherErrorsAsTheyAre) {
  EXPECT_EQ(ended([] { throw Error(Exit::data, "no file"); }),
            std::pair(Exit::data, std::string("no file")));
  EXPECT_EQ(ended([] { throw std::runtime_error("a bug"); }),
            std::pair(Exit::bug, std::string("a bug")));
}

}  // namespace
}  // namespace ddptrain
