// What a network takes from the recipe or the data: outputs, channels, vocabulary.
#pragma once

#include <cstdint>

#include "config/units.h"
#include "models/model.h"

namespace ddptrain {

/// How many outputs: as written, or by the data its classes, two for each point, or its numbers.
std::int64_t classes_of(const Auto<std::int64_t>& written, const ModelContext& context);

/// Refuses a table, whose names and numbers are two inputs where most networks take one, and a
/// text, which is made of words.
void refuse_tables_and_texts(const ModelContext& context);

/// Channels of an image: as written, or the data's, or `otherwise` where there is no sample.
std::int64_t channels_of(const Auto<std::int64_t>& written, const ModelContext& context,
                         std::int64_t otherwise);

/// Refuses data whose images are less than `least` high or wide: `network` would halve them to
/// nothing.
void require_size(const ModelContext& context, const std::string& network, std::int64_t least);

/// The multiple of `divisor` nearest to a number of channels, at least one and no more than a tenth
/// below: torchvision's _make_divisible.
std::int64_t whole_channels(double channels, std::int64_t divisor);

/// A text is a row of numbers of tokens, rows first; short rows are filled up.
struct TextFacts {
  std::int64_t vocabulary = 0;  // tokens are numbers below this
  std::int64_t padding = -1;    // the number that fills up; -1: of a language model, none
};

/// What the data says; an Error that names the model and a dataset where it is not text.
TextFacts text_facts_of(const ModelContext& context, const std::string& model);

/// Tokens [rows, time] with one place at least, padding: an empty batch may have none.
at::Tensor with_a_place(const at::Tensor& tokens, const TextFacts& text);

/// fastai.tabular.model.emb_sz_rule: min(600, round(1.6 n^0.56)) for n >= 1 values.
std::int64_t embedding_size(std::int64_t values);

}  // namespace ddptrain
