// The datasets and mixes.
#include "data/dataset.h"
#include "data/mix.h"

namespace ddptrain {

/// Traits by which `predict` and `test --quick` know what a dataset reads, next to those that rules
/// ask for (recipe/rules/rules.h):
///   unlabeled           reads a file or folder that `predict` is given by itself, each input one
///                        dataset; without it, the inputs of `predict` are images
///   file_each            a sample is a file, and a folder of them can be read file by file
///   listed_in_csv        a CSV file is a list of images
///   predicts_images      reads images that `predict` is given with a target of its own kind
///   predicts_files       and each prediction is also a file
///   gives_masks          targets are masks
///   gives_points         targets are points
///   gives_tokens         targets are next tokens
///   gives_shards         samples lie in shards (sampler shuffle, option window)
///   label_column OPTION  the option names the column of a CSV file that has the label
///   label_in_lines       lines of JSON have it; else a folder that is called like a class
///   pixels SIZE [gray]   images of one size
///   users_and_items      rows are a user, an item and a rating, by options of these names
///   finds_valid          data.valid is a folder that `root` has, unless the recipe says otherwise
Entry<Dataset> cifar10_dataset();
Entry<Dataset> csv_table_dataset();
Entry<Dataset> image_folder_dataset();
Entry<Dataset> image_masks_dataset();
Entry<Dataset> image_names_dataset();
Entry<Dataset> image_parquet_dataset();
Entry<Dataset> image_points_dataset();
Entry<Dataset> image_shards_dataset();
Entry<Dataset> manifest_dataset();
Entry<Dataset> mnist_dataset();
Entry<Dataset> parquet_table_dataset();
Entry<Dataset> ratings_dataset();
Entry<Dataset> text_csv_dataset();
Entry<Dataset> text_folder_dataset();
Entry<Dataset> text_jsonl_dataset();
Entry<Dataset> token_file_dataset();
Entry<Dataset> unlabeled_images_dataset();

template <>
const Catalog<Dataset>& catalog<Dataset>() {
  static const Catalog<Dataset> all({
      image_folder_dataset(),
      image_names_dataset(),
      manifest_dataset(),
      image_masks_dataset(),
      image_points_dataset(),
      image_shards_dataset(),
      image_parquet_dataset(),
      cifar10_dataset(),
      mnist_dataset(),
      unlabeled_images_dataset(),
      csv_table_dataset(),
      parquet_table_dataset(),
      ratings_dataset(),
      text_csv_dataset(),
      text_folder_dataset(),
      text_jsonl_dataset(),
      token_file_dataset(),
  });
  return all;
}

Entry<Mix> cutmix_mix();
Entry<Mix> mixup_mix();
Entry<Mix> one_of_mix();

template <>
const Catalog<Mix>& catalog<Mix>() {
  static const Catalog<Mix> all({
      cutmix_mix(),
      mixup_mix(),
      one_of_mix(),
  });
  return all;
}

}  // namespace ddptrain
