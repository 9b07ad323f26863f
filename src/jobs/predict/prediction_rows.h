// What a model makes of batches, as rows with names, truths and errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/loader/bad_samples.h"
#include "jobs/predict/prediction_input.h"
#include "jobs/predict/prediction_text.h"
#include "losses/loss.h"

namespace ddptrain {

/// What the columns are of classes, labels and their delimiter: by the loss and the data section
/// that the run was trained with.
PredictionColumns columns_of(const Recipe& recipe, const Loss& loss,
                             std::vector<std::string> classes);

/// The samples of an input, and where files of predictions go.
struct PredictedData {
  const SkippingDataset& data;
  std::string folder;
  std::vector<std::string> files;  // of each sample (jobs/predict/prediction_files.h)
};

class PredictionRows {
 public:
  /// The loss outlives it.
  PredictionRows(const Loss& loss, PredictionText text);

  std::string header(const PredictionTitles& titles) const { return text_.header(titles); }
  /// A row for each sample of a batch, and a line of `errors` for each that could not be read.
  std::string rows(const PredictionInput& input, const PredictedData& from, const Batch& batch,
                   const at::Tensor& output, std::vector<std::string>& errors) const;
  /// The row of an input that could not be read at all.
  std::string unreadable(const PredictionInput& input, const std::string& error) const;

 private:
  using Truth = std::vector<std::string>;  // of one row: PredictionRow::truth

  void predict(PredictionRow& row, const PredictedData& from, const Batch& batch,
               const at::Tensor& found, std::int64_t at) const;
  std::vector<std::optional<double>> losses(const at::Tensor& output,
                                            const std::vector<Truth>& truths) const;
  std::vector<std::int64_t> labels_in(const Truth& truth) const;
  bool is_known(const Truth& truth) const;
  at::Tensor targets(const std::vector<Truth>& truths, const std::vector<std::int64_t>& rows) const;
  at::Tensor numbers(const std::vector<Truth>& truths, const std::vector<std::int64_t>& rows) const;

  const Loss& loss_;
  OutputActivation activation_;
  PredictionText text_;
};

/// What the samples are called, and the columns of their own that their predictions have.
PredictionTitles titles_of(const Dataset& data);

}  // namespace ddptrain
