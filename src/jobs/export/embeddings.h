// What a model has learned of each user, item or other name of a column.
#pragma once

#include <string>

namespace ddptrain {

struct Recipe;
struct SavedModel;

/// A CSV file with a row for each name that the column had in training, "#na#" first, and its
/// numbers: those of each parameter that embeds the column, "u_weight.0", "u_weight.1", ...,
/// "u_bias". Errors (Exit::recipe): a model or a column without embeddings, with those there are.
void export_embeddings(const Recipe& recipe, const SavedModel& saved, const std::string& column,
                       const std::string& file);

}  // namespace ddptrain
