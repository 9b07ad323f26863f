// The text of our kernels, within the plug-in.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ddptrain {

/// CUDA C++ of one file, and the files that it includes: names and texts.
struct KernelText {
  const char* name;
  const char* text;
  std::vector<std::pair<const char*, const char*>> headers;
};

const KernelText& add_relu_text();
const KernelText& batch_norm_relu_text();
const KernelText& column_sums_text();
const KernelText& dropout_text();
const KernelText& max_pool_text();
const KernelText& norm_rows_text();
const KernelText& normalize_images_text();
const KernelText& optimizer_steps_text();
const KernelText& residual_norm_text();
const KernelText& sync_norm_text();
const KernelText& vocabulary_rows_text();

}  // namespace ddptrain
