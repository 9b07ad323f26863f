// The catalogues of datasets, samplers and mixes.
#include "data/datasets.h"
#include "data/mixes.h"
#include "data/samplers.h"

namespace ddptrain {

template <>
const Catalog<Dataset>& catalog<Dataset>() {
  static const Catalog<Dataset> all(
      {image_folder_dataset(), image_names_dataset(), manifest_dataset(), cifar10_dataset(),
       mnist_dataset(), pictures_dataset(), csv_table_dataset(), parquet_table_dataset(),
       text_csv_dataset(), text_folder_dataset(), text_jsonl_dataset()});
  return all;
}

template <>
const Catalog<Mix>& catalog<Mix>() {
  static const Catalog<Mix> all({cutmix_mix(), mixup_mix(), one_of_mix()});
  return all;
}

template <>
const Catalog<Sampler>& catalog<Sampler>() {
  static const Catalog<Sampler> all({sequential_sampler(), shuffle_sampler(), weighted_sampler(),
                                     partial_sampler(), repeat_aug_sampler(),
                                     length_sorted_sampler()});
  return all;
}

}  // namespace ddptrain
