// The tokenizers there are, one file each.
#pragma once

#include "text/tokenizer.h"

namespace ddptrain {

Entry<Tokenizer> bpe_tokenizer();
Entry<Tokenizer> fastai_tokenizer();
Entry<Tokenizer> wordpiece_tokenizer();

}  // namespace ddptrain
