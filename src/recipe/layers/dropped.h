// What a change of type took away, as problems.
#pragma once

#include <vector>

#include "config/catalog.h"
#include "config/problem.h"
#include "recipe/layers/merge.h"

namespace ddptrain {

/// A warning for each option that a layer wrote, that fell away with its component's type, and that
/// no stronger layer set again. `tree` is the layered recipe. Values that were the default of the
/// old type, and would be of the new one, are no loss.
Problems warn_of_dropped(const std::vector<Dropped>& dropped, const Node& tree,
                         const Catalogs& catalogs);

}  // namespace ddptrain
