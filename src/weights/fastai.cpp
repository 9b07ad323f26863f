// fastai's language model, whose encoder text classifiers start from. No digest is published: who
// fetches it gives one.
#include "weights/publishers.h"

namespace ddptrain {

std::vector<PublishedWeights> fastai_weights() {
  return {{.model = "awd_lstm",
           .name = "wikitext103_fwd",
           .publisher = "fastai",
           .url = "https://s3.amazonaws.com/fast-ai-modelzoo/wt103-fwd.tgz",
           .license = "Apache-2.0",
           .is_archive = true}};
}

}  // namespace ddptrain
