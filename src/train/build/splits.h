// The samples that are scored in addition to the validation split of `data`, as a run needs them.
#pragma once

#include <memory>
#include <string>

#include "data/image_device.h"
#include "recipe/eval_splits.h"

namespace ddptrain {

class Dataset;

/// The data of one of eval.splits, or eval.test. Nothing is fitted on them: classes, vocabulary and
/// statistics are those of `data`, the training's own. `recipe.data` is as it was before the data
/// decided what it leaves open; what they decided is written into the section. An Error, about an
/// option of the section, where its targets are others than those of `data`.
std::unique_ptr<Dataset> build_split(const Recipe& recipe, const Dataset& data,
                                     SplitSection& section, const ImageDevice& device);

/// provide() (sources/fetch/source.h) for each of them.
void provide_splits(const Recipe& recipe);

/// An Error (Exit::data) where one names an archive that is not unpacked yet.
void require_provided_splits(const Recipe& recipe);

/// What to say where `data`, the `training` section, trains on samples of a split, which score
/// higher than those that the model has not seen; empty where it trains on none, or on other files.
std::string trained_text(const Dataset& split, const SplitSection& section, const Dataset& data,
                         const Choice<Dataset>& training);

/// Writes what the data decided where a section left it open.
void take_chosen(Choice<Dataset>& section, const Dataset& data);

/// Throws the Error under way on: one about `data.root` as one about "eval.splits.sketch.root", one
/// about no option as one about the split at `path`.
[[noreturn]] void rethrow_of_split(const std::string& path);

}  // namespace ddptrain
