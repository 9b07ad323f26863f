// An ONNX model as data (onnx.proto of the ONNX project, IR version 8, operator set 17).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ddptrain {

struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, at::Tensor> value;
};

struct OnnxNode {
  std::string op;                   // "Conv"
  std::vector<std::string> inputs;  // names of values; "": an optional one that is left out
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;
};

/// An input or output. A dimension is a size, or the name of one that differs from batch to batch.
struct OnnxValue {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<std::variant<std::int64_t, std::string>> shape;
};

struct OnnxInitializer {
  std::string name;
  at::Tensor tensor;
};

struct OnnxModel {
  std::vector<OnnxNode> nodes;  // in an order in which each can be computed
  std::vector<OnnxInitializer> initializers;
  std::vector<OnnxValue> inputs, outputs;
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// ONNX's number of a type. An Error (Exit::recipe) where it has none.
int onnx_type(at::ScalarType type);

/// The bytes of a .onnx file. At most 2 GiB, the limit of its format: an Error (Exit::recipe) where
/// there is more.
std::string to_bytes(const OnnxModel& model);

}  // namespace ddptrain
