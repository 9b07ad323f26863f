#include "distributed/power_sgd.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "base/error.h"
#include "base/output/log.h"
#include "base/random.h"

namespace ddptrain {
namespace {

constexpr const char* kDirections = ".q";
constexpr const char* kError = ".error.";

void gram_schmidt(at::Tensor& columns, double epsilon) {
  for (std::int64_t i = 0; i < columns.size(1); ++i) {
    auto column = columns.narrow(1, i, 1);
    auto norm = at::linalg_vector_norm(column) + epsilon;
    column.div_(at::where(norm == 0, at::ones_like(norm), norm));
    if (i + 1 == columns.size(1)) continue;
    auto rest = columns.narrow(1, i + 1, columns.size(1) - i - 1);
    rest.sub_(column * (column * rest).sum(0, /*keepdim=*/true));
  }
}

std::int64_t rank_of(std::int64_t n, std::int64_t m, const PowerSgdOptions& options) {
  return std::min({n, m, options.rank});
}

/// A gradient as a matrix: what its first dimension counts, and all others.
struct Sides {
  std::int64_t rows, columns;
};
Sides sides(const at::Tensor& gradient) {
  const auto rows = gradient.dim() == 0 ? 1 : gradient.size(0);
  return {rows, gradient.numel() / rows};
}

/// The next `numel` numbers of a flat tensor, as a matrix.
at::Tensor next_matrix(const at::Tensor& flat, std::int64_t& first, std::int64_t rows,
                       std::int64_t columns) {
  const auto part = flat.narrow(0, first, rows * columns).view({rows, columns});
  first += rows * columns;
  return part;
}

}  // namespace

bool is_worth_compressing(std::int64_t n, std::int64_t m, const PowerSgdOptions& options) {
  const auto compressed = static_cast<double>((n + m) * rank_of(n, m, options));
  return compressed * options.min_compression_rate < static_cast<double>(n * m);
}

void orthogonalize(at::Tensor& columns, double epsilon) {
  if (columns.size(1) <= 2) return gram_schmidt(columns, epsilon);
  columns.copy_(std::get<0>(at::linalg_qr(columns)));
}

PowerSgd::PowerSgd(const PowerSgdOptions& options, Group& group, std::optional<at::ScalarType> wire)
    : options_(options), group_(group), wire_(wire) {}
PowerSgd::~PowerSgd() = default;

std::unique_ptr<PowerSgd::Transfer> PowerSgd::send(const std::vector<NamedTensor>& gradients,
                                                   std::int64_t step) {
  const at::NoGradGuard no_grad;
  return std::make_unique<Transfer>(*this, gradients, step);
}

/// The same on every rank.
at::Tensor PowerSgd::first_directions(const std::string& name, std::int64_t step,
                                      const at::Tensor& matrix) const {
  const auto m = matrix.size(1), r = rank_of(matrix.size(0), m, options_);
  auto drawn = at::empty({m, r}, at::kDouble);
  auto* numbers = drawn.mutable_data_ptr<double>();
  Stream stream(mix(options_.seed, hash_text("power_sgd")), static_cast<std::uint64_t>(step),
                hash_text(name));
  for (std::int64_t i = 0; i < m * r; ++i) numbers[i] = stream.normal();
  return drawn.to(matrix.options());
}

void PowerSgd::settle(const at::Tensor& sound, const std::set<std::string>& unused) {
  const at::NoGradGuard no_grad;
  if (!finite_.defined()) return;
  const auto counts = sound.logical_and(finite_);
  const auto accept = [&](at::Tensor& now, at::Tensor& next) {
    if (next.defined()) now = at::where(counts, next, now.defined() ? now : at::zeros_like(next));
    next.reset();
  };
  for (auto& [name, memory] : memories_) {
    if (unused.contains(name)) {
      memory.next_q.reset();
      memory.next_error.reset();
    }
    accept(memory.q, memory.next_q);
    accept(memory.error, memory.next_error);
  }
  finite_.reset();
}

std::vector<NamedTensor> PowerSgd::gather_state() const {
  const at::NoGradGuard no_grad;
  std::vector<NamedTensor> state;
  for (const auto& [name, memory] : memories_) {
    if (memory.q.defined()) state.push_back({name + kDirections, memory.q});
    if (!memory.error.defined()) continue;
    for (int rank = 0; rank < group_.size(); ++rank) {
      auto error = memory.error.clone();
      group_.broadcast(error, rank);
      if (group_.rank() == 0) state.push_back({name + kError + std::to_string(rank), error});
    }
  }
  return state;
}

std::int64_t PowerSgd::state_bytes(const std::vector<NamedTensor>& parameters) const {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : parameters) {
    const auto [n, m] = sides(tensor);
    if (!tensor.requires_grad() || !is_worth_compressing(n, m, options_)) continue;
    const auto errors = options_.error_feedback ? group_.size() * n * m : 0;
    bytes += (errors + m * rank_of(n, m, options_)) * static_cast<std::int64_t>(tensor.itemsize());
  }
  return bytes;
}

void PowerSgd::load(const std::vector<NamedTensor>& state) {
  const at::NoGradGuard no_grad;
  memories_.clear();
  std::map<std::string, std::vector<at::Tensor>> errors;  // of every rank
  for (const auto& [name, tensor] : state) {
    const auto at = name.rfind(kError);
    if (at != std::string::npos) {
      errors[name.substr(0, at)].push_back(tensor);
    } else if (options_.warm_start && name.ends_with(kDirections)) {
      memories_[name.substr(0, name.size() - std::string(kDirections).size())].q = tensor.clone();
    }
  }
  if (!options_.error_feedback) return;
  const auto ranks = static_cast<std::size_t>(group_.size());
  for (const auto& [name, all] : errors) {
    auto& error = memories_[name].error;
    if (all.size() == ranks) {
      error = all[static_cast<std::size_t>(group_.rank())].clone();
      continue;
    }
    error = all.front().clone();
    for (std::size_t i = 1; i < all.size(); ++i) error.add_(all[i]);
    error.div_(static_cast<double>(ranks));
  }
}

PowerSgd::Transfer::Transfer(PowerSgd& owner, const std::vector<NamedTensor>& gradients,
                             std::int64_t step)
    : owner_(owner) {
  for (const auto& gradient : gradients) add(gradient, step);
  std::vector<at::Tensor> parts;
  for (const auto& gradient : whole_) parts.push_back(gradient.reshape({-1}));
  for (const auto& matrix : matrices_)
    parts.push_back(at::mm(matrix.values, matrix.q).reshape({-1}));
  flat_ = at::cat(parts);
  send();
}

void PowerSgd::Transfer::add(const NamedTensor& gradient, std::int64_t step) {
  const auto& view = gradient.tensor;
  const auto [n, m] = sides(view);
  if (!is_worth_compressing(n, m, owner_.options_)) return whole_.push_back(view);
  auto& memory = owner_.memories_[gradient.name];
  Matrix matrix{view, view.reshape({n, m}), {}, {}, &memory};
  if (owner_.options_.error_feedback)
    matrix.values = memory.error.defined() ? matrix.values + memory.error.to(view.device())
                                           : matrix.values.clone();
  const auto r = rank_of(n, m, owner_.options_);
  if (!memory.q.defined() || memory.q.size(1) != r || !owner_.options_.warm_start)
    memory.q = owner_.first_directions(gradient.name, step, matrix.values);
  matrix.q = memory.q.to(view.device()).clone();
  orthogonalize(matrix.q, owner_.options_.epsilon);
  matrices_.push_back(std::move(matrix));
}

void PowerSgd::Transfer::send() {
  if (owner_.wire_) on_wire_ = flat_.to(*owner_.wire_);
  pending_ = owner_.group_.all_reduce_async(owner_.wire_ ? on_wire_ : flat_);
}

void PowerSgd::Transfer::receive() {
  pending_->wait();
  pending_.reset();
  if (owner_.wire_) flat_.copy_(on_wire_);
  const auto finite = at::isfinite(flat_).all();
  owner_.finite_ = owner_.finite_.defined() ? owner_.finite_.logical_and(finite) : finite;
}

void PowerSgd::Transfer::all_reduce_q() {
  const at::NoGradGuard no_grad;
  receive();
  std::int64_t first = 0;
  for (const auto& gradient : whole_) {
    gradient.copy_(flat_.narrow(0, first, gradient.numel()).view(gradient.sizes()));
    first += gradient.numel();
  }
  std::vector<at::Tensor> parts;
  for (auto& matrix : matrices_) {
    matrix.p = next_matrix(flat_, first, matrix.values.size(0), matrix.q.size(1));
    orthogonalize(matrix.p, owner_.options_.epsilon);
    parts.push_back(at::mm(matrix.values.t(), matrix.p).reshape({-1}));
  }
  if (parts.empty()) return;
  flat_ = at::cat(parts);
  send();
}

void PowerSgd::Transfer::finish() {
  const at::NoGradGuard no_grad;
  if (matrices_.empty()) return;
  receive();
  const auto ranks = static_cast<double>(owner_.group_.size());
  std::int64_t first = 0;
  for (auto& matrix : matrices_) {
    const auto q = next_matrix(flat_, first, matrix.values.size(1), matrix.q.size(1));
    const auto sum = at::mm(matrix.p, q.t());
    if (owner_.options_.error_feedback) matrix.memory->next_error = matrix.values - sum / ranks;
    if (owner_.options_.warm_start) matrix.memory->next_q = q / ranks;
    matrix.gradient.copy_(sum.view(matrix.gradient.sizes()));
  }
}

}  // namespace ddptrain
