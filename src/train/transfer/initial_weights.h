// model.weights: a run that starts from weights of another.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/pytorch/torch_file.h"
#include "runs/transfer.h"

namespace ddptrain {

struct Training;

/// Loads what the recipe's `model.weights` names, if anything, and logs what was taken as a table.
/// Rows of embeddings and of the last layer are matched by name where the file has names
/// (train/transfer/row_names.h). Throws an Error (Exit::data) where it does not fit.
std::optional<Transfer> start_from_weights(Training& training);

/// The weights of a file in place of those that the model has, all of them: an Error (Exit::data),
/// which begins with `option`, where a word, a category or a class here is none of the file's.
void take_all_weights(Training& training, const std::string& file, Calls calls,
                      const std::string& option);

/// transfer.json of a run folder. A warning says why where it cannot be written.
void write_transfer_file(const Transfer& transfer, const std::string& folder);

}  // namespace ddptrain
