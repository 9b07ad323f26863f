// Files of torch.jit.save: which ones they are, and what their code may do.
#pragma once

#include <string>

namespace torch::jit {
struct Module;
}

namespace ddptrain {

/// The module of a file, on the CPU. Errors (Exit::recipe, model.file) say what the file is where
/// it is missing, no TorchScript, or no module that can be trained, and what to write; and refuse
/// code that could reach files or run operators other than PyTorch's own, before any of it runs.
torch::jit::Module load_script(const std::string& path);

/// Whether some function of the module's file may draw random numbers in training.
bool draws_numbers(const torch::jit::Module& module);

}  // namespace ddptrain
