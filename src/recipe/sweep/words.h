// Values of a sweep on the command line: `optimizer.lr=1e-4,1e-3`, `model.dropout=0..0.5`,
// `optimizer.lr=log:1e-5..1e-1`.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// Words that list values or give a range become entries of `sweep.keys`; others stay as they are,
/// and all keep their order. A list in brackets is one value: `model.hidden=[64],[64, 32]` tries
/// two. An Error (Exit::recipe) where nothing stands between two commas.
std::vector<std::string> with_sweep_keys(std::vector<std::string> overrides);

}  // namespace ddptrain
