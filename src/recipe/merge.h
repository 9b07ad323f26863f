// A stronger tree over a weaker one.
#pragma once

#include "config/node.h"

namespace ddptrain {

/// Maps merge deeply, lists and scalars replace. A stronger map that changes `type` drops the
/// weaker map's options; a stronger map without `type` over a bare word of a component at the top
/// level ("loss: mse") keeps that type.
void merge(Node& weaker, Node stronger);

}  // namespace ddptrain
