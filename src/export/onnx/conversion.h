// A traced graph on its way to ONNX, node by node.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/onnx/onnx_model.h"

namespace ddptrain {

/// What the mapping of an operator asks about a node, and writes. A value of the graph is known (a
/// constant, a weight, or computed from such alone), or it has a name in the ONNX graph. Integers
/// that follow the batch are tensors of one element there.
class Conversion {
 public:
  explicit Conversion(torch::jit::Module module) : module_(std::move(module)) {}

  /// Converts `forward`. `example` has the inputs' shapes; a dimension in `dynamic` (input,
  /// dimension) gets the name there. An Error (Exit::recipe) names an operator without a mapping,
  /// and the layer before it.
  OnnxModel convert(const std::vector<OnnxValue>& inputs, const OnnxValue& output);

  // --- for mappings, of the node that is converted ---

  std::size_t arguments() const { return node_->inputs().size(); }
  bool known(std::size_t i) const { return is_known(node_->input(i)); }
  const c10::IValue& value(std::size_t i) const;  // of a known one
  bool is_none(std::size_t i) const { return known(i) && value(i).isNone(); }
  std::int64_t integer(std::size_t i) const { return value(i).toInt(); }
  double number(std::size_t i) const { return value(i).toScalar().toDouble(); }
  bool flag(std::size_t i) const { return value(i).toBool(); }
  std::vector<std::int64_t> integers(std::size_t i) const { return value(i).toIntVector(); }

  /// The ONNX name of a tensor argument; known ones become initializers.
  std::string tensor(std::size_t i) { return name_of(node_->input(i)); }
  /// The same, brought to a type; a number becomes a tensor of no dimension.
  std::string tensor_as(std::size_t i, at::ScalarType type);
  std::vector<std::string> tensors(std::size_t i);  // of a list
  /// A list of integers, or one, as an int64 tensor of one dimension.
  std::string shape(std::size_t i);

  at::ScalarType type(std::size_t i) const { return type_of(node_->input(i)); }
  at::ScalarType output_type() const { return type_of(node_->output(0)); }
  std::int64_t rank(std::size_t i) const;
  /// A dimension from 0 on; -1 is the last one.
  std::int64_t dimension(std::size_t i, std::int64_t of) const;
  /// A size that does not follow the batch.
  std::int64_t size(std::size_t i, std::int64_t dimension) const;
  /// The argument's own node, where an operator of the trace made it; or null.
  const torch::jit::Node* maker(std::size_t i) const { return node_->input(i)->node(); }
  std::string name_of(const torch::jit::Value* value);

  /// Adds a node with one output, and returns its name.
  std::string add(const std::string& op, std::vector<std::string> inputs,
                  std::vector<OnnxAttribute> attributes = {});
  std::vector<std::string> add_several(const std::string& op, std::vector<std::string> inputs,
                                       std::vector<OnnxAttribute> attributes, std::size_t outputs);
  std::string constant(const at::Tensor& tensor);
  std::string constant(const std::vector<std::int64_t>& numbers);  // int64, one dimension
  std::string cast(const std::string& name, at::ScalarType from, at::ScalarType to);
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  bool is_known(const torch::jit::Value* value) const { return known_.contains(value); }
  at::ScalarType type_of(const torch::jit::Value* value) const;
  void convert(const torch::jit::Node* node);
  bool fold(const torch::jit::Node* node);
  void take_attribute(const torch::jit::Node* node);
  std::string size_name(const torch::jit::Value* value);
  bool convert_integers(const torch::jit::Node* node);

  torch::jit::Module module_;
  OnnxModel model_;
  const torch::jit::Node* node_ = nullptr;
  std::unordered_map<const torch::jit::Value*, c10::IValue> known_;
  std::unordered_map<const torch::jit::Value*, std::string> names_;
  std::map<const void*, std::string> initializers_;     // by the tensor's implementation
  std::map<std::string, at::Tensor> weights_;           // those of the module, by their names
  std::unordered_map<const void*, std::string> paths_;  // of the module's tensors
  std::string layer_;                                   // of the last weight, for messages
  std::size_t count_ = 0;
};

/// Writes the operator of a node: its outputs' names, one for each that is used.
using OnnxMapping = std::vector<std::string> (*)(Conversion& graph);

/// By the name of LibTorch's operator, "aten::relu"; null where there is none.
OnnxMapping find_mapping(const std::string& kind);

/// Every operator that has a mapping.
std::vector<std::string> mapped_operators();

}  // namespace ddptrain
