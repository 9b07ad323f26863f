// Numbers with a name that say how good a model is, from sums that add up.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output/named_table.h"
#include "config/catalog.h"
#include "losses/loss.h"
#include "recipe/data_facts.h"

namespace ddptrain {

struct MetricContext {
  std::vector<std::string> classes{};       // names; may be empty
  std::optional<std::int64_t> void_code{};  // label of units that are not scored, by the data
  std::vector<std::int64_t> sample{};       // shape of one input; empty when it varies
  std::optional<TokenFacts> tokens{};       // where targets are next tokens
};

/// Evaluation cuts data into the same batches whatever the world size; `terms` of each batch travel
/// to rank 0, which adds them in batch order. So every value is equal to the last bit on any number
/// of ranks. What has two names, row and column, is a table rather than values.
class Metric {
 public:
  using Make = std::unique_ptr<Metric>(const MetricContext&);
  using Terms = std::vector<double>;
  using Values = std::vector<std::pair<std::string, double>>;

  virtual ~Metric() = default;
  /// Of one batch: output [rows, ...], target [rows, ...], and the loss' terms of the same rows,
  /// all on one device. Double [n] there; n does not depend on values, and nothing waits for them.
  virtual at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                          const LossTerms& loss) const = 0;
  /// The same as numbers.
  Terms terms(const at::Tensor& output, const at::Tensor& target, const LossTerms& loss) const;
  /// Adds a batch to the total, which is empty at first. Element by element unless a metric says
  /// otherwise.
  virtual void add(Terms& total, const Terms& batch) const;
  /// Names ("accuracy", "top_5", "accuracy/tench") and values; NaN where nothing was counted.
  virtual Values values(const Terms& total) const = 0;
  virtual std::vector<NamedTable> tables(const Terms& /*total*/) const { return {}; }
};

template <>
const Catalog<Metric>& catalog<Metric>();

}  // namespace ddptrain
