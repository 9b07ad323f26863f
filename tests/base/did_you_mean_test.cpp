#include "base/did_you_mean.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(DidYouMean, NamesWhatIsNear) {
  EXPECT_EQ(did_you_mean("sgd"), "; did you mean 'sgd'?");
  EXPECT_EQ(did_you_mean("sgd", "; see the list"), "; did you mean 'sgd'?");
  EXPECT_EQ(did_you_mean(std::vector<std::string>{"a", "b", "c"}),
            "; did you mean 'a', 'b' or 'c'?");
}

TEST(DidYouMean, SaysWhatElseToDoWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean(std::string(), "; see the list"), "; see the list");
  EXPECT_EQ(did_you_mean(std::vector<std::string>{}, "; see the list"), "; see the list");
  EXPECT_EQ(did_you_mean(std::string()), "");
}

}  // namespace
}  // namespace ddptrain
