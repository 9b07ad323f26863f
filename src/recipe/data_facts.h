// What a model must know of the data: found by a dataset, read by models. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

struct DataFacts {
  std::vector<std::string> classes;  // names in order of their label; empty: not a classification
  std::vector<std::int64_t> sample;  // shape of one input, {3, 128, 128}; empty when it varies
  std::vector<std::int64_t> cardinalities;  // how many values each column of whole numbers can
                                            // take; of a text: the size of its vocabulary
  std::int64_t padding = -1;                // the number that fills up short rows; -1: none are

  std::int64_t class_count() const { return static_cast<std::int64_t>(classes.size()); }
};

}  // namespace ddptrain
