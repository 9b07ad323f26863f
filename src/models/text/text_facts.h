// What a model of texts must know of them.
#pragma once

#include "models/model.h"

namespace ddptrain {

/// A text is a row of numbers of tokens, rows first; short rows are filled up.
struct TextFacts {
  std::int64_t vocabulary = 0;  // tokens are numbers below this
  std::int64_t padding = 0;     // the number that fills up
};

/// What the data says; an Error that names the model and a dataset where it is not text.
TextFacts text_facts_of(const ModelContext& context, const std::string& model);

/// Tokens [rows, time] with one place at least, padding: an empty batch may have none.
at::Tensor with_a_place(const at::Tensor& tokens, const TextFacts& text);

}  // namespace ddptrain
