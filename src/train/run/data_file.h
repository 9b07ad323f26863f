// data.json of a run folder: how many samples each split has, and of which classes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace ddptrain {

/// {"classes": [names], "splits": [{"name": "train", "samples": 60, "counts": [30, 30]}, ...]}. A
/// sample with several labels counts for each; there are no counts where samples have no classes.
/// `others` are scored too, such as eval.test: their validation splits follow under their names.
using NamedData = std::pair<std::string, const Dataset*>;
std::string data_json(const Dataset& data, const std::vector<NamedData>& others = {});

/// A warning says why where the file cannot be written.
void write_data_file(const Dataset& data, const std::vector<NamedData>& others,
                     const std::string& folder);

}  // namespace ddptrain
