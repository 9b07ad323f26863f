// What all datasets of a language model do with their tokens: fill batches of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "recipe/model_facts.h"
#include "sources/tokens/block_options.h"
#include "sources/tokens/token_source.h"

namespace ddptrain {

/// Documents of both splits as token ids.
struct TokenData {
  std::array<std::shared_ptr<const TokenSource>, 2> splits;  // train, valid
  TokenVocabulary vocabulary;
  std::string digest;  // of the documents
};

/// Inputs are tokens, int64 [rows, time], and of packed blocks the position of each in its
/// document, int64 [rows, time], 0 in the padding at their end. Targets are the next tokens, int64
/// [rows, time]; -100 where none is learned: behind the last token of a packed document and in
/// padding. An Error about `data.blocks` where its `end` is no token, and those of make_layout.
std::unique_ptr<Dataset> make_token_dataset(TokenData data, const BlockOptions& options,
                                            const DataContext& context);

/// What such a dataset is as well: `data tokens` writes its documents.
class HasTokens {
 public:
  virtual ~HasTokens() = default;
  virtual const TokenData& token_data() const = 0;
  virtual TokenSize token_size(Split split) const = 0;
};

/// Dataset::state() of a dataset with this vocabulary.
std::string vocabulary_state(const TokenVocabulary& vocabulary);

}  // namespace ddptrain
