// Time of an operator without the operators within it.
#include "train/profile/operator_times.h"

#include <gmock/gmock.h>

namespace ddptrain {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<OperatorTime>& operators) {
  std::vector<std::string> all;
  for (const auto& each : operators)
    all.push_back(each.name + " " + std::to_string(each.calls) + " " + std::to_string(each.self));
  return all;
}

TEST(OperatorTimes, AreWithoutTheOperatorsWithin) {
  const std::vector<TracedEvent> events{
      {"copy", 1, 30, 35}, {"linear", 1, 0, 100}, {"addmm", 1, 10, 80}, {"copy", 1, 85, 95}};
  EXPECT_THAT(texts(slowest(events, 9)), ElementsAre("addmm 1 65", "linear 1 20", "copy 2 15"));
}

TEST(OperatorTimes, OfThreadsDoNotNest) {
  const std::vector<TracedEvent> events{{"forward", 1, 0, 100}, {"backward", 2, 10, 50}};
  EXPECT_THAT(texts(slowest(events, 9)), ElementsAre("forward 1 100", "backward 1 40"));
}

TEST(OperatorTimes, ThatBeginTogetherNestTheShorterInTheLonger) {
  const std::vector<TracedEvent> events{{"inner", 1, 0, 40}, {"outer", 1, 0, 100}};
  EXPECT_THAT(texts(slowest(events, 1)), ElementsAre("outer 1 60"));
}

TEST(OperatorTimes, AreLinesWithTheirShare) {
  EXPECT_THAT(to_lines({{"aten::mm", 3, 1'500'000}}, 6'000'000),
              ElementsAre("operator  calls  self ms   share", "aten::mm      3    1.500  25.0 %"));
}

}  // namespace
}  // namespace ddptrain
