// `batch.micro: auto`: how many samples a device can take at once, found by all ranks together.
#pragma once

#include <cstdint>
#include <functional>

#include "data/batch.h"
#include "recipe/batch_plan.h"

namespace ddptrain {

class Dataset;
struct DeviceMemory;
class Group;
struct Training;

/// Whether a micro-batch of a size fits into this rank's memory.
using FitsMicro = std::function<bool(std::int64_t micro)>;

/// The same batch in micro-batches of `micro`, which divides what a device sees in a step.
BatchPlan with_micro(BatchPlan plan, std::int64_t micro);

/// The planned micro-batch if it fits on every rank, else the largest part of at most half of it
/// that still cuts `global` evenly, and so on; what is left of the step is accumulated. Every rank
/// tries the same sizes. An Error (Exit::memory) on all of them where a single sample is too much,
/// or where a part of a size that did not fit cannot be trained (batch norm of one value).
BatchPlan find_micro(const BatchPlan& planned, Group& group, const FitsMicro& fits);

/// Whether a device's allocator kept 5 % of its memory free: other batches, evaluation and
/// communication need some too.
bool keeps_room(const DeviceMemory& memory);

/// Trains twice on `micro` made-up samples per device, the longest and largest of the run, next to
/// the state that an optimizer like Adam keeps, without a step and without the other ranks: false
/// where memory ends or keeps no room. Weights, buffers and optimizer are as before, gradients are
/// cleared.
bool fits_in_memory(Training& training, std::int64_t micro);

/// The micro-batch as placed or, where the recipe leaves the size to a CUDA device
/// (Placement::find_micro), what find_micro makes of it with fits_in_memory; logs it where it is
/// less than planned. `alive` is called before every trial. All ranks call it together.
BatchPlan fitting_batch(Training& training, const std::function<void()>& alive = {});

/// Rows of the largest training samples that the run meets. Only their size matters; a token of a
/// text is any but the one that fills up.
Batch largest_batch(const Dataset& data, std::int64_t rows);

}  // namespace ddptrain
