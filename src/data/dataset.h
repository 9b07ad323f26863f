// Where samples come from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/catalog.h"
#include "data/batch.h"
#include "data/image_device.h"
#include "recipe/data_facts.h"
#include "sources/classes.h"
#include "sources/files/file_system.h"

namespace ddptrain {

enum class Split { train, valid };
struct Preview;
class PredictionForm;

/// What a draw may depend on: augmentation is a function of (seed, epoch, position in the epoch's
/// global order, index of the transform), so a sample drawn twice is augmented differently, on any
/// rank and worker.
struct Draw {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t position = 0;
  bool augment = false;  // a held-out sample goes through the training transforms, in their last
                         // shape; `epoch` is then which time, from 1
  bool plain = false;    // a training sample goes through the transforms of held-out ones
};

/// What a dataset is built for.
struct DataContext {
  std::uint64_t seed = 0;
  bool skip_bad_samples = false;
  bool channels_last = false;
  std::string fitted = {};     // a checkpoint's Dataset::state(): taken as it is; empty: fit now
  KnownClasses classes = {};   // a checkpoint's, and what becomes of others
  std::string unlabeled = {};  // what `predict` is given: a file or folder that is read instead of
                               // the section's own, its samples valid ones of unknown labels
  std::vector<std::string> images = {};  // what `predict` is given, where the dataset reads images
                                         // with a target of its own kind, which is unknown
  std::optional<double> epochs = {};     // the run's, where its recipe says epochs
  std::int64_t train_rows = 1;  // of a global batch: what is streamed is cut into as many streams
  std::int64_t valid_rows = 1;  // of a batch of an evaluation
  ImageDevice device = {};
  const FileSystem* file_system = &local_files();  // of the section's files; outlives the dataset
};

/// One `data` section: samples of both splits, addressed by index, safe to read from many threads.
/// Rows are written straight into the slots of a batch.
class Dataset {
 public:
  virtual ~Dataset() = default;
  using Make = std::unique_ptr<Dataset>(const DataContext&);

  virtual const DataFacts& facts() const = 0;
  virtual std::int64_t size(Split split) const = 0;
  /// A batch with `rows` uninitialized rows: tensors of the right shape and type.
  virtual Batch allocate(Split split, std::int64_t rows) const = 0;
  /// How long a sample is (tokens of a text), at least 1; 0 where all are alike.
  virtual std::int64_t length(Split, std::int64_t /*index*/) const { return 0; }
  /// Rows for samples of different lengths, the longest of which is `length`: one for all ranks of
  /// a step, so that it does not matter how they divide it.
  virtual Batch allocate_length(Split split, std::int64_t rows, std::int64_t /*length*/) const {
    return allocate(split, rows);
  }
  /// Rows of training samples of an epoch, where their shape changes over the run.
  virtual Batch allocate_train(std::int64_t /*epoch*/, std::int64_t rows) const {
    return allocate(Split::train, rows);
  }
  /// The epochs with which another shape of training samples begins.
  virtual std::vector<std::int64_t> changes_of_shape() const { return {}; }
  /// Loads sample `index` into row `row` of a batch. Returns false when the sample is bad and the
  /// policy is to skip it: the row is then left out. Throws an Error (Exit::data) naming the file
  /// otherwise.
  virtual bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
                    std::int64_t row) const = 0;
  /// Whether load() copies a few numbers from memory, which takes less time than handing a row to
  /// another thread.
  virtual bool loads_from_memory() const { return false; }
  /// A name of a sample for messages and predictions: its path.
  virtual std::string sample_name(Split split, std::int64_t index) const = 0;
  /// What that name is: the first column of predictions.
  virtual std::string name_kind() const { return "path"; }
  /// The label of a sample without loading it, -1 when unknown; weights of samples for `sampler:
  /// weighted`.
  virtual std::int64_t label(Split split, std::int64_t index) const = 0;
  /// Its labels where it may have several; none when unknown.
  virtual std::vector<std::int64_t> labels(Split split, std::int64_t index) const;
  virtual std::vector<double> weights(Split) const { return {}; }
  /// The shard that a sample lies in, from 0 (`sampler: {type: shuffle, window}`); -1: in none.
  virtual std::int64_t shard(Split, std::int64_t /*index*/) const { return -1; }
  /// Samples that this rank is about to load, in that order: what is far away is fetched ahead.
  /// Each call replaces the one before.
  virtual void announce(Split, std::span<const std::int64_t> /*order*/) const {}
  /// Whether a sample has a target, or one of several; without one it counts in no loss and no
  /// metric.
  virtual bool has_target(Split, std::int64_t /*index*/) const { return true; }
  /// What was fitted on the training samples and a trained model relies on (a vocabulary,
  /// statistics), as JSON text for the checkpoint; it comes back as DataContext::fitted where the
  /// model is used again: resume, eval, predict. Empty: nothing is.
  virtual std::string state() const { return {}; }
  /// Options that the section left open and the data decided, as a map: the run's recipe records
  /// them.
  virtual Node chosen() const { return Node::map(); }
  /// What a person may see of a sample, data/preview.h. Unless a dataset says more: its label.
  virtual Preview preview(Split split, std::int64_t index, const Draw& draw) const;
  /// How predictions are written, where they are neither classes nor one number; or null.
  virtual const PredictionForm* prediction_form() const { return nullptr; }
  /// Predictions for the rows of `from`, brought to where `to` has the same samples, which were
  /// transformed otherwise; NaN where `from` does not show it. As they are, unless targets lie in
  /// an image.
  virtual at::Tensor aligned(const at::Tensor& predictions, const Batch& /*from*/,
                             const Batch& /*to*/) const {
    return predictions;
  }
  /// A digest of what the samples are (names, sizes, labels), equal on every rank.
  virtual std::string digest() const = 0;
  /// What the samples are read from lives as long as this.
  void keep(std::shared_ptr<const FileSystem> files) { files_ = std::move(files); }

 private:
  std::shared_ptr<const FileSystem> files_;
};

template <>
const Catalog<Dataset>& catalog<Dataset>();

}  // namespace ddptrain
