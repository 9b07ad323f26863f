// model.weights: a run that starts from weights of another.
#pragma once

#include <string>

namespace ddptrain {

class Model;
struct Training;

/// The layer that gives a model's outputs, by the name before the dot.
std::string last_layer(const Model& model);

/// Loads what the recipe's `model.weights` names, if anything, and logs what was taken. Outputs are
/// matched by the names of their classes where the file has them. Throws an
/// Error (Exit::data) where it does not fit.
void start_from_weights(const Training& training);

}  // namespace ddptrain
