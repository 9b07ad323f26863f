// Weights of another run or program to those of this model: rows follow their names.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/weights.h"
#include "runs/transfer.h"
#include "train/transfer/fitted_names.h"

namespace ddptrain {

class Dataset;
class Model;
struct EntryBase;

/// What rows stand for, there in a file or here in the data; without names: unknown.
struct RowNames {
  FittedNames fitted;
  std::vector<std::string> outputs;  // classes, or the targets of a regression
  std::string kind_of_outputs = "classes";
};
RowNames row_names(const Dataset& data);
/// Of what is no class: columns of numbers, coordinates of points. Empty where they have none.
std::vector<std::string> target_names(const Dataset& data);
RowNames row_names(const SavedNames& saved);

/// Tensors of a file, ready to be copied to a model of the same names and sizes.
struct Matched {
  std::vector<TransferGroup> groups;       // of rows with names; none of the remaining tensors
  std::vector<std::string> absent;         // tensors that the model initializes by itself
  std::vector<std::string> output_layers;  // whose shape may differ
  std::string hint;                        // what would help where the rest does not fit
};

/// A model, and the component that it was built as.
struct BuiltModel {
  Model& model;
  const EntryBase& entry;
};

struct MatchOptions {
  bool outputs = true;  // false: the file's are another network's, and were left out
  /// The values of a tensor of the model, which rows without a counterpart keep; asked for one
  /// after another, in the same order for the same names. Empty: those that the model has.
  std::function<at::Tensor(const std::string&)> values = {};
};

/// Replaces the tensors of `saved` whose rows have names by ones with the rows of `model`. What has
/// no counterpart is the mean of the file's rows where it is a word or a category
/// (fastai.text.learner.match_embeds), or a class among others that have one; inputs of a table's
/// columns, columns and last layers without any counterpart keep the model's own values. Rows
/// without names are left as they are. Throws an Error (Exit::data) where the file has fewer rows
/// than names.
Matched match_rows_by_name(std::vector<NamedTensor>& saved, const RowNames& there,
                           const RowNames& here, const BuiltModel& built,
                           const MatchOptions& options = {});

/// What to say of texts that became tokens in another way than this recipe's do; nothing where both
/// are the same, or unknown. `there` may have words alone: then they are looked at.
std::vector<std::string> tokenizer_warnings(const RowNames& there, const RowNames& here);

}  // namespace ddptrain
