#include "models/tabular/table_features.h"

#include <ATen/Dispatch.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "autograd/chain_node.h"
#include "autograd/leaf_gradient.h"
#include "autograd/torch_compat.h"
#include "models/layers/dense_chain.h"
#include "models/operators/dense_kernels.h"

namespace ddptrain {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

std::int64_t rows_in(const TableInputs& inputs) {
  return inputs.codes.defined() ? inputs.codes.size(0) : inputs.numbers.size(0);
}

bool all_in_range(const at::Tensor& codes, std::span<const at::Tensor> embeddings) {
  const auto* first = codes.const_data_ptr<std::int64_t>();
  const auto rows = codes.size(0), columns = codes.size(1);
  for (std::int64_t c = 0; c < columns; ++c) {
    const auto known = embeddings[static_cast<std::size_t>(c)].size(0);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto code = first[r * columns + c];
      if (code < 0 || code >= known) return false;
    }
  }
  return true;
}

bool fits(const TableInputs& inputs, const Pass& pass) {
  const auto& like = inputs.embeddings.empty() ? inputs.numbers : inputs.embeddings.front();
  if (!is_dense_pass(like, rows_in(inputs), pass)) return false;
  const auto& numbers = inputs.numbers;
  if (numbers.defined() && (numbers.requires_grad() || !numbers.is_contiguous() ||
                            numbers.scalar_type() != like.scalar_type()))
    return false;
  if (inputs.norm && !inputs.norm->uses_own_batch(pass)) return false;
  return !inputs.codes.defined() ||
         (inputs.codes.is_contiguous() && all_in_range(inputs.codes, inputs.embeddings));
}

/// Gives the embeddings and the norm their gradients itself: nothing comes before it.
class TableNode final : public ChainNode {
 public:
  explicit TableNode(const TableInputs& inputs)
      : ChainNode(torch::autograd::edge_list(1)),
        codes_(inputs.codes),
        numbers_(inputs.numbers),
        embeddings_(inputs.embeddings.begin(), inputs.embeddings.end()) {
    for (const auto& embedding : embeddings_) embedded_ += embedding.size(1);
  }

  std::string name() const override { return "TableFeatures"; }
  void release_variables() override { weight_.reset_data(); }

  at::Tensor run(const TableInputs& inputs, const Pass& pass) {
    const auto& like = embeddings_.empty() ? numbers_ : embeddings_.front();
    const auto rows = rows_in(inputs), numbers = numbers_.defined() ? numbers_.size(1) : 0;
    const auto features = at::empty({rows, embedded_ + numbers}, like.options());
    if (!embeddings_.empty()) embed(inputs, pass, features);
    if (numbers > 0) put_numbers(inputs.norm, features);
    return features;
  }

  variable_list apply(variable_list&& gradients) override {
    RECORD_FUNCTION("ddptrain::table_features_backward", std::vector<c10::IValue>{});
    if (!gradients[0].defined()) return variable_list(1);
    const auto gradient = gradients[0].contiguous();
    AT_DISPATCH_FLOATING_TYPES(gradient.scalar_type(), "table_features_backward", [&] {
      if (statistics_.defined()) norm_backward<scalar_t>(gradient);
      if (!embeddings_.empty()) scatter<scalar_t>(gradient);
    });
    return variable_list(1);
  }

 private:
  void embed(const TableInputs& inputs, const Pass& pass, const at::Tensor& features) {
    const bool drops = inputs.dropout && inputs.dropout->p() > 0;
    const auto rows = codes_.size(0);
    if (drops) {
      p_ = inputs.dropout->p();
      masks_ = inputs.dropout->masks(pass, rows, embedded_);
      positions_.assign(pass.positions.begin(), pass.positions.end());
      masks_.positions = positions_;
    }
    AT_DISPATCH_FLOATING_TYPES(features.scalar_type(), "embed", [&] {
      gather<scalar_t>(features);
      if (!drops) return;
      const auto dropped = features.narrow(1, 0, embedded_).contiguous();
      drop_over(dropped, masks_, p_);
      features.narrow(1, 0, embedded_).copy_(dropped);
    });
  }

  template <class T>
  void gather(const at::Tensor& features) const {
    auto* to = features.mutable_data_ptr<T>();
    const auto rows = codes_.size(0), columns = codes_.size(1), stride = features.size(1);
    for (std::size_t i = 0; i < embeddings_.size(); ++i) {
      const auto* code = codes_.const_data_ptr<std::int64_t>() + i;
      const auto* table = embeddings_[i].const_data_ptr<T>();
      const auto width = embeddings_[i].size(1);
      for (std::int64_t r = 0; r < rows; ++r) {
        const T* from = table + code[r * columns] * width;
        for (std::int64_t c = 0; c < width; ++c) to[r * stride + c] = from[c];
      }
      to += width;
    }
  }

  void put_numbers(BatchNorm* norm, const at::Tensor& features) {
    if (norm == nullptr) {
      features.narrow(1, embedded_, numbers_.size(1)).copy_(numbers_);
      return;
    }
    const auto width = numbers_.size(1);
    statistics_ = at::empty({2, width}, numbers_.options().dtype(at::kDouble));
    const auto terms = norm->count_batch();
    weight_ = SavedVariable(terms.weight, /*is_output=*/false);
    bias_ = terms.bias;
    AT_DISPATCH_FLOATING_TYPES(features.scalar_type(), "table_norm", [&] {
      auto* mean = statistics_.mutable_data_ptr<double>();
      dense::batch_norm<scalar_t>(
          numbers_of<scalar_t>(features),
          {numbers_.const_data_ptr<scalar_t>(), numbers_.size(0), width, width},
          {terms.weight.const_data_ptr<scalar_t>(), terms.bias.const_data_ptr<scalar_t>(),
           terms.mean.mutable_data_ptr<scalar_t>(), terms.variance.mutable_data_ptr<scalar_t>(),
           terms.momentum, terms.eps, mean, mean + width});
    });
  }

  /// Where features have the numbers.
  template <class T>
  dense::Rows<T> numbers_of(const at::Tensor& features) const {
    return {features.mutable_data_ptr<T>() + embedded_, features.size(0), numbers_.size(1),
            features.size(1)};
  }

  template <class T>
  void scatter(const at::Tensor& gradient) {
    auto from = gradient;
    if (p_ > 0) {
      from = gradient.narrow(1, 0, embedded_).contiguous();
      drop_over(from, masks_, p_);
    }
    std::int64_t first = 0;
    for (std::size_t i = 0; i < embeddings_.size(); first += embeddings_[i++].size(1)) {
      if (!takes_gradient(embeddings_[i])) continue;
      auto sums = at::empty(embeddings_[i].sizes(), gradient.options());
      auto* to = sums.mutable_data_ptr<T>();
      std::fill_n(to, sums.numel(), T(0));
      scatter_column(i, to, from.const_data_ptr<T>() + first, from.size(1));
      add_gradient(embeddings_[i], std::move(sums));
    }
  }

  template <class T>
  void scatter_column(std::size_t column, T* to, const T* from, std::int64_t stride) const {
    const auto* code = codes_.const_data_ptr<std::int64_t>() + column;
    const auto width = embeddings_[column].size(1), rows = codes_.size(0), columns = codes_.size(1);
    for (std::int64_t r = 0; r < rows; ++r) {
      T* row = to + code[r * columns] * width;
      for (std::int64_t c = 0; c < width; ++c) row[c] += from[r * stride + c];
    }
  }

  template <class T>
  void norm_backward(const at::Tensor& gradient) {
    const auto weight = weight_.unpack();
    const auto width = numbers_.size(1);
    auto of_weight = at::empty({width}, numbers_.options());
    auto of_bias = at::empty({width}, numbers_.options());
    const auto rows = gradient.size(0), stride = gradient.size(1);
    const auto* from = gradient.const_data_ptr<T>() + embedded_;
    std::vector<T> own(static_cast<std::size_t>(rows * width));  // it becomes that of the numbers
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(from + r * stride, width, own.data() + r * width);
    const auto* mean = statistics_.const_data_ptr<double>();
    dense::batch_norm_backward<T>({own.data(), rows, width, width},
                                  {numbers_.const_data_ptr<T>(), rows, width, width},
                                  weight.const_data_ptr<T>(), mean, mean + width,
                                  of_weight.mutable_data_ptr<T>(), of_bias.mutable_data_ptr<T>());
    if (takes_gradient(bias_)) add_gradient(bias_, std::move(of_bias));
    if (takes_gradient(weight)) add_gradient(weight, std::move(of_weight));
  }

  at::Tensor codes_, numbers_;
  std::vector<at::Tensor> embeddings_;  // the backward pass does not read them
  std::int64_t embedded_ = 0;           // all their widths
  SavedVariable weight_;                // of the norm
  at::Tensor bias_;                     // of the norm
  at::Tensor statistics_;               // [2, columns] doubles: mean, 1 / deviation
  MaskRows masks_;
  double p_ = 0;
  std::vector<std::int64_t> positions_;  // what the masks point to
};

}  // namespace

at::Tensor table_features(const TableInputs& inputs, const Pass& pass) {
  if (!fits(inputs, pass)) return {};
  RECORD_FUNCTION("ddptrain::table_features", std::vector<c10::IValue>{});
  variable_list parameters(inputs.embeddings.begin(), inputs.embeddings.end());
  if (inputs.norm)
    parameters.insert(parameters.end(), {inputs.norm->weight(), inputs.norm->bias()});
  if (!std::ranges::any_of(parameters, takes_gradient) ||
      !std::ranges::all_of(parameters, is_constant_or_takes_gradient))
    return {};
  const auto node = make_node<TableNode>(inputs);
  at::Tensor features;
  {
    const at::AutoDispatchBelowAutograd below;
    features = node->run(inputs, pass);
  }
  torch::autograd::set_history(features, node);
  return features;
}

}  // namespace ddptrain
