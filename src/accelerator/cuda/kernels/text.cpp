#include "accelerator/cuda/kernels/text.h"

// DDPTRAIN_KERNELS: the folder of this file.
#define KERNEL_FILE(symbol, file)                                           \
  asm(".section .rodata\n" #symbol ": .incbin \"" DDPTRAIN_KERNELS "/" file \
      "\"\n.byte 0\n"                                                       \
      ".section .text\n");                                                  \
  extern "C" __attribute__((visibility("hidden"))) const char symbol[]

KERNEL_FILE(ddptrain_kernel_numbers, "numbers.cuh");
KERNEL_FILE(ddptrain_kernel_add_relu, "add_relu.cu");
KERNEL_FILE(ddptrain_kernel_norm_arguments, "batch_norm_relu.cuh");
KERNEL_FILE(ddptrain_kernel_norm_relu, "batch_norm_relu.cu");
KERNEL_FILE(ddptrain_kernel_column_arguments, "column_sums.cuh");
KERNEL_FILE(ddptrain_kernel_columns, "column_sums.cu");
KERNEL_FILE(ddptrain_kernel_dropout_arguments, "dropout.cuh");
KERNEL_FILE(ddptrain_kernel_dropout, "dropout.cu");
KERNEL_FILE(ddptrain_kernel_max_pool_arguments, "max_pool.cuh");
KERNEL_FILE(ddptrain_kernel_max_pool, "max_pool.cu");
KERNEL_FILE(ddptrain_kernel_norm_rows_arguments, "norm_rows.cuh");
KERNEL_FILE(ddptrain_kernel_norm_rows, "norm_rows.cu");
KERNEL_FILE(ddptrain_kernel_normalize_arguments, "normalize_images.cuh");
KERNEL_FILE(ddptrain_kernel_normalize, "normalize_images.cu");
KERNEL_FILE(ddptrain_kernel_optimizer_tensors, "optimizer_tensors.cuh");
KERNEL_FILE(ddptrain_kernel_optimizer_steps, "optimizer_steps.cu");
KERNEL_FILE(ddptrain_kernel_residual_arguments, "residual_norm.cuh");
KERNEL_FILE(ddptrain_kernel_residual, "residual_norm.cu");
KERNEL_FILE(ddptrain_kernel_sync_norm_arguments, "sync_norm.cuh");
KERNEL_FILE(ddptrain_kernel_sync_norm, "sync_norm.cu");
KERNEL_FILE(ddptrain_kernel_vocabulary_arguments, "vocabulary_rows.cuh");
KERNEL_FILE(ddptrain_kernel_vocabulary, "vocabulary_rows.cu");

namespace ddptrain {

const KernelText& add_relu_text() {
  static const KernelText text{
      "add_relu.cu", ddptrain_kernel_add_relu, {{"numbers.cuh", ddptrain_kernel_numbers}}};
  return text;
}

const KernelText& batch_norm_relu_text() {
  static const KernelText text{"batch_norm_relu.cu",
                               ddptrain_kernel_norm_relu,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"batch_norm_relu.cuh", ddptrain_kernel_norm_arguments}}};
  return text;
}

const KernelText& column_sums_text() {
  static const KernelText text{"column_sums.cu",
                               ddptrain_kernel_columns,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"column_sums.cuh", ddptrain_kernel_column_arguments}}};
  return text;
}

const KernelText& dropout_text() {
  static const KernelText text{"dropout.cu",
                               ddptrain_kernel_dropout,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"dropout.cuh", ddptrain_kernel_dropout_arguments}}};
  return text;
}

const KernelText& max_pool_text() {
  static const KernelText text{"max_pool.cu",
                               ddptrain_kernel_max_pool,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"max_pool.cuh", ddptrain_kernel_max_pool_arguments}}};
  return text;
}

const KernelText& norm_rows_text() {
  static const KernelText text{"norm_rows.cu",
                               ddptrain_kernel_norm_rows,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"norm_rows.cuh", ddptrain_kernel_norm_rows_arguments}}};
  return text;
}

const KernelText& normalize_images_text() {
  static const KernelText text{"normalize_images.cu",
                               ddptrain_kernel_normalize,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"normalize_images.cuh", ddptrain_kernel_normalize_arguments}}};
  return text;
}

const KernelText& optimizer_steps_text() {
  static const KernelText text{"optimizer_steps.cu",
                               ddptrain_kernel_optimizer_steps,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"optimizer_tensors.cuh", ddptrain_kernel_optimizer_tensors}}};
  return text;
}

const KernelText& residual_norm_text() {
  static const KernelText text{"residual_norm.cu",
                               ddptrain_kernel_residual,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"residual_norm.cuh", ddptrain_kernel_residual_arguments}}};
  return text;
}

const KernelText& sync_norm_text() {
  static const KernelText text{"sync_norm.cu",
                               ddptrain_kernel_sync_norm,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"sync_norm.cuh", ddptrain_kernel_sync_norm_arguments}}};
  return text;
}

const KernelText& vocabulary_rows_text() {
  static const KernelText text{"vocabulary_rows.cu",
                               ddptrain_kernel_vocabulary,
                               {{"numbers.cuh", ddptrain_kernel_numbers},
                                {"vocabulary_rows.cuh", ddptrain_kernel_vocabulary_arguments}}};
  return text;
}

}  // namespace ddptrain
