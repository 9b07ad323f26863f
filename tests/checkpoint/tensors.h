// Small tensors and a folder for checkpoint tests.
#pragma once

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/checkpoint.h"
#include "support/temporary_folder.h"

namespace ddptrain {

inline at::Tensor ramp(std::vector<std::int64_t> shape, at::ScalarType dtype = at::kFloat) {
  std::int64_t count = 1;
  for (const auto length : shape) count *= length;
  return at::arange(count, at::kDouble).reshape(shape).to(dtype);
}

inline Checkpoint small_checkpoint(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.model = {{"conv.weight", ramp({4, 3, 2, 2}).add(static_cast<double>(step))},
                      {"conv.bias", ramp({4})},
                      {"bn.num_batches_tracked", at::full({}, step, at::kLong)}};
  checkpoint.optimizer = {{"conv.weight.momentum_buffer", ramp({4, 3, 2, 2}).mul(0.5)}};
  checkpoint.state = "{\"position\": " + std::to_string(step) + "}\n";
  return checkpoint;
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace ddptrain
