#include "optim/state_chunks.h"

#include <gmock/gmock.h>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using Parts = std::vector<ChunkPart>;

/// Two tensors of floats, as Adam keeps.
ChunkMember pair_of_floats(std::int64_t elements, bool divisible = true) {
  return {elements, {4 * elements, 4 * elements}, divisible};
}

TEST(StateChunks, HaveAsManyParametersAsFit) {
  const std::vector<ChunkMember> members{pair_of_floats(64), pair_of_floats(64),
                                         pair_of_floats(64)};
  EXPECT_THAT(cut_into_chunks(members, 1024),
              ElementsAre(Parts{{0, 0, 64}, {1, 0, 64}}, Parts{{2, 0, 64}}));
}

TEST(StateChunks, BeginInParametersAtMultiplesOf256Elements) {
  EXPECT_THAT(cut_into_chunks({pair_of_floats(1000)}, 8 * 600),
              ElementsAre(Parts{{0, 0, 512}}, Parts{{0, 512, 488}}));
  EXPECT_THAT(cut_into_chunks({pair_of_floats(1000)}, 1),
              ElementsAre(Parts{{0, 0, 256}}, Parts{{0, 256, 256}}, Parts{{0, 512, 256}},
                          Parts{{0, 768, 232}}));
}

TEST(StateChunks, DivideNoParameterThatIsLookedAtAsAWhole) {
  const std::vector<ChunkMember> members{pair_of_floats(64, false), pair_of_floats(1000, false),
                                         pair_of_floats(64, false)};
  EXPECT_THAT(cut_into_chunks(members, 1024),
              ElementsAre(Parts{{0, 0, 64}}, Parts{{1, 0, 1000}}, Parts{{2, 0, 64}}));
}

// Of a rank that has no element of a parameter, and of optimizers without state.
TEST(StateChunks, HaveParametersWithoutBytesToo) {
  EXPECT_THAT(cut_into_chunks({pair_of_floats(0), {5, {}, true}}, 1024),
              ElementsAre(Parts{{0, 0, 0}, {1, 0, 5}}));
  EXPECT_THAT(cut_into_chunks({}, 1024), ElementsAre());
}

// Every element once, and within the limit where all can be divided.
TEST(StateChunks, AreOfAllElementsAndWithinTheLimit) {
  const std::vector<ChunkMember> members{
      pair_of_floats(3), pair_of_floats(5000), {700, {1400}, true}, pair_of_floats(1)};
  for (const std::int64_t limit : {2048, 5000, 16384, 1 << 20}) {
    std::vector<std::int64_t> found(members.size());
    for (const auto& chunk : cut_into_chunks(members, limit)) {
      std::int64_t bytes = 0;
      for (const auto& part : chunk) {
        EXPECT_EQ(part.first, found[part.member]);
        found[part.member] += part.elements;
        bytes += members[part.member].bytes_of(part.elements);
      }
      EXPECT_LE(bytes, limit);
    }
    for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(found[i], members[i].elements);
  }
}

}  // namespace
}  // namespace ddptrain
