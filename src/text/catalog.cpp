// The tokenizers.
#include "text/tokenizer.h"

namespace ddptrain {

Entry<Tokenizer> bpe_tokenizer();
Entry<Tokenizer> fastai_tokenizer();
Entry<Tokenizer> unigram_tokenizer();
Entry<Tokenizer> wordpiece_tokenizer();

template <>
const Catalog<Tokenizer>& catalog<Tokenizer>() {
  static const Catalog<Tokenizer> all({
      fastai_tokenizer(),
      wordpiece_tokenizer(),
      bpe_tokenizer(),
      unigram_tokenizer(),
  });
  return all;
}

}  // namespace ddptrain
