// What a recipe that `init` writes says of this machine.
#pragma once

#include <string>

namespace ddptrain {

bool has_gpu();

/// How `config` uses this machine, as a recipe writes it.
struct MachineUse {
  std::string mode, device, devices;
  std::string output = "runs";
  std::string machine;  // "2 cores, no GPU"
};

/// Every GPU where there are some, else the CPU.
MachineUse use_of_this_machine();

/// "parallel: {mode: none, ...}     # this machine: ...": every GPU where there are several and the
/// work is worth it, else one device.
std::string parallel_line(bool small_work);

/// The line of a model with these options of its own, "type: unet, body: resnet18": with ImageNet's
/// weights of `network` where their file is on this machine, else with a comment that says how it
/// gets there.
std::string model_lines(const std::string& options, const std::string& network);

}  // namespace ddptrain
