// The task language_model of the datasets of texts: their documents, without labels, as tokens.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "sources/text/corpus.h"
#include "sources/text/text_options.h"

namespace ddptrain {

/// Inputs and targets as data/tokens/token_dataset.h has them. The packed file of the documents is
/// read or made as for other tasks (data/text/text_dataset.h).
std::unique_ptr<Dataset> make_language_data(const CorpusSource& source, const TextOptions& options,
                                            InvalidUtf8 invalid_utf8, const DataContext& context);

}  // namespace ddptrain
