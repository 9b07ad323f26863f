#include "distributed/replica.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

#include "autograd/back_propagate.h"
#include "data/image/normalize_images.h"
#include "distributed/phases.h"
#include "launch/failure.h"
#include "losses/loss.h"

namespace ddptrain {
namespace {

/// Each row's penalty, weighted as the units of the row are in the loss.
at::Tensor weighted(const at::Tensor& penalty, const LossTerms& terms) {
  const auto rows = terms.weights.size(0);
  if (rows == 0) return penalty;
  return penalty.mul(terms.weights.reshape({rows, -1}).sum(1));
}

/// Room for a buffer that begins where kernels like tensors to begin.
std::int64_t aligned_bytes(const at::Tensor& buffer) {
  constexpr std::int64_t alignment = 256;
  return (static_cast<std::int64_t>(buffer.nbytes()) + alignment - 1) / alignment * alignment;
}

}  // namespace

std::unique_ptr<Model> placed(std::unique_ptr<Model> model, const Numerics& numerics,
                              at::Device device) {
  model->to(device, numerics.parameters);
  if (numerics.channels_last) model->channels_last();
  return model;
}

Replica::Replica(std::unique_ptr<Model> model, const EngineOptions& options, at::Device device,
                 RowStates& carried)
    : numerics_(options.numerics),
      recompute_(options.recompute),
      device_(device),
      carried_(carried),
      model_(std::move(model)) {
  parameters_ = model_->named_parameters();
  for (const auto& named : model_->named_buffers()) buffers_.push_back(named.tensor);
  if (numerics_.autocast && !device.is_cpu())
    cast_weights_.emplace(*model_, parameters_, *numerics_.autocast);
  flatten_buffers();
  begin();
}

void Replica::flatten_buffers() {
  const at::NoGradGuard no_grad;
  std::int64_t bytes = 0;
  for (const auto& buffer : buffers_) bytes += aligned_bytes(buffer);
  if (bytes == 0) return;
  flat_buffers_ = at::zeros({bytes}, at::TensorOptions(device_).dtype(at::kByte));
  std::int64_t first = 0;
  for (auto& buffer : buffers_) {
    const auto place = flat_buffers_.narrow(0, first, static_cast<std::int64_t>(buffer.nbytes()))
                           .view(buffer.scalar_type())
                           .view(buffer.sizes());
    place.copy_(buffer);
    first += aligned_bytes(buffer);
    buffer.set_data(place);
  }
}

at::Tensor Replica::flat_buffers() const {
  for (const auto& buffer : buffers_)
    if (buffer.numel() > 0 && !buffer.is_alias_of(flat_buffers_)) return {};
  return flat_buffers_;
}

std::vector<at::Tensor> Replica::state() const {
  auto state = buffers_;
  for (const auto& named : parameters_) state.push_back(named.tensor.detach());
  return state;
}

void Replica::broadcast_buffers(Group& group) const {
  if (group.size() == 1 || buffers_.empty()) return;
  const PhaseScope phase(Phase::communication);
  if (auto flat = flat_buffers(); flat.defined())
    group.broadcast(flat, 0);
  else
    broadcast_tensors(group, buffers_, 0);
}

template <class Body>
auto Replica::named(const char* phase, const Body& body) const {
  return device_.is_cpu() ? body() : in_phase(phase, body);
}

std::vector<NamedTensor> Replica::trained() const {
  std::vector<NamedTensor> trained;
  for (const auto& named : parameters_)
    if (named.tensor.requires_grad()) trained.push_back(named);
  return trained;
}

void Replica::begin() {
  for (const auto& named : parameters_) named.tensor.mutable_grad().reset();
  if (cast_weights_) cast_weights_->forget();
  sums_ = at::zeros({kPenalty + 1}, at::TensorOptions(device_).dtype(at::kDouble));
}

// What a device or a large tensor has is an operator's.
void Replica::add_to(WindowNumber number, const at::Tensor& elements) {
  constexpr std::int64_t few = 4096;  // calling operators would take longer
  if (!sums_.is_cpu() || elements.numel() > few || elements.scalar_type() != at::kFloat ||
      !elements.is_contiguous()) {
    sums_.select(0, number).add_(elements.detach().sum(at::kDouble));
    return;
  }
  const auto* first = elements.const_data_ptr<float>();
  sums_.mutable_data_ptr<double>()[number] += std::accumulate(first, first + elements.numel(), 0.0);
}

PassResults Replica::results() const {
  PassResults results;
  for (const auto& named : parameters_) results.gradients.push_back(named.tensor.grad());
  results.sums = sums_;
  return results;
}

void Replica::restore(const PassResults& results) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].tensor.mutable_grad() = results.gradients[i];
  sums_ = results.sums;
}

std::vector<at::Tensor> Replica::inputs_of(const Batch& batch) const {
  auto inputs = batch.inputs;
  if (batch.pixels) {
    for (auto& input : inputs) input = input.to(device_);
    inputs = finished_pixels(inputs, *batch.pixels, numerics_.parameters);
  }
  for (auto& input : inputs) input = prepared(input, numerics_, device_);
  return inputs;
}

std::vector<at::Tensor> Replica::targets_of(const Batch& batch) const {
  std::vector<at::Tensor> targets;
  for (const auto& target : batch.targets) targets.push_back(prepared(target, numerics_, device_));
  return targets;
}

Replica::Moved Replica::moved(const Batch& batch) const {
  const PhaseScope phase(Phase::transfer);
  return {inputs_of(batch), targets_of(batch)};
}

at::Tensor Replica::run(const std::vector<at::Tensor>& inputs, const Pass& pass) {
  const Autocast autocast(device_.type(),
                          pass.training ? numerics_.autocast : numerics_.evaluation_autocast);
  return model_->run(inputs, pass).to(numerics_.parameters);
}

void Replica::train(const Batch& batch, const Loss& loss, const MicroStep& at,
                    Statistics* statistics) {
  const c10::OptionalDeviceGuard guard(device_);
  if (!cast_weights_) return pass(batch, loss, at, statistics);
  copy_weights();
  {
    const CastWeights::Lent lent(*cast_weights_);
    pass(batch, loss, at, statistics);
  }
  if (at.last) cast_weights_->forget();  // before gradients take twice their bytes
  const PhaseScope phase(Phase::backward);
  named("the backward pass", [&] { cast_weights_->widen_gradients(); });
}

void Replica::copy_weights() {
  const PhaseScope phase(Phase::forward);
  named("the forward pass", [&] { cast_weights_->copy(); });
}

void Replica::pass(const Batch& batch, const Loss& loss, const MicroStep& at,
                   Statistics* statistics) {
  const auto sum = loss_sum(batch, loss, at, statistics);
  if (!sum.requires_grad()) return;  // nothing to learn
  const PhaseScope phase(Phase::backward);
  named("the backward pass", [&] { back_propagate(sum, loss_gradient(at, sum)); });
}

at::Tensor Replica::loss_gradient(const MicroStep& at, const at::Tensor& output) {
  if (at.loss_gradient.defined())
    return at.loss_gradient.to(output.options()).expand(output.sizes());
  const double number = at.loss_scale / at.nominal;
  if (!device_.is_cpu()) return at::full({}, number, output.options()).expand(output.sizes());
  auto& last = loss_gradient_;
  if (number != last.number || !last.tensor.defined() || last.tensor.sizes() != output.sizes() ||
      last.tensor.scalar_type() != output.scalar_type())
    last = {number, at::full({}, number, output.options()).expand(output.sizes())};
  return last.tensor;
}

Pass Replica::training_pass(const Batch& batch, const MicroStep& at, Statistics* statistics) const {
  Pass pass{true,       at.seed, at.step,         batch.first_row,
            statistics, nullptr, batch.positions, at.step_there};
  pass.recompute = recompute_;
  pass.blocks = blocks_;
  if (numerics_.autocast)
    pass.numerics = [type = device_.type(), precision = numerics_.autocast] {
      return std::make_shared<Autocast>(type, precision);
    };
  return pass;
}

LossTerms Replica::terms_of(const Loss& loss, const at::Tensor& output,
                            const std::vector<at::Tensor>& targets) const {
  const auto projection = model_->projection();
  if (!projection) return loss_of(loss, output, targets);
  const auto type = numerics_.autocast.value_or(numerics_.parameters);
  const auto cast = [type](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(type) : tensor;
  };
  return loss.projected(
      {cast(output), cast(projection.weight), cast(projection.bias), projection.soft_cap},
      targets.at(0));
}

at::Tensor Replica::loss_sum(const Batch& batch, const Loss& loss, const MicroStep& at,
                             Statistics* statistics) {
  auto given = named("the forward pass", [&] { return moved(batch); });
  const PhaseScope phase(Phase::forward);
  Penalty penalty;
  AuxiliaryOutputs auxiliary;
  const auto carried = carried_.of({batch.first_row, batch.rows, device_});
  auto pass = training_pass(batch, at, statistics);
  pass.penalty = &penalty;
  pass.auxiliary = &auxiliary;
  if (!at.alone) pass.carried = carried.get();
  const auto output = named("the forward pass", [&] { return run(given.inputs, pass); });
  given.inputs.clear();
  auto terms = terms_of(loss, output, given.targets);
  for (const auto& [other, weight] : auxiliary.all())
    terms.values = terms.values.add(
        loss_of(loss, other.to(numerics_.parameters), given.targets).values, weight);
  add_to(kLossSum, terms.values);
  add_to(kWeight, terms.weights);
  if (!terms.values.requires_grad()) return terms.values;
  // Their sum would give each the same gradient.
  if (!penalty.sum().defined() && device_.is_cpu()) return terms.values;
  auto sum = terms.values.sum();
  if (!penalty.sum().defined()) return sum;
  const auto extra = weighted(penalty.sum(), terms).sum();
  sums_.select(0, kPenalty).add_(extra.detach());
  return sum.add(extra);
}

std::vector<at::Tensor> Replica::gradients() const {
  std::vector<at::Tensor> defined;
  for (const auto& named : parameters_)
    if (named.tensor.grad().defined()) defined.push_back(named.tensor.grad());
  return defined;
}

std::string layout_of(const std::vector<NamedTensor>& parameters) {
  std::string text;
  for (const auto& [name, tensor] : parameters)
    text += fmt::format("{} {} ", name, fmt::join(tensor.sizes(), " "));
  return fmt::format("{} tensors, digest {}", parameters.size(), std::hash<std::string>{}(text));
}

at::Tensor Replica::forward(const Batch& batch, const Pass& given) {
  auto pass = given;
  pass.blocks = blocks_;
  const c10::OptionalDeviceGuard guard(device_);
  const at::NoGradGuard no_grad;
  return named(pass.training ? "the forward pass" : "evaluation",
               [&] { return run(inputs_of(batch), pass); });
}

}  // namespace ddptrain
