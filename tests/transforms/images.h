// Images and transforms for tests.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "support/node.h"
#include "support/where.h"
#include "transforms/codecs/decode.h"
#include "transforms/transform.h"

namespace ddptrain::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes golden_file(const std::string& name) {
  std::ifstream in(test::in_source("tests/golden/images/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Every value differs from its neighbors.
inline Image numbered(int width, int height, int channels = 3) {
  Image image;
  image.width = width;
  image.height = height;
  image.channels = channels;
  for (std::size_t i = 0; i < image.values(); ++i)
    image.bytes.push_back(static_cast<std::uint8_t>(i * 7 % 251));
  return image;
}

inline Image flat(int width, int height, std::uint8_t value) {
  Image image;
  image.width = width;
  image.height = height;
  image.bytes.assign(image.values(), value);
  return image;
}

inline std::unique_ptr<Transform> transform(const nlohmann::json& recipe) {
  return catalog<Transform>().build(fragment<Transform>(recipe));
}

inline Image applied(const nlohmann::json& recipe, Image image, std::uint64_t position = 0) {
  Stream random(1, position);
  transform(recipe)->apply(image, random);
  return image;
}

/// The message of the Error that `work` throws; empty when it throws none.
template <class Work>
std::string message(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace ddptrain::test
