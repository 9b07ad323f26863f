// What `predict` is given: files, folders and lists, and what is known of the samples' labels.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "jobs/given_images.h"
#include "jobs/saved_run.h"
#include "train/build/build.h"

namespace ddptrain {

/// Samples that one dataset reads.
struct PredictionInput {
  std::string name;  // for messages
  std::function<std::unique_ptr<Dataset>()> open;
  /// The label of a sample, or the number of each target, as written, by its name and index; empty:
  /// unknown. No function: none is known.
  std::function<std::vector<std::string>(const std::string&, std::int64_t)> truth;
  std::string sample;  // what the one sample is called; empty: as the dataset calls it
  /// The same samples one by one, for a folder in which one cannot be read; may be empty.
  std::function<std::vector<PredictionInput>()> one_by_one;
};

/// The path that stands for stdin.
inline constexpr const char* kStdin = "-";

/// Paths as given on the command line, then the lines of `list` ("-": of stdin; may be empty).
/// Errors (Exit::data) where there are none.
std::vector<std::string> listed_inputs(const std::vector<std::string>& words,
                                       const std::string& list);

/// In order of the paths: all images as one, of tables and texts one each. Folders of images and
/// texts are read with all below them, a CSV file as a manifest where the run's data is one. A
/// class folder below a folder is a label, as is a cell in the target's column. `saved` is what
/// the checkpoint keeps of the data, and `stdin_file` what kStdin stands for.
std::vector<PredictionInput> prediction_inputs(const Recipe& recipe, const SavedData& saved,
                                               const std::vector<std::string>& paths,
                                               const std::string& stdin_file = {});

}  // namespace ddptrain
