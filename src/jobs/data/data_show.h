// `data show RECIPE`: samples as the network gets them, for a person.
#pragma once

#include <string>

#include "data/dataset.h"
#include "recipe/recipe.h"

namespace ddptrain {

struct ShowOptions {
  Split split = Split::train;
  int count = 16;
  std::string output = "samples.png";
};

/// Of train: what the first steps of the run are made of, with its very draws; of valid: samples
/// spread evenly. Images go to a contact sheet, everything else to stdout.
void show_samples(const Recipe& recipe, const ShowOptions& options);

}  // namespace ddptrain
