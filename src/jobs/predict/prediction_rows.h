// Predictions as rows of a CSV file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/loader/tolerant.h"
#include "data/prediction_form.h"
#include "jobs/predict/prediction_input.h"
#include "losses/loss.h"

namespace ddptrain {

/// What outputs mean: one class a row, any number of labels, or without names numbers.
struct OutputMeaning {
  std::vector<std::string> classes;
  OutputActivation activation;
  std::string delimiter = " ";  // between several labels
  bool several() const { return activation.kind == OutputActivation::Kind::sigmoid; }
  bool numbers() const { return classes.empty(); }
};

/// By the loss and the data section that the run was trained with.
OutputMeaning meaning_of(const Recipe& recipe, const Loss& loss, std::vector<std::string> classes);

/// Which columns there are; the same for all rows of a file.
struct PredictionColumns {
  bool file = false;   // which of several tables a row is of
  bool truth = false;  // the label as written, and the loss
  bool error = false;  // why a sample could not be read
};

/// The samples of an input, and where files of predictions go.
struct PredictedData {
  const Tolerant& data;
  std::string folder;
  std::vector<std::string> files;  // of each sample (jobs/predict/prediction_files.h)
};

class PredictionRows {
 public:
  PredictionRows(OutputMeaning meaning, PredictionColumns columns, std::unique_ptr<Loss> loss)
      : meaning_(std::move(meaning)), columns_(columns), loss_(std::move(loss)) {}

  /// For samples with this kind of name, whose predictions have a form of their own or null.
  std::string header(const std::string& name_kind, const PredictionForm* form) const;
  /// A row for each sample of a batch, and a line of `errors` for each that could not be read.
  std::string rows(const PredictionInput& input, const PredictedData& from, const Batch& batch,
                   const at::Tensor& output, std::vector<std::string>& errors) const;
  /// The row of an input that could not be read at all.
  std::string unreadable(const PredictionInput& input, const std::string& error) const;
  const Loss& loss() const { return *loss_; }

 private:
  std::string prediction(const PredictedData& from, const Batch& batch, const at::Tensor& output,
                         std::int64_t row) const;
  std::string prediction(const double* output, std::size_t width) const;
  std::size_t cell_count(const PredictionForm* form, std::size_t width) const;
  std::string label(const double* output, std::size_t width) const;
  std::vector<std::string> losses(const at::Tensor& output,
                                  const std::vector<std::string>& truths) const;
  std::vector<std::int64_t> labels_in(const std::string& truth) const;
  bool is_known(const std::string& truth) const;
  at::Tensor targets(const std::vector<std::string>& truths,
                     const std::vector<std::int64_t>& rows) const;

  OutputMeaning meaning_;
  PredictionColumns columns_;
  std::unique_ptr<Loss> loss_;
};

}  // namespace ddptrain
