#include "export/onnx/onnx_model.h"

#include <fmt/format.h>

#include <limits>
#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "base/version.h"

namespace ddptrain {
namespace {

using protozero::pbf_writer;

// Field numbers of onnx.proto.
enum ModelField {
  ir_version = 1,
  producer = 2,
  producer_version = 3,
  graph = 7,
  opset = 8,
  props = 14
};
enum GraphField { node = 1, graph_name = 2, initializer = 5, graph_input = 11, graph_output = 12 };
enum NodeField { node_input = 1, node_output = 2, node_name = 3, op_type = 4, attribute = 5 };
enum AttributeField {
  attribute_name = 1,
  float_value = 2,
  int_value = 3,
  text_value = 4,
  tensor_value = 5,
  int_values = 8,
  attribute_type = 20
};
enum TensorField { dims = 1, data_type = 2, tensor_name = 8, raw_data = 9 };
enum ValueField { value_name = 1, value_type = 2 };

constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kOperatorSet = 17;
enum AttributeType { is_float = 1, is_int = 2, is_text = 3, is_tensor = 4, is_ints = 7 };

std::string tensor_bytes(const std::string& name, const at::Tensor& given) {
  const auto tensor = given.detach().cpu().contiguous();
  std::string bytes;
  pbf_writer writer(bytes);
  for (const auto size : tensor.sizes()) writer.add_int64(dims, size);
  writer.add_int32(data_type, onnx_type(tensor.scalar_type()));
  writer.add_string(tensor_name, name);
  writer.add_bytes(raw_data, static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes());
  return bytes;
}

struct WriteAttribute {
  pbf_writer& writer;

  void operator()(std::int64_t value) {
    writer.add_int64(int_value, value);
    writer.add_enum(attribute_type, is_int);
  }
  void operator()(double value) {
    writer.add_float(float_value, static_cast<float>(value));
    writer.add_enum(attribute_type, is_float);
  }
  void operator()(const std::string& value) {
    writer.add_bytes(text_value, value);
    writer.add_enum(attribute_type, is_text);
  }
  void operator()(const std::vector<std::int64_t>& values) {
    for (const auto value : values) writer.add_int64(int_values, value);
    writer.add_enum(attribute_type, is_ints);
  }
  void operator()(const at::Tensor& value) {
    writer.add_message(tensor_value, tensor_bytes("", value));
    writer.add_enum(attribute_type, is_tensor);
  }
};

std::string attribute_bytes(const OnnxAttribute& attribute) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_string(attribute_name, attribute.name);
  std::visit(WriteAttribute{writer}, attribute.value);
  return bytes;
}

std::string node_bytes(const OnnxNode& node, std::size_t number) {
  std::string bytes;
  pbf_writer writer(bytes);
  for (const auto& input : node.inputs) writer.add_string(node_input, input);
  for (const auto& output : node.outputs) writer.add_string(node_output, output);
  writer.add_string(node_name, fmt::format("{}_{}", node.op, number));
  writer.add_string(op_type, node.op);
  for (const auto& each : node.attributes) writer.add_message(attribute, attribute_bytes(each));
  return bytes;
}

/// ValueInfoProto with a TypeProto, its Tensor and its TensorShapeProto: the fields are 1 and 2.
std::string value_bytes(const OnnxValue& value) {
  std::string shape;
  pbf_writer dimensions(shape);
  for (const auto& size : value.shape) {
    std::string bytes;
    pbf_writer dimension(bytes);
    if (const auto* number = std::get_if<std::int64_t>(&size))
      dimension.add_int64(1, *number);
    else
      dimension.add_string(2, std::get<std::string>(size));
    dimensions.add_message(1, bytes);
  }
  std::string tensor, type, bytes;
  pbf_writer tensor_writer(tensor);
  tensor_writer.add_int32(1, onnx_type(value.type));
  tensor_writer.add_message(2, shape);
  pbf_writer(type).add_message(1, tensor);
  pbf_writer writer(bytes);
  writer.add_string(value_name, value.name);
  writer.add_message(value_type, type);
  return bytes;
}

std::string graph_bytes(const OnnxModel& model) {
  std::string bytes;
  pbf_writer writer(bytes);
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    writer.add_message(node, node_bytes(model.nodes[i], i));
  writer.add_string(graph_name, "ddptrain");
  for (const auto& each : model.initializers)
    writer.add_message(initializer, tensor_bytes(each.name, each.tensor));
  for (const auto& each : model.inputs) writer.add_message(graph_input, value_bytes(each));
  for (const auto& each : model.outputs) writer.add_message(graph_output, value_bytes(each));
  return bytes;
}

void require_size(const OnnxModel& model) {
  std::size_t bytes = 0;
  for (const auto& each : model.initializers) bytes += each.tensor.nbytes();
  if (bytes > std::numeric_limits<std::int32_t>::max() - (std::size_t{16} << 20))
    throw Error(Exit::recipe,
                "an ONNX file holds at most 2 GiB, and this model has more; '--precision fp16' "
                "halves it, and a .pt file has no limit");
}

}  // namespace

int onnx_type(at::ScalarType type) {
  constexpr std::pair<at::ScalarType, int> kTypes[] = {
      {at::kFloat, 1}, {at::kByte, 2}, {at::kChar, 3},  {at::kInt, 6},
      {at::kLong, 7},  {at::kBool, 9}, {at::kHalf, 10}, {at::kDouble, 11}};
  for (const auto& [known, number] : kTypes)
    if (known == type) return number;
  throw Error(Exit::recipe, "ONNX: tensors of type {} are not exported", c10::toString(type));
}

std::string to_bytes(const OnnxModel& model) {
  require_size(model);
  std::string operators, bytes;
  pbf_writer(operators).add_int64(2, kOperatorSet);
  pbf_writer writer(bytes);
  writer.add_int64(ir_version, kIrVersion);
  writer.add_string(producer, "ddptrain");
  writer.add_string(producer_version, version());
  writer.add_message(graph, graph_bytes(model));
  writer.add_message(opset, operators);
  for (const auto& [key, value] : model.metadata) {
    std::string entry;
    pbf_writer pair(entry);
    pair.add_string(1, key);
    pair.add_string(2, value);
    writer.add_message(props, entry);
  }
  return bytes;
}

}  // namespace ddptrain
