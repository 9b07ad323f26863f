#include "distributed/control/rank_list.h"

#include <fmt/format.h>

#include "base/text.h"

namespace ddptrain {

std::string rank_list(const std::vector<int>& ranks, std::size_t most) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < ranks.size();) {
    auto last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last >= first + 2) {
      parts.push_back(fmt::format("{}-{}", ranks[first], ranks[last]));
      first = last + 1;
    } else {
      parts.push_back(std::to_string(ranks[first++]));
    }
  }
  if (parts.size() > most) {
    parts.resize(most);
    parts.emplace_back("...");
  }
  return join(parts, ", ");
}

}  // namespace ddptrain
