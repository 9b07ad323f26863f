// Tensors of a file that Python's torch.save wrote (.pth, .pt, .bin): the zip form and the one
// before torch 1.6. Nothing in the file is executed (checkpoint/pytorch/pickle.h).
#pragma once

#include <string>
#include <vector>

#include "models/module.h"

namespace ddptrain {

/// What is done with a file that asks Python to start programs, run code or open files: refused, or
/// read without what depends on it. It is executed in neither case.
enum class Calls { refused, left_out };

/// The tensors of the file's state dict, on the CPU, in its order: the dict itself, or the first of
/// "state_dict", "model", "model_state_dict", "net", "weights" in it that holds tensors. A prefix
/// "module." that all names share (DistributedDataParallel) falls away. Throws an Error
/// (Exit::data) naming the file and the tensor, or the functions that the file wants called.
std::vector<NamedTensor> read_torch_file(const std::string& path, Calls calls = Calls::refused);

}  // namespace ddptrain
