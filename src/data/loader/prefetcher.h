// Batches on accelerators ahead of the steps that take them.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <vector>

#include "data/loader/loader.h"

namespace ddptrain {

/// A loader whose batches are on `devices`: all of a batch on the only one, or the rows of each
/// replica on its own (Batch::parts), unless EpochPlan::whole asks for the first. Two batches are
/// copied ahead where `host` has them ready, on a stream of their own; a device's current stream
/// waits for a batch when it is taken, the host never does. What loading a batch throws, taking it
/// throws. The memory of `host` is to be pinned (LoaderOptions).
std::unique_ptr<Loader> make_prefetcher(std::unique_ptr<Loader> host,
                                        const std::vector<at::Device>& devices);

}  // namespace ddptrain
