// What a model must know of the data: found by a dataset, read by models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddptrain {

/// Targets that give each pixel a class: int64 [N, H, W], a class or `void_code`.
struct MaskFacts {
  std::int64_t classes = 0;               // their names are DataFacts::classes
  std::optional<std::int64_t> void_code;  // of pixels that are neither trained nor scored
};

/// Targets that give each token the one that follows it: int64 [N, time], -100 where none is
/// learned.
struct TokenFacts {
  std::vector<std::int32_t> bytes;  // of text that each token of the vocabulary stands for; 0 for
                                    // special ones
  bool streams = false;             // rows continue those of the batch before (Pass::carried)
  bool documents = false;           // inputs[1] has the position of each token in its document
  std::int64_t valid_streams = 0;   // of the validation split, a multiple of the rows of a batch
};

/// At most one of `several_labels`, `mask`, `tokens`, `points` and `numbers` is there; none where a
/// target is one class of a sample.
struct DataFacts {
  std::vector<std::string> classes;  // names in order of their label; empty: not a classification
  std::vector<std::int64_t> sample;  // shape of one input, {3, 128, 128}; empty when it varies
  std::vector<std::int64_t> cardinalities;  // how many values each column of whole numbers can
                                            // take; of a text: the size of its vocabulary
  std::int64_t padding = -1;                // the number that fills up short rows; -1: none are

  bool several_labels = false;  // float [N, classes] of zeros and ones: any number a sample
  std::optional<MaskFacts> mask;
  std::int64_t points = 0;  // of a sample: float [N, points, 2], x and y from -1 to 1; NaN: missing
  std::optional<TokenFacts> tokens;  // the vocabulary's size is cardinalities[0]
  std::int64_t numbers = 0;  // of a sample: float [N], or of several [N, numbers]; NaN: missing

  std::int64_t class_count() const { return static_cast<std::int64_t>(classes.size()); }
};

}  // namespace ddptrain
