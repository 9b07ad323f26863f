// A checkpoint's model with the data that it reads: one member of those that `predict` asks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/loader/bad_samples.h"
#include "jobs/predict/prediction_input.h"
#include "jobs/saved_model.h"
#include "train/training_plan.h"

namespace ddptrain {

class Engine;
class Loader;

struct PredictorJob {
  Recipe recipe;  // resolved
  std::string checkpoint;
};

class Predictor {
 public:
  /// Loads the checkpoint. The world outlives it.
  Predictor(const PredictorJob& job, const Placement& placement, World& world);
  ~Predictor();

  const Recipe& recipe() const { return recipe_; }
  const SavedData& saved() const { return saved_.data; }
  const Loss& loss() const { return *loss_; }
  std::vector<PredictionInput> inputs(const std::vector<std::string>& paths,
                                      const std::string& stdin_file) const;

  /// Begins to load this rank's batches of `rows` samples: whole batches dealt to ranks
  /// round-robin, in order. Builds the model at the first call.
  void start(std::shared_ptr<const SkippingDataset> data, std::int64_t rows);
  /// Batches of this rank.
  std::int64_t batches() const { return batches_; }
  /// The next batch, and what the model makes of it: of the plain pass, or of all that eval.tta
  /// asks for. On the CPU.
  Batch next(at::Tensor& output);

 private:
  void build(const Dataset& data);

  Placement placement_;
  World& world_;
  SavedModel saved_;  // weights until the model is built
  Recipe recipe_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<const SkippingDataset> data_;
  std::unique_ptr<Loader> loader_;
  std::int64_t batches_ = 0;
};

}  // namespace ddptrain
