// The catalogue of tokenizers.
#include "text/tokenizers.h"

namespace ddptrain {

template <>
const Catalog<Tokenizer>& catalog<Tokenizer>() {
  static const Catalog<Tokenizer> all({fastai_tokenizer(), wordpiece_tokenizer(), bpe_tokenizer()});
  return all;
}

}  // namespace ddptrain
