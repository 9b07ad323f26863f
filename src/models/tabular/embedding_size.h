// How wide an embedding is.
#pragma once

#include <cstdint>

namespace ddptrain {

/// fastai.tabular.model.emb_sz_rule: min(600, round(1.6 n^0.56)) for n >= 1 values.
std::int64_t embedding_size(std::int64_t values);

}  // namespace ddptrain
