// What all datasets of texts do with their documents: numbers them once and fills batches.
#pragma once

#include <memory>
#include <string>

#include "data/dataset.h"
#include "sources/text/corpus.h"
#include "sources/text/numericalize.h"
#include "sources/text/text_options.h"
#include "sources/tokens/token_source.h"

namespace ddptrain {

/// Inputs are token numbers [rows, length], targets labels [rows]. Reads the packed file that was
/// made of the same documents with the same options, or makes it; for unlabeled documents there is
/// none.
std::unique_ptr<Dataset> make_text_dataset(const CorpusSource& source, const TextOptions& options,
                                           InvalidUtf8 invalid_utf8, const DataContext& context);

/// How the texts of a section become numbers, by the vocabulary that `context` may have.
NumericalizeOptions numericalize_options(const TextOptions& options, const Tokenizer& tokenizer,
                                         InvalidUtf8 invalid_utf8, const DataContext& context);

/// Documents as numbers, and the vocabulary that these are of.
struct ReadTexts {
  PackedText text;
  TokenVocabulary vocabulary;
};

/// Reads the packed file or makes it, as make_text_dataset does, and logs its notes.
ReadTexts read_texts(const CorpusSource& source, const TextOptions& options,
                     InvalidUtf8 invalid_utf8, const DataContext& context);

/// What was fitted: Dataset::state(), and the token that stands for unknown ones; empty: none does.
struct FittedText {
  std::string state = {};
  std::string unknown = {};
};

/// Texts that are numbers already. `backwards`: rows of a batch hold a document from its last token
/// to its first, with the same padding.
std::unique_ptr<Dataset> packed_texts(PackedText text, const PaddingOptions& padding,
                                      FittedText fitted = {}, bool backwards = false);

}  // namespace ddptrain
