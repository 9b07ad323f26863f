// How many samples each split of the data has, and of which classes, for the run folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "runs/data_json.h"

namespace ddptrain {

/// Samples that are scored too, such as eval.test: their validation split, under this name.
using NamedData = std::pair<std::string, const Dataset*>;

DataCounts counts_of(const Dataset& data, const std::vector<NamedData>& others = {});

/// A warning says why where data.json cannot be written.
void write_data_file(const Dataset& data, const std::vector<NamedData>& others,
                     const std::string& folder);

}  // namespace ddptrain
