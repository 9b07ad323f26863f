// Documents to numbers, on several threads, with the same result for any number of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/text/corpus.h"
#include "sources/text/packed_text.h"
#include "sources/text/text_options.h"
#include "text/tokenizer.h"

namespace ddptrain {

struct NumericalizeOptions {
  VocabularyOptions vocabulary;
  std::optional<std::int64_t> max_length;
  Truncate truncate = Truncate::end;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::error;
  bool skip_bad = false;  // leaves out what is not UTF-8 or has no token; otherwise an Error
  std::vector<std::string> fitted = {};  // a vocabulary to use instead of fitting one
  int threads = 1;
};

/// The vocabulary is fitted on the training documents unless the tokenizer brings one. An Error
/// (Exit::data) names the first bad document, in their order.
TextPack numericalize(const Corpus& corpus, const Tokenizer& tokenizer,
                      const NumericalizeOptions& options);

}  // namespace ddptrain
