// Operators of ddptrain that take LibTorch's kernels one after another, where one of ours does not
// fit.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace ddptrain {

/// "ddptrain::batch_norm_in_parts"; `like` is a function of its type.
template <class Operator>
auto in_parts(const char* name, Operator* /*like*/) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Operator>();
}

}  // namespace ddptrain
