// One copy of the model on one device, and what a training pass does with it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "distributed/cast_weights.h"
#include "distributed/window_numbers.h"

namespace ddptrain {

/// The model on the device, with the type and the layout of its parameters.
std::unique_ptr<Model> placed(std::unique_ptr<Model> model, const Numerics& numerics,
                              at::Device device);

class Replica {
 public:
  /// Of a model that is placed. `carried` outlives it.
  Replica(std::unique_ptr<Model> model, const EngineOptions& options, at::Device device,
          RowStates& carried);

  Model& model() { return *model_; }
  /// The parameters that train, in order, a shared one once.
  std::vector<NamedTensor> trained() const;
  /// All parameters in order, a shared one once.
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  const std::vector<at::Tensor>& buffers() const { return buffers_; }
  /// Parameters and buffers.
  std::vector<at::Tensor> state() const;
  /// Rank 0's buffers to all.
  void broadcast_buffers(Group& group) const;
  /// What runs the model's blocks from now on, whose weights come in a type of its choice; outlives
  /// it.
  void set_blocks(Blocks* blocks) {
    blocks_ = blocks;
    cast_weights_.reset();
  }
  /// The bytes of all buffers in one tensor, where buffers lie; undefined where the model has none
  /// or some of them have been moved since.
  at::Tensor flat_buffers() const;

  /// Forgets gradients and sums.
  void begin();
  /// Forward, loss and backward: gradients of (sum(loss values) + sum(the model's penalties)) *
  /// loss_scale / nominal are added up.
  void train(const Batch& batch, const Loss& loss, const MicroStep& at, Statistics* statistics);
  /// Since begin(), doubles on the device: kLossSum, kWeight and kPenalty (window_numbers.h).
  const at::Tensor& sums() const { return sums_; }
  std::vector<at::Tensor> gradients() const;  // the defined ones
  /// Gradients and sums as they are, and as they were again.
  PassResults results() const;
  void restore(const PassResults& results);

  /// Without gradients.
  at::Tensor forward(const Batch& batch, const Pass& pass);

 private:
  /// A batch where and as the model and the loss want it.
  struct Moved {
    std::vector<at::Tensor> inputs, targets;
  };
  std::vector<at::Tensor> inputs_of(const Batch& batch) const;
  std::vector<at::Tensor> targets_of(const Batch& batch) const;
  Moved moved(const Batch& batch) const;
  /// In the parameters' type.
  at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass);
  void copy_weights();
  void pass(const Batch& batch, const Loss& loss, const MicroStep& at, Statistics* statistics);
  Pass training_pass(const Batch& batch, const MicroStep& at, Statistics* statistics) const;
  /// Terms of the outputs, or of the hidden states that the model's projection makes outputs of.
  LossTerms terms_of(const Loss& loss, const at::Tensor& output,
                     const std::vector<at::Tensor>& targets) const;
  /// What is back-propagated, each element with the same gradient; needs none where there is
  /// nothing to learn.
  at::Tensor loss_sum(const Batch& batch, const Loss& loss, const MicroStep& at,
                      Statistics* statistics);
  void flatten_buffers();
  /// Of each element of what is back-propagated, in its sizes.
  at::Tensor loss_gradient(const MicroStep& at, const at::Tensor& output);
  /// Adds the sum of all elements, in double, to one of the sums.
  void add_to(WindowNumber number, const at::Tensor& elements);
  /// Where memory ends in it on a device, the error has its name.
  template <class Body>
  auto named(const char* phase, const Body& body) const;

  Numerics numerics_;
  bool recompute_;
  Blocks* blocks_ = nullptr;
  at::Device device_;
  RowStates& carried_;
  std::unique_ptr<Model> model_;
  std::vector<NamedTensor> parameters_;
  std::optional<CastWeights> cast_weights_;  // none: autocast casts them, or nothing does
  std::vector<at::Tensor> buffers_;
  at::Tensor flat_buffers_;
  // On the device: read without synchronization.
  at::Tensor sums_;
  struct {
    double number = 0;
    at::Tensor tensor;
  } loss_gradient_;  // the last one on the host
};

/// Names and sizes of parameters, in a few words: ranks that say the same have the same model.
std::string layout_of(const std::vector<NamedTensor>& parameters);

}  // namespace ddptrain
