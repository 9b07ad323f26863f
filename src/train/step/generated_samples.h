// What weights generate at an evaluation for people to judge, next to the scores.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "runs/generated_text.h"

namespace ddptrain {

struct Training;

/// Generates in rounds, so that ranks agree on signals meanwhile. Must leave the run as it is:
/// weights, random numbers, what streams carry. begin() to end() are called on rank 0 alone.
class SampleGenerator {
 public:
  virtual ~SampleGenerator() = default;
  /// The most rounds that it takes, the same on every rank. The model continues its texts once in a
  /// round at most, with Engine::continuation_blocks().
  virtual std::size_t rounds() const = 0;
  /// With the weights that the model has now.
  virtual void begin() = 0;
  virtual void round() = 0;
  /// Whether all texts have ended: further rounds would do nothing.
  virtual bool is_done() const = 0;
  /// What there is; after an error, which is a warning, nothing.
  virtual GeneratedTexts end() = 0;
};

/// What the weights that an evaluation scores generate: the model's own and, where there is one,
/// their average. Empty on other ranks than rank 0, which wait. Nothing where all ranks left early:
/// `asked` was true on one, as in evaluate_unless (train/step/evaluate.h). `alive` is called in
/// each round.
std::optional<GeneratedTexts> generate_samples(Training& training, SampleGenerator& generator,
                                               const std::function<bool()>& asked,
                                               const std::function<void()>& alive);

}  // namespace ddptrain
