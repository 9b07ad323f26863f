// Ranks in messages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddptrain {

/// "0, 2", "0-7, 9": of ascending numbers, three or more that follow each other as a range. Of more
/// than `most` parts the rest is "...".
std::string rank_list(const std::vector<int>& ranks, std::size_t most = 8);

}  // namespace ddptrain
