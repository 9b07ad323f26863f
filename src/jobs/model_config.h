// The config.json of a Hugging Face folder as options of a model.
#pragma once

#include <string>

#include "config/choice.h"

namespace ddptrain {

class Model;

/// Of a model with the trait `huggingface MODEL_TYPE`: options that are auto become those of the
/// config.json in `folder` of the same name (vocab_size is `vocabulary`). A folder without it
/// changes nothing. Throws an Error where the recipe has another value, or the file is of another
/// type of model.
void settle_model_config(Choice<Model>& model, const std::string& folder);

}  // namespace ddptrain
