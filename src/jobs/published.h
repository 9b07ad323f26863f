// Published weights on this machine: fetched, and in a recipe's `model.weights` by name.
#pragma once

#include <optional>
#include <string>

#include "recipe/recipe.h"
#include "weights/weights.h"

namespace ddptrain {

/// Fetches the file, or takes it from `file`, unless it is there; returns whether it was missing.
/// `sha256` is the digest that the user gives, or empty. An Error (Exit::recipe) where nothing
/// gives the start of its digest; errors of provide_file.
bool provide_weights(const PublishedWeights& weights, const std::string& sha256,
                     const std::optional<std::string>& file = {});

enum class Fetching { allowed, never };

/// Puts the path of a file in the place of the name of published weights in `model.weights`, and
/// compares the digest that the recipe gives, or else the published one. Where the file is missing
/// it is fetched if the recipe says so and `fetching` allows it; otherwise an Error (Exit::data)
/// says what would do.
void settle_weights(Choice<Model>& model, Fetching fetching);

}  // namespace ddptrain
