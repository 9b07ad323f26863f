// Class labels and scores as metrics read them: classes along one axis, everything else a unit
// (row, pixel, token) of its own.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "metrics/metric.h"

namespace ddptrain {

/// The class with the largest score of each unit; the first of equal ones.
at::Tensor predicted(const at::Tensor& output, std::int64_t axis = 1);

/// Targets as int64 in the shape of `units`; probabilities (as many axes as the output) count as
/// their largest class. An Error where the shapes differ, or targets are numbers of a regression.
at::Tensor labels_of(const at::Tensor& target, const at::Tensor& units, std::int64_t axis = 1);

/// Single numbers, of any type, as double [n].
at::Tensor together(const std::vector<at::Tensor>& numbers);

/// A number that the host knows, where `like` is.
at::Tensor number(double value, const at::Tensor& like);

/// Which units are scored: flags in the shape of `labels`. Undefined where all are.
at::Tensor scored(const at::Tensor& labels, const std::optional<std::int64_t>& void_code);

/// How many elements are true, and how many there are; of those in `counted` where it is defined.
at::Tensor count_true(const at::Tensor& flags, const at::Tensor& counted = {});

/// counts[true * classes + predicted] over all units that are scored.
at::Tensor count_pairs(const at::Tensor& output, const at::Tensor& target,
                       const std::optional<std::int64_t>& void_code = {});

/// The name of a class for a value's name: the given one, or its number.
std::string class_name(const MetricContext& context, std::size_t index);

/// total[0] / total[1], NaN where nothing was counted.
double ratio(const Metric::Terms& total);

}  // namespace ddptrain
