// libcudnn: handles, and the back-end API, whose every heuristic has one engine.
#include <mutex>

#include "cuda_stand_in/core/report.h"
#include "cuda_stand_in/libraries/cudnn_descriptors.h"
#include "cuda_stand_in/runtime/launches.h"

namespace {

using ddptrain::stand_in::CudnnAttribute;
using ddptrain::stand_in::CudnnDescriptor;
using ddptrain::stand_in::SharedDescriptor;

/// Descriptors by their handles.
struct DescriptorTable {
  std::mutex mutex;
  std::map<void*, SharedDescriptor> all;
};
DescriptorTable& table() {
  static auto* made = new DescriptorTable;
  return *made;
}

SharedDescriptor shared(cudnnBackendDescriptor_t handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().all.find(handle);
  if (found == table().all.end()) ddptrain::stand_in::fault("a descriptor of cuDNN is not there");
  return found->second;
}

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_FRACTION:
      return 8;
    default:
      return 4;
  }
}

/// A heuristic's answer: an engine of the graph, without knobs.
SharedDescriptor engine_config(const CudnnDescriptor& heuristic) {
  auto engine = std::make_shared<CudnnDescriptor>();
  engine->type = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  engine->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] =
      heuristic.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  engine->set_number(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0);
  auto config = std::make_shared<CudnnDescriptor>();
  config->type = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
  config->set_descriptor(CUDNN_ATTR_ENGINECFG_ENGINE, std::move(engine));
  return config;
}

// What finalizing computes.
void complete(CudnnDescriptor& descriptor) {
  constexpr std::int64_t kWorkspace = 1 << 20;
  if (descriptor.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
    descriptor.set_descriptor(CUDNN_ATTR_ENGINEHEUR_RESULTS, engine_config(descriptor));
  if (descriptor.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
    descriptor.set_number(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, 1);
  if (descriptor.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
    descriptor.set_number(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, kWorkspace);
  if (descriptor.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) return;
  descriptor.set_number(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, kWorkspace);
  const char text[] = "{}";
  descriptor.attributes[CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION] = {
      CUDNN_TYPE_CHAR, sizeof text, {text, text + sizeof text}, {}};
}

void give(const CudnnAttribute& attribute, std::int64_t wanted, void* to) {
  if (attribute.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto each = attribute.bytes.size() / static_cast<std::size_t>(attribute.count);
    std::memcpy(to, attribute.bytes.data(), each * static_cast<std::size_t>(wanted));
    return;
  }
  // Into descriptors that the caller made.
  for (std::int64_t i = 0; i < wanted; ++i)
    *shared(static_cast<cudnnBackendDescriptor_t*>(to)[i]) =
        *attribute.descriptors[static_cast<std::size_t>(i)];
}

struct CudnnHandle {
  cudaStream_t stream = nullptr;
};
CudnnHandle& of(cudnnHandle_t handle) { return *reinterpret_cast<CudnnHandle*>(handle); }

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }
size_t cudnnGetCudartVersion() { return CUDART_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t) { return "an error of the stand-in for cuDNN"; }
void cudnnGetLastErrorString(char* text, size_t bytes) {
  if (bytes > 0) text[0] = '\0';
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = reinterpret_cast<cudnnHandle_t>(new CudnnHandle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete &of(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  of(handle).stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  *stream = of(handle).stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* to) {
  auto made = std::make_shared<CudnnDescriptor>();
  made->type = type;
  *to = made.get();
  const std::lock_guard lock(table().mutex);
  table().all[*to] = std::move(made);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  const std::lock_guard lock(table().mutex);
  table().all.erase(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  CudnnAttribute attribute{type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    const auto* handles = static_cast<const cudnnBackendDescriptor_t*>(values);
    for (std::int64_t i = 0; i < count; ++i) attribute.descriptors.push_back(shared(handles[i]));
  } else {
    const auto* from = static_cast<const char*>(values);
    attribute.bytes.assign(from, from + static_cast<std::size_t>(count) * bytes_of(type));
  }
  shared(handle)->attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  complete(*shared(handle));
  return CUDNN_STATUS_SUCCESS;
}
// An attribute that is not there has no elements: notes and knobs of an engine.
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t wanted, int64_t* count,
                                       void* to) {
  const auto from = shared(handle);
  const auto found = from->attributes.find(name);
  const auto there = found == from->attributes.end() ? 0 : found->second.count;
  if (count != nullptr) *count = there;
  if (there > 0 && wanted > 0 && to != nullptr) give(found->second, std::min(wanted, there), to);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t variant_pack) {
  const auto what = shared(plan);
  ddptrain::stand_in::library_kernel(
      ddptrain::stand_in::name_of_plan(*what), of(handle).stream,
      ddptrain::stand_in::accesses_of_plan(*what, *shared(variant_pack)));
  return CUDNN_STATUS_SUCCESS;
}
}
