#include "recipe/merge.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ddptrain {
namespace {

constexpr std::array<std::string_view, 5> kComponents{"model", "data", "loss", "optimizer",
                                                      "schedule"};

bool changes_type(const Node& weaker, const Node& stronger) {
  const auto* before = weaker.find("type");
  const auto* after = stronger.find("type");
  return before && after && before->text != after->text;
}

bool is_component(std::string_view key) {
  return std::find(kComponents.begin(), kComponents.end(), key) != kComponents.end();
}

Node spelled_out(const Node& word) { return Node::map({{"type", word.place, word}}, word.place); }

void merge_maps(Node& weaker, Node stronger, bool top) {
  if (changes_type(weaker, stronger)) {
    weaker = std::move(stronger);
    return;
  }
  for (auto& member : stronger.members) {
    auto* below = weaker.find(member.key);
    if (!below) {
      weaker.members.push_back(std::move(member));
      continue;
    }
    const bool options_of_a_word = top && below->is_scalar() && member.value.is_map() &&
                                   is_component(member.key) && !member.value.find("type");
    if (options_of_a_word) *below = spelled_out(*below);
    if (below->is_map() && member.value.is_map())
      merge_maps(*below, std::move(member.value), false);
    else
      *below = std::move(member.value);
  }
  if (weaker.place.file != stronger.place.file) weaker.place = stronger.place;
}

}  // namespace

void merge(Node& weaker, Node stronger) {
  if (weaker.is_map() && stronger.is_map())
    merge_maps(weaker, std::move(stronger), true);
  else
    weaker = std::move(stronger);
}

}  // namespace ddptrain
