// Devices that fail: set for a started program by DDPTRAIN_SIMULATED_FAIL.
#pragma once

#include <string_view>

namespace ddptrain::simulated {

/// "lost@operator:1200", "memory@_fused_sgd_:2", "lost@copy_:5/1": at the 1,200th operator the
/// device is lost and stays so; at the second one whose name has "_fused_sgd_" in it, there is no
/// memory; at the fifth copy on device 1. Throws what CUDA's libraries would. To be called before
/// every operator that is counted.
void fail_if_asked(std::string_view name);

/// "plug-in", "torch", "NCCL": whether the library is to be of another version when it is opened.
bool is_another(std::string_view what);

}  // namespace ddptrain::simulated
