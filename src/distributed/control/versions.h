// Whether the members of a group have the same text, and who has which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

class Group;

/// Whether all members have the same text: digests of 64 bits go up a binomial tree, in which ranks
/// of a node meet first, and the answer comes down another. A member sends one message and receives
/// at most log2(members). To be called by all.
bool all_equal(Group& group, std::string_view text);

/// A text, and the members that have it, ascending.
struct Version {
  std::string text;
  std::vector<int> ranks;
};

/// The first of them, eight at most, by their lowest rank. To be called by all where all_equal() is
/// false: a digest of each member goes to all, and of the texts one for each version.
std::vector<Version> versions_of(Group& group, const std::string& text);

}  // namespace ddptrain
