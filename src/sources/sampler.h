// In which order samples are drawn: a pure function of (seed, epoch).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "config/catalog.h"

namespace ddptrain {

/// What an order is made of: samples 0 .. size-1 with optional weights and lengths, in steps of
/// `global` samples.
struct SamplerContext {
  std::int64_t size = 0;
  std::vector<double> weights;  // empty: all equal
  std::uint64_t seed = 0;
  std::vector<std::int64_t> lengths = {};  // Dataset::length; empty: all alike
  std::int64_t global = 1;
  std::function<std::int64_t(std::int64_t)> label = {};  // of a sample; -1 where it has not one
  std::function<std::int64_t(std::int64_t)> shard = {};  // that a sample lies in; -1: none
};

class Sampler {
 public:
  using Make = std::unique_ptr<Sampler>(const SamplerContext&);
  virtual ~Sampler() = default;
  /// The epoch's global order; its length may differ from the number of samples but not between
  /// epochs.
  virtual std::vector<std::int64_t> order(std::int64_t epoch) const = 0;
};

template <>
const Catalog<Sampler>& catalog<Sampler>();

}  // namespace ddptrain
