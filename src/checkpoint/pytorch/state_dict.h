// What the pickle of torch.save says of tensors: names, and views of storages that follow
// elsewhere. Of torch it knows the element types alone.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/pytorch/pickle.h"

namespace ddptrain {

struct SavedStorage {
  std::string key;
  c10::ScalarType dtype = c10::ScalarType::Float;
  std::int64_t elements = 0;
  std::uint64_t bytes() const;
};

/// Elements of a storage; none lies beyond it.
struct SavedTensor {
  std::size_t storage = 0;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};

struct StateDict {
  std::vector<SavedStorage> storages;
  std::vector<SavedTensor> tensors;
  std::vector<std::pair<std::string, std::size_t>> names;  // of tensors; several may share one
  std::vector<std::string> left_out;                       // names of those that are not read
};

/// What is done with tensors whose description depends on a dangerous call
/// (checkpoint/pytorch/pickle.h).
enum class Dependent { refused, left_out };

/// The root itself, or the first of "state_dict", "model", "model_state_dict", "net", "weights" in
/// it that holds tensors. Throws an Error (Exit::data) naming file and tensor: also where views
/// repeat elements until they are many times what the storages hold.
StateDict read_state_dict(const Pickle& pickle, const std::string& path,
                          Dependent dependent = Dependent::refused);

/// Every storage of the pickle, also those of tensors that are not read.
std::vector<SavedStorage> all_storages(const Pickle& pickle, const std::string& path);

/// Says that a file cannot be read, and why.
[[noreturn]] void refuse_torch_file(const std::string& path, const std::string& what);

}  // namespace ddptrain
