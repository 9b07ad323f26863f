// What the devices of a run do for the images that it trains on.
#pragma once

#include "data/image_device.h"

namespace ddptrain {

struct TrainingPlan;
struct World;

/// JPEGs are decoded on this rank's device, of dp on the first; not where the plan only scores. The
/// plan is to outlive it.
ImageDevice image_device(const TrainingPlan& plan, const World& world);

}  // namespace ddptrain
