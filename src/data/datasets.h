// The datasets there are, one file each.
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
