// Where published weights lie on this machine.
#pragma once

#include <string>

#include "weights/weights.h"

namespace ddptrain {

/// $DDPTRAIN_WEIGHTS, or ddptrain/weights in the user's cache ($XDG_CACHE_HOME, ~/.cache).
std::string weights_folder();

/// Where the file of such weights lies, or would.
std::string weights_path(const PublishedWeights& weights);
bool is_here(const PublishedWeights& weights);

}  // namespace ddptrain
