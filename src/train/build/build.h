// Plan to Training: one line per part, no branch on a component's name.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "data/image_device.h"
#include "recipe/period.h"
#include "sources/order/shard.h"
#include "train/training_plan.h"

namespace ddptrain {

class Engine;
class Loader;
class Sampler;
struct DataFacts;
struct LoaderOptions;
struct Training;
struct World;

/// Builds what a plan names, on this rank; the world has met. All ranks call it together, and
/// `alive` is called now and then. Errors of the data are Exit::data, of values that only building
/// can refuse Exit::recipe, of a device too small for one sample Exit::memory.
std::unique_ptr<Training> build(const TrainingPlan& plan, World& world,
                                const std::function<void()>& alive = {});

/// How an epoch's order is dealt to ranks.
ShardPlan shard_plan(const Training& training);

/// The parts that eval, predict, export and data need without a Training. Images are read for
/// `device`.
std::unique_ptr<Dataset> build_data(const Recipe& recipe, const SavedData& saved = {},
                                    const std::string& unlabeled = {},
                                    const ImageDevice& device = {});
std::unique_ptr<Sampler> build_sampler(const Recipe& recipe, const Dataset& data);
/// Of batches where the placement computes: on the CPU as they are, else brought ahead.
std::unique_ptr<Loader> build_loader(const Dataset& data, LoaderOptions options,
                                     const Placement& placement, const World& world);
std::unique_ptr<Engine> build_engine(const Recipe& recipe, const Placement& placement, World& world,
                                     const DataFacts& facts, const RunLength& length = {});

}  // namespace ddptrain
