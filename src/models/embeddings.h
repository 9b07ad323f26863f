// Which tensors of a model have a row for each value of a column: the trait `embeds`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/catalog.h"

namespace ddptrain {

/// Whether all columns are embedded alike, so that they may stand in any order; otherwise each
/// place has a meaning of its own, such as users and items.
inline bool embeds_in_any_order(const EntryBase& model) {
  const auto trait = trait_argument(model, "embeds");
  return trait && trait->find('*') != std::string::npos;
}

/// State names of the tensors of the column at `place` (DataFacts::cardinalities; of a text 0),
/// whose first rows are the column's. Empty where the model embeds no such column.
inline std::vector<std::string> embedding_names(const EntryBase& model, std::size_t place) {
  const auto trait = trait_argument(model, "embeds");
  if (!trait) return {};
  if (embeds_in_any_order(model)) {
    auto name = *trait;
    return {name.replace(name.find('*'), 1, std::to_string(place))};
  }
  const auto columns = split(*trait, ' ');
  return place < columns.size() ? split(columns[place], '+') : std::vector<std::string>();
}

}  // namespace ddptrain
