// PowerSGD (Vogels, Karimireddy and Jaggi 2019): gradients travel as products of thin matrices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "distributed/group.h"
#include "models/module.h"

namespace ddptrain {

/// torch's PowerSGDState, with its meaning.
struct PowerSgdOptions {
  std::int64_t rank = 1;
  std::int64_t start = 1000;  // the first step whose gradients are compressed
  double min_compression_rate = 2;
  bool error_feedback = true;
  bool warm_start = true;
  double epsilon = 0;  // of the orthogonalization
  std::uint64_t seed = 0;
};

/// Whether a gradient of n rows and m columns shrinks by more than the least rate.
bool is_worth_compressing(std::int64_t n, std::int64_t m, const PowerSgdOptions& options);

/// Makes the columns of [n, r] orthonormal in place: by Gram and Schmidt up to rank 2, else by QR,
/// as torch's _orthogonalize. A column of zeros stays as it is.
void orthogonalize(at::Tensor& columns, double epsilon);

/// What a rank remembers of the gradients that it compressed: the directions of each (Q, the same
/// on all ranks) and what its own part has lost (the error). Sums over ranks are what torch's
/// powerSGD_hook gives as means, times the number of ranks.
class PowerSgd {
 public:
  /// The group outlives it. With a `wire` type, what travels is rounded to it.
  PowerSgd(const PowerSgdOptions& options, Group& group, std::optional<at::ScalarType> wire);
  ~PowerSgd();

  /// Of this step, from 0; a negative one is a trial, which is never compressed.
  bool is_on(std::int64_t step) const { return step >= options_.start; }

  /// A bucket on its way. All ranks do all parts of all buckets in the same order.
  class Transfer;
  /// The gradients, views into a bucket, with the errors added; the P are sent.
  std::unique_ptr<Transfer> send(const std::vector<NamedTensor>& gradients, std::int64_t step);

  /// After finish() of all transfers. Where `sound`, a bool on their device, is false, or a sum
  /// is not finite, the step counts for nothing, and so for parameters that are `unused`.
  void settle(const at::Tensor& sound, const std::set<std::string>& unused);

  /// "<parameter>.q" and, of every rank, "<parameter>.error.<rank>". All ranks call it together.
  std::vector<NamedTensor> gather_state() const;
  /// What gather_state() will give of these parameters once all were compressed, in bytes.
  std::int64_t state_bytes(const std::vector<NamedTensor>& parameters) const;
  /// Takes what gather_state() gave. On another number of ranks each takes an equal part of the
  /// sum of errors, so that nothing is lost.
  void load(const std::vector<NamedTensor>& state);

 private:
  struct Memory {
    at::Tensor q, error;            // [m, r], [n, m]; undefined before the first
    at::Tensor next_q, next_error;  // of the step under way
  };
  at::Tensor first_directions(const std::string& name, std::int64_t step,
                              const at::Tensor& matrix) const;

  PowerSgdOptions options_;
  Group& group_;
  std::optional<at::ScalarType> wire_;
  std::map<std::string, Memory> memories_;  // by parameter
  at::Tensor finite_;                       // of the step under way, a bool
};

/// In three parts, so that one bucket's sums travel while another's are computed.
class PowerSgd::Transfer {
 public:
  Transfer(PowerSgd& owner, const std::vector<NamedTensor>& gradients, std::int64_t step);
  /// Receives the P, and starts the all-reduce of the Q.
  void all_reduce_q();
  /// Receives the Q, and writes the sums into the gradients.
  void finish();

 private:
  struct Matrix {
    at::Tensor gradient;  // a view into the bucket
    at::Tensor values;    // [n, m], with the error
    at::Tensor p, q;      // [n, r], [m, r]
    Memory* memory;
  };
  void add(const NamedTensor& gradient, std::int64_t step);
  void send();
  void receive();

  PowerSgd& owner_;
  std::vector<at::Tensor> whole_;  // gradients that travel as they are
  std::vector<Matrix> matrices_;
  at::Tensor flat_, on_wire_;
  std::unique_ptr<Pending> pending_;
};

}  // namespace ddptrain
