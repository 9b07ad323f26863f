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
           .license_is_of_code = true,
           .license_source = "https://github.com/fastai/fastai/blob/main/LICENSE",
           .is_archive = true}};
}

}  // namespace ddptrain
