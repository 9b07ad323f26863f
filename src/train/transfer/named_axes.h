// Which dimensions of a model's tensors count outputs, or what a row of a table becomes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

class Model;
struct EntryBase;

/// Layers whose rows are the model's outputs, names without their dots: those of the trait
/// `outputs`, or the last that has parameters, and where that is a norm, the one before it.
std::vector<std::string> output_layers(Model& model, const EntryBase& entry);

/// A dimension of a tensor that counts the features of columns of names, in their order, and then
/// the columns of numbers; or these alone.
struct FeatureAxis {
  std::string tensor;  // its name in state()
  std::int64_t dim = 0;
  bool numbers_alone = false;
};

/// How many there are.
struct FeatureCounts {
  std::int64_t all = 0;
  std::int64_t numbers = 0;
};

/// By the trait `features`, which names the first layers of a table's row, a norm of its numbers
/// alone, and a linear layer next to all others. Of the first all up to the linear one have a place
/// for each feature.
std::vector<FeatureAxis> feature_axes(const Model& model, const EntryBase& entry,
                                      const FeatureCounts& counts);

}  // namespace ddptrain
