// The weights of two runs next to each other.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {

using Weights = std::map<std::string, std::vector<double>>;

/// The tensor of `Value`s at these bytes.
template <class Value>
std::vector<double> numbers_at(const char* bytes, std::size_t size) {
  std::vector<Value> values(size / sizeof(Value));
  std::memcpy(values.data(), bytes, size);
  return {values.begin(), values.end()};
}

/// Of the one checkpoint below a folder: floating tensors in model.safetensors.
inline Weights weights_of(const std::string& below) {
  Weights weights;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(below)) {
    if (entry.path().filename() != "model.safetensors") continue;
    const auto bytes = read(entry.path());
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const auto header = nlohmann::json::parse(bytes.substr(8, length));
    for (const auto& [name, tensor] : header.items()) {
      if (name == "__metadata__") continue;
      const std::size_t first = tensor.at("data_offsets")[0], end = tensor.at("data_offsets")[1];
      const auto* data = bytes.data() + 8 + length + first;
      if (tensor.at("dtype") == "F64") weights[name] = numbers_at<double>(data, end - first);
      if (tensor.at("dtype") == "F32") weights[name] = numbers_at<float>(data, end - first);
    }
  }
  EXPECT_FALSE(weights.empty());
  return weights;
}

/// The largest difference of two tensors, next to the largest number of the second; NaN where a
/// number is. By pointers: tests are not optimized, and these are millions.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  if (a.size() != b.size()) return std::nan("");
  double size = 1e-300, most = 0;
  const double* x = a.data();
  for (const double *y = b.data(), *end = y + b.size(); y != end; ++x, ++y) {
    const double each = std::fabs(*x - *y), magnitude = std::fabs(*y);
    if (each != each) return each;
    if (each > most) most = each;
    if (magnitude > size) size = magnitude;
  }
  return most / size;
}

/// The largest of all tensors of two runs.
inline double difference(const Weights& a, const Weights& b) {
  double most = 0;
  for (const auto& [name, values] : b) {
    const double each = difference(a.at(name), values);
    if (std::isnan(each)) return each;
    most = std::max(most, each);
  }
  return most;
}

}  // namespace ddptrain::end_to_end
