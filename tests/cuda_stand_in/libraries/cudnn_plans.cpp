// What a plan of cuDNN reads and writes, from the operations of its graph.
#include <set>
#include <string>

#include "cuda_stand_in/libraries/cudnn_descriptors.h"
#include "cuda_stand_in/libraries/cudnn_tensors.h"

namespace ddptrain::stand_in {
namespace {

/// Attributes of operations that name what these compute.
const std::set<cudnnBackendAttributeName_t>& results() {
  static const std::set<cudnnBackendAttributeName_t> all{
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
      CUDNN_ATTR_OPERATION_POINTWISE_DXDESC,
      CUDNN_ATTR_OPERATION_MATMUL_CDESC,
      CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC,
      CUDNN_ATTR_OPERATION_NORM_FWD_YDESC,
      CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC,
      CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC,
      CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC,
      CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
      CUDNN_ATTR_OPERATION_RNG_YDESC,
      CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC,
      CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
      CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC,
      CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC};
  return all;
}

std::size_t bytes_of(const CudnnDescriptor& tensor) {
  const auto sizes = tensor.values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = tensor.values<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size() && i < strides.size(); ++i)
    last += (sizes[i] - 1) * strides[i];
  return static_cast<std::size_t>(last + 1) *
         stand_in::bytes_of(tensor.value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT));
}

/// A tensor of the device, by its number in the variant pack.
struct PackedTensor {
  std::size_t bytes = 0;
  bool is_result = false;
};
using PackedTensors = std::map<std::int64_t, PackedTensor>;

void add(PackedTensors& to, const CudnnDescriptor& tensor, bool is_result) {
  const bool is_elsewhere =
      tensor.is_set(CUDNN_ATTR_TENSOR_IS_VIRTUAL) || tensor.is_set(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  if (tensor.type != CUDNN_BACKEND_TENSOR_DESCRIPTOR || is_elsewhere) return;
  auto& known = to[tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, -1)];
  known = {bytes_of(tensor), known.is_result || is_result};
}

const CudnnDescriptor* graph_of(const CudnnDescriptor& plan) {
  const auto* config = plan.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const auto* engine = config ? config->descriptor(CUDNN_ATTR_ENGINECFG_ENGINE) : nullptr;
  return engine ? engine->descriptor(CUDNN_ATTR_ENGINE_OPERATION_GRAPH) : nullptr;
}

const std::vector<SharedDescriptor>& operations_of(const CudnnDescriptor& plan) {
  static const std::vector<SharedDescriptor> none;
  const auto* graph = graph_of(plan);
  if (graph == nullptr) return none;
  const auto found = graph->attributes.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  return found == graph->attributes.end() ? none : found->second.descriptors;
}

PackedTensors tensors_of(const CudnnDescriptor& plan) {
  PackedTensors all;
  for (const auto& operation : operations_of(plan))
    for (const auto& [name, attribute] : operation->attributes)
      for (const auto& tensor : attribute.descriptors) add(all, *tensor, results().contains(name));
  return all;
}

const char* name_of(cudnnBackendDescriptorType_t operation) {
  switch (operation) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return " convolution forward";
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return " convolution backward filter";
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return " convolution backward data";
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return " matmul";
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
      return " attention forward";
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
      return " attention backward";
    default:
      return "";
  }
}

}  // namespace

const CudnnDescriptor* CudnnDescriptor::descriptor(cudnnBackendAttributeName_t name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() || found->second.descriptors.empty()
             ? nullptr
             : found->second.descriptors[0].get();
}

void CudnnDescriptor::set_descriptor(cudnnBackendAttributeName_t name, SharedDescriptor to) {
  attributes[name] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {std::move(to)}};
}

void CudnnDescriptor::set_number(cudnnBackendAttributeName_t name, std::int64_t number) {
  std::vector<char> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  attributes[name] = {CUDNN_TYPE_INT64, 1, std::move(bytes), {}};
}

std::vector<MemoryAccess> accesses_of_plan(const CudnnDescriptor& plan,
                                           const CudnnDescriptor& variant_pack) {
  const auto numbers = variant_pack.values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto addresses = variant_pack.values<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto tensors = tensors_of(plan);
  std::vector<MemoryAccess> all;
  for (std::size_t i = 0; i < numbers.size() && i < addresses.size(); ++i) {
    const auto found = tensors.find(numbers[i]);
    if (found == tensors.end() || addresses[i] == nullptr) continue;
    const auto& [bytes, is_result] = found->second;
    all.push_back(is_result ? writes(addresses[i], bytes) : reads(addresses[i], bytes));
  }
  return all;
}

std::string name_of_plan(const CudnnDescriptor& plan) {
  std::string name = "cudnn";
  for (const auto& operation : operations_of(plan)) name += name_of(operation->type);
  return name == "cudnn" ? "cudnn operations" : name;
}

}  // namespace ddptrain::stand_in
