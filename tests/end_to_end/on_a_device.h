// A run on the simulated device next to the same on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {

using Weights = std::map<std::string, std::vector<double>>;

/// Of the last checkpoint below a folder: tensors of doubles in model.safetensors.
inline Weights weights_of(const std::string& below) {
  Weights weights;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(below)) {
    if (entry.path().filename() != "model.safetensors") continue;
    const auto bytes = read(entry.path());
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const auto header = nlohmann::json::parse(bytes.substr(8, length));
    for (const auto& [name, tensor] : header.items()) {
      if (name == "__metadata__" || tensor.at("dtype") != "F64") continue;
      const std::size_t first = tensor.at("data_offsets")[0], end = tensor.at("data_offsets")[1];
      auto& values = weights[name];
      values.resize((end - first) / sizeof(double));
      std::memcpy(values.data(), bytes.data() + 8 + length + first, end - first);
    }
  }
  EXPECT_FALSE(weights.empty());
  return weights;
}

/// The largest difference of two runs' weights, next to the largest weight of the same tensor.
inline double difference(const Weights& a, const Weights& b) {
  double most = 0;
  for (const auto& [name, values] : b) {
    EXPECT_EQ(a.at(name).size(), values.size()) << name;
    double size = 1e-300, apart = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      size = std::max(size, std::abs(values[i]));
      apart = std::max(apart, std::abs(a.at(name)[i] - values[i]));
    }
    most = std::max(most, apart / size);
  }
  return most;
}

/// Trains by `words` in fp64 with one process on both, in folders of their own below `folder`;
/// weights differ by `most` of the largest in their tensor.
inline void expect_the_same_on_a_device(const std::vector<std::string>& words, const Folder& folder,
                                        double most = 1e-12) {
  std::vector<Weights> weights;
  for (const std::string device : {"cpu", "simulated"}) {
    auto here = words;
    here.insert(here.end(), {"train.precision=fp64", "parallel.mode=none", "train.threads=1",
                             "parallel.device=" + device, "output.dir=" + device});
    auto variables = environment();
    variables["DDPTRAIN_SIMULATED_DEVICE"] = test::build_folder() + "/libddptrain_simulated.so";
    const auto ended = Program(here, folder.path(), variables).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
    weights.push_back(weights_of(folder / device));
  }
  EXPECT_LE(difference(weights[1], weights[0]), most);
}

}  // namespace ddptrain::end_to_end
