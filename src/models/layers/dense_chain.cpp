#include "models/layers/dense_chain.h"

#include <ATen/Dispatch.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <algorithm>
#include <mutex>
#include <typeinfo>
#include <utility>

#include "autograd/chain_node.h"
#include "autograd/leaf_gradient.h"
#include "autograd/torch_compat.h"
#include "base/error.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/operators/dense_kernels.h"

namespace ddptrain {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

/// Finds the layers of modules, as long as they fit what comes before them.
class DenseLayers {
 public:
  DenseLayers(const at::Tensor& input, const Pass& pass)
      : pass_(pass), type_(input.scalar_type()), width_(input.size(1)) {}

  /// False, and nothing is added, where it has others.
  bool add(Module& module) {
    if (const auto* linear = dynamic_cast<Linear*>(&module)) return add(*linear);
    if (auto* norm = dynamic_cast<BatchNorm*>(&module)) return add(*norm);
    if (const auto* activation = dynamic_cast<Activate*>(&module)) return add(*activation);
    if (const auto* dropout = dynamic_cast<Dropout*>(&module)) return add(*dropout);
    return typeid(module) == typeid(Sequence) && add_chain(static_cast<Sequence&>(module));
  }

  std::vector<DenseStep> take() { return std::move(steps_); }

 private:
  bool add(const Linear& linear) {
    const auto& weight = linear.weight();
    if (weight.size(1) != width_ || weight.scalar_type() != type_) return false;
    width_ = weight.size(0);
    steps_.push_back({.linear = &linear});
    return true;
  }
  bool add(BatchNorm& norm) {
    const auto& mean = norm.running_mean();
    if (mean.size(0) != width_ || mean.scalar_type() != type_ || !norm.uses_own_batch(pass_))
      return false;
    steps_.push_back({.norm = &norm});
    return true;
  }
  bool add(const Activate& activation) {
    if (activation.activation() == Activation::relu) steps_.emplace_back();
    return activation.activation() == Activation::relu ||
           activation.activation() == Activation::none;
  }
  bool add(const Dropout& dropout) {
    if (dropout.p() > 0) steps_.push_back({.dropout = &dropout});
    return true;
  }
  bool add_chain(Sequence& chain) {
    const auto before = steps_.size();
    const auto width = width_;
    for (auto* step : chain.steps())
      if (!add(*step)) {
        steps_.resize(before);
        width_ = width;
        return false;
      }
    return true;
  }

  const Pass& pass_;
  at::ScalarType type_;
  std::int64_t width_;
  std::vector<DenseStep> steps_;
};

template <class T>
dense::Rows<T> rows_of(const at::Tensor& tensor) {
  if constexpr (std::is_const_v<T>)
    return {tensor.const_data_ptr<std::remove_const_t<T>>(), tensor.size(0), tensor.size(1),
            tensor.size(1)};
  else
    return {tensor.mutable_data_ptr<T>(), tensor.size(0), tensor.size(1), tensor.size(1)};
}

/// A view; what LibTorch's does besides takes longer than a small product.
at::Tensor transposed(const at::Tensor& matrix) {
  auto view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(matrix.storage()), matrix.key_set(), matrix.dtype());
  auto* impl = view.unsafeGetTensorImpl();
  impl->set_storage_offset(matrix.storage_offset());
  impl->set_sizes_and_strides(at::IntArrayRef{matrix.size(1), matrix.size(0)},
                              at::IntArrayRef{matrix.stride(1), matrix.stride(0)});
  return view;
}

at::Tensor product(const at::Tensor& left, const at::Tensor& right) {
  const at::AutoDispatchBelowAutograd below;
  return at::mm(left, right);
}

template <class T>
const T* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}

/// The node. Its input is that of the chain; it gives the parameters their gradients itself.
class DenseNode final : public ChainNode {
 public:
  DenseNode(torch::autograd::edge_list&& edges, const at::Tensor& input)
      : ChainNode(std::move(edges)), input_(input, /*is_output=*/false) {}

  std::string name() const override { return "DenseChain"; }
  void release_variables() override {
    const std::lock_guard lock(mutex_);
    input_.reset_data();
    for (auto& layer : layers_) layer.weight.reset_data();
    layers_.clear();
  }

  at::Tensor run(const DenseChain& chain, const at::Tensor& input, const Pass& pass) {
    positions_.assign(pass.positions.begin(), pass.positions.end());
    layers_.reserve(chain.steps.size());
    auto value = input;
    for (const auto& step : chain.steps) value = add(step, value, pass);
    return value;
  }

  variable_list apply(variable_list&& gradients) override {
    const std::lock_guard lock(mutex_);
    RECORD_FUNCTION("ddptrain::dense_chain_backward", std::vector<c10::IValue>{});
    if (!gradients[0].defined()) return variable_list(1);
    DDP_CHECK(!layers_.empty(), "a graph is used once");
    const auto input = input_.unpack();
    Gradient gradient{gradients[0].contiguous()};
    for (auto i = layers_.size(); i-- > 0;) {
      const auto& before = i == 0 ? input : layers_[i - 1].output;
      const bool continues = i > 0 || task_should_compute_output(0);
      AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "dense_chain_backward", [&] {
        backward<scalar_t>(layers_[i], before, continues, gradient);
      });
    }
    if (!task_should_compute_output(0)) return variable_list(1);
    return {gradient.value};
  }

 private:
  enum class Kind { linear, norm, relu, dropout };
  struct Layer {
    Kind kind;
    at::Tensor output;        // of ReLU and dropout the memory of the layer before
    SavedVariable weight{};   // linear, norm
    at::Tensor bias{};        // linear, norm: not read
    at::Tensor statistics{};  // norm: [2, width] doubles, mean and 1 / deviation
    MaskRows masks{};         // dropout
    double p = 0;
  };
  struct Gradient {
    at::Tensor value;
    bool is_own = false;  // not of the node that gave it
    void own() {
      if (!is_own) value = value.clone();
      is_own = true;
    }
  };

  at::Tensor add(const DenseStep& step, const at::Tensor& input, const Pass& pass) {
    if (step.linear) return add_linear(*step.linear, input);
    if (step.norm) return add_norm(*step.norm, input);
    const auto output = layers_.empty() ? at::empty_like(input) : input;
    if (step.dropout) {
      if (layers_.empty()) output.copy_(input);
      auto masks = step.dropout->masks(pass, input.size(0), input.size(1));
      masks.positions = positions_;
      drop_over(output, masks, step.dropout->p());
      layers_.push_back(
          {.kind = Kind::dropout, .output = output, .masks = masks, .p = step.dropout->p()});
      return output;
    }
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "dense_relu", [&] {
      dense::relu(output.mutable_data_ptr<scalar_t>(), input.const_data_ptr<scalar_t>(),
                  input.numel());
    });
    layers_.push_back({.kind = Kind::relu, .output = output});
    return output;
  }

  at::Tensor add_linear(const Linear& linear, const at::Tensor& input) {
    const auto output = product(input, transposed(linear.weight()));
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "dense_linear", [&] {
      dense::add_bias(rows_of<scalar_t>(output), data_or_null<scalar_t>(linear.bias()));
    });
    layers_.push_back({.kind = Kind::linear,
                       .output = output,
                       .weight = SavedVariable(linear.weight(), /*is_output=*/false),
                       .bias = linear.bias()});
    return output;
  }

  at::Tensor add_norm(BatchNorm& norm, const at::Tensor& input) {
    const auto output = at::empty(input.sizes(), input.options());
    const auto statistics = at::empty({2, input.size(1)}, input.options().dtype(at::kDouble));
    const auto terms = norm.count_batch();
    AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "dense_norm", [&] {
      auto* mean = statistics.mutable_data_ptr<double>();
      dense::batch_norm<scalar_t>(
          rows_of<scalar_t>(output), rows_of<const scalar_t>(input),
          {data_or_null<scalar_t>(terms.weight), data_or_null<scalar_t>(terms.bias),
           terms.mean.mutable_data_ptr<scalar_t>(), terms.variance.mutable_data_ptr<scalar_t>(),
           terms.momentum, terms.eps, mean, mean + input.size(1)});
    });
    layers_.push_back({.kind = Kind::norm,
                       .output = output,
                       .weight = SavedVariable(terms.weight, /*is_output=*/false),
                       .bias = terms.bias,
                       .statistics = statistics});
    return output;
  }

  /// `continues`: the gradient of what comes before the layer is wanted.
  template <class T>
  void backward(const Layer& layer, const at::Tensor& before, bool continues, Gradient& gradient) {
    switch (layer.kind) {
      case Kind::linear:
        return linear_backward<T>(layer, before, continues, gradient);
      case Kind::norm:
        return norm_backward<T>(layer, before, gradient);
      case Kind::dropout:
        gradient.own();
        return drop_over(gradient.value, layer.masks, layer.p);
      case Kind::relu:
        gradient.own();
        dense::relu_backward(gradient.value.mutable_data_ptr<T>(), layer.output.const_data_ptr<T>(),
                             gradient.value.numel());
    }
  }

  template <class T>
  void linear_backward(const Layer& layer, const at::Tensor& before, bool continues,
                       Gradient& gradient) {
    const auto weight = layer.weight.unpack();
    if (takes_gradient(layer.bias)) {
      auto sums = at::empty(layer.bias.sizes(), gradient.value.options());
      dense::column_sums(sums.mutable_data_ptr<T>(), rows_of<const T>(gradient.value));
      add_gradient(layer.bias, std::move(sums));
    }
    const auto of_output = gradient.value;
    if (continues) gradient = {product(of_output, weight), true};
    if (takes_gradient(weight)) add_gradient(weight, product(transposed(of_output), before));
  }

  template <class T>
  void norm_backward(const Layer& layer, const at::Tensor& before, Gradient& gradient) {
    const auto weight = layer.weight.unpack();
    const auto room_for = [&](const at::Tensor& parameter) {
      return takes_gradient(parameter) ? at::empty(parameter.sizes(), before.options())
                                       : at::Tensor();
    };
    auto of_weight = room_for(weight), of_bias = room_for(layer.bias);
    const auto data = [](const at::Tensor& room) {
      return room.defined() ? room.mutable_data_ptr<T>() : nullptr;
    };
    gradient.own();
    const auto* mean = layer.statistics.const_data_ptr<double>();
    dense::batch_norm_backward<T>(rows_of<T>(gradient.value), rows_of<const T>(before),
                                  data_or_null<T>(weight), mean, mean + before.size(1),
                                  data(of_weight), data(of_bias));
    if (of_bias.defined()) add_gradient(layer.bias, std::move(of_bias));
    if (of_weight.defined()) add_gradient(weight, std::move(of_weight));
  }

  std::mutex mutex_;
  SavedVariable input_;
  std::vector<Layer> layers_;
  std::vector<std::int64_t> positions_;  // what the masks point to
};

/// Weights and biases, those undefined that a layer lacks.
variable_list parameters_of(const DenseChain& chain) {
  variable_list all;
  for (const auto& step : chain.steps) {
    if (step.linear) all.insert(all.end(), {step.linear->weight(), step.linear->bias()});
    if (step.norm) all.insert(all.end(), {step.norm->weight(), step.norm->bias()});
  }
  return all;
}

}  // namespace

bool is_dense_pass(const at::Tensor& like, std::int64_t rows, const Pass& pass) {
  const auto type = like.scalar_type();
  return pass.training && !pass.recompute && rows > 1 && like.is_cpu() &&
         (type == at::kFloat || type == at::kDouble) && at::GradMode::is_enabled() &&
         c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU);
}

DenseChain dense_chain(std::span<Module* const> steps, const at::Tensor& input, const Pass& pass) {
  if (input.dim() != 2 || !input.is_contiguous() || !is_dense_pass(input, input.size(0), pass))
    return {};
  DenseLayers layers(input, pass);
  DenseChain chain;
  while (chain.modules < steps.size() && layers.add(*steps[chain.modules])) ++chain.modules;
  chain.steps = layers.take();
  const auto parameters = parameters_of(chain);
  if (chain.steps.size() < 2 || !std::ranges::any_of(parameters, takes_gradient) ||
      !std::ranges::all_of(parameters, is_constant_or_takes_gradient))
    return {};
  return chain;
}

at::Tensor run_dense(const DenseChain& chain, const at::Tensor& input, const Pass& pass) {
  RECORD_FUNCTION("ddptrain::dense_chain", std::vector<c10::IValue>{});
  const auto node = make_node<DenseNode>(torch::autograd::collect_next_edges(input), input);
  at::Tensor output;
  {
    const at::AutoDispatchBelowAutograd below;
    output = node->run(chain, input, pass);
  }
  torch::autograd::set_history(output, node);
  return output;
}

}  // namespace ddptrain
