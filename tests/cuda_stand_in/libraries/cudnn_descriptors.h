// Descriptors of cuDNN's back-end API: attributes by their names, as they were set.
#pragma once

#pragma GCC visibility push(default)
#include <cudnn.h>
#pragma GCC visibility pop

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "cuda_stand_in/core/memory.h"

namespace ddptrain::stand_in {

struct CudnnDescriptor;
using SharedDescriptor = std::shared_ptr<CudnnDescriptor>;

struct CudnnAttribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::int64_t count = 0;
  std::vector<char> bytes;                    // of plain values
  std::vector<SharedDescriptor> descriptors;  // of others
};

struct CudnnDescriptor {
  cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, CudnnAttribute> attributes;

  /// Values of an attribute; none where it was not set.
  template <class T>
  std::vector<T> values(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<T> all(found->second.bytes.size() / sizeof(T));
    std::memcpy(all.data(), found->second.bytes.data(), all.size() * sizeof(T));
    return all;
  }
  bool is_set(cudnnBackendAttributeName_t name) const { return value<char>(name, 0) != 0; }
  template <class T>
  T value(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto all = values<T>(name);
    return all.empty() ? otherwise : all[0];
  }
  /// The first descriptor of an attribute; null: none.
  const CudnnDescriptor* descriptor(cudnnBackendAttributeName_t name) const;
  void set_descriptor(cudnnBackendAttributeName_t name, SharedDescriptor to);
  void set_number(cudnnBackendAttributeName_t name, std::int64_t number);
};

/// The bytes that a plan of an operation graph reads and writes at the addresses of a variant pack.
std::vector<MemoryAccess> accesses_of_plan(const CudnnDescriptor& plan,
                                           const CudnnDescriptor& variant_pack);

/// "cudnn convolution forward": its operations.
std::string name_of_plan(const CudnnDescriptor& plan);

}  // namespace ddptrain::stand_in
