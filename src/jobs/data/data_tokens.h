// `data tokens RECIPE FOLDER`: the documents of a data section as files of token ids.
#pragma once

#include <string>

#include "recipe/recipe.h"

namespace ddptrain {

/// Writes train.tokens and valid.tokens (sources/tokens/token_file.h), which `data: {type:
/// token_file}` reads. An Error (Exit::recipe) where the section gives no tokens.
void write_tokens(const Recipe& recipe, const std::string& folder);

}  // namespace ddptrain
