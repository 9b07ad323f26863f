// fastai.tabular.model.TabularModel: embeddings of categories next to normalized numbers, then
// linear layers.
#pragma once

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/model.h"

namespace ddptrain {

class Linear;

/// fastai's tabular_config, and outputs that begin as a straight line in the units of the targets.
/// Empty `embedding_sizes` take fastai's rule; empty `ps` drop nothing.
struct TabularSettings {
  std::vector<std::int64_t> layers{200, 100};
  std::vector<std::int64_t> embedding_sizes{};
  std::vector<double> ps{};
  double embed_p = 0;
  std::vector<double> y_range{};
  std::vector<double> y_scale{};
  bool linear_skip = false;
  bool use_bn = true;
  bool bn_final = false;
  bool bn_cont = true;
  bool lin_first = true;
  Activation activation = Activation::relu;
  void fields(Fields& f);
};

/// Codes [rows, columns of names] and numbers [rows, columns of numbers] to [rows, outputs].
class TabularNetwork final : public Model {
 public:
  /// Errors (Exit::recipe): data that are no table; another number of embedding_sizes than columns
  /// of names.
  TabularNetwork(const TabularSettings& settings, std::int64_t outputs,
                 const ModelContext& context);

  at::Tensor run(const std::vector<at::Tensor>& inputs, const Pass& pass) override;
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  class Embeddings;

  at::Tensor features_of(const std::vector<at::Tensor>& inputs, const Pass& pass);

  std::size_t categories_;
  std::int64_t numbers_;
  Embeddings* embeds_ = nullptr;
  Dropout* emb_drop_ = nullptr;
  BatchNorm* bn_cont_ = nullptr;
  Sequence* layers_ = nullptr;
  Linear* skip_ = nullptr;       // from the inputs to the outputs
  std::vector<double> y_scale_;  // mean and deviation, or none
};

}  // namespace ddptrain
