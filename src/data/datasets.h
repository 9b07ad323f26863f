// The datasets there are, one file each. Traits by which `predict` and `test --quick` know what
// they read, beside those that rules ask for (recipe/rules/rules.h):
//   unlabelled           reads a file or folder that `predict` is given by itself, each input one
//                        dataset; without it, the inputs of `predict` are images
//   file_each            a sample is a file, and a folder of them can be read file by file
//   listed_in_csv        a CSV file is a list of images
//   label_column OPTION  the option names the column of a CSV file that has the label
//   label_in_lines       lines of JSON have it; else a folder that is called like a class
//   pixels SIZE [gray]   images of one size
#pragma once

#include "data/dataset.h"

namespace ddptrain {

Entry<Dataset> image_folder_dataset();
Entry<Dataset> image_names_dataset();
Entry<Dataset> manifest_dataset();
Entry<Dataset> cifar10_dataset();
Entry<Dataset> mnist_dataset();
Entry<Dataset> pictures_dataset();
Entry<Dataset> csv_table_dataset();
Entry<Dataset> parquet_table_dataset();
Entry<Dataset> text_csv_dataset();
Entry<Dataset> text_folder_dataset();
Entry<Dataset> text_jsonl_dataset();

}  // namespace ddptrain
