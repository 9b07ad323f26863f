// A split that is scored in addition to the validation split.
#pragma once

#include <memory>
#include <string>

namespace ddptrain {

class Dataset;
class Loader;

/// Samples that are scored in addition to data.valid: of eval.splits, or eval.test as "test". Its
/// validation split counts.
struct ScoredSplit {
  std::string name;
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Loader> loader;
};

}  // namespace ddptrain
