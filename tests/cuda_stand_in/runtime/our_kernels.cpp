// What the kernels of src/accelerator/cuda/kernels read and write, from their arguments.
#include <map>
#include <string_view>

#include "accelerator/cuda/kernels/batch_norm_relu.cuh"
#include "accelerator/cuda/kernels/column_sums.cuh"
#include "accelerator/cuda/kernels/dropout.cuh"
#include "accelerator/cuda/kernels/max_pool.cuh"
#include "accelerator/cuda/kernels/norm_rows.cuh"
#include "accelerator/cuda/kernels/normalize_images.cuh"
#include "accelerator/cuda/kernels/optimizer_tensors.cuh"
#include "accelerator/cuda/kernels/residual_norm.cuh"
#include "accelerator/cuda/kernels/sync_norm.cuh"
#include "accelerator/cuda/kernels/vocabulary_rows.cuh"
#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

/// The arguments of one launch, and its accesses as they are found. Null pointers are none.
class OurLaunch {
 public:
  OurLaunch(void** arguments, unsigned along_x, std::size_t bytes)
      : blocks(along_x), number(bytes), arguments_(arguments) {}

  template <class T>
  const T& argument(int index) const {
    return *static_cast<const T*>(arguments_[index]);
  }
  const void* pointer(int index) const { return argument<const void*>(index); }
  template <class Size>
  void read(const void* from, Size bytes) {
    if (from != nullptr) accesses.push_back(reads(from, static_cast<std::size_t>(bytes)));
  }
  template <class Size>
  void write(const void* to, Size bytes) {
    if (to != nullptr) accesses.push_back(writes(to, static_cast<std::size_t>(bytes)));
  }

  const unsigned blocks;     // along x
  const std::size_t number;  // bytes of a number of the kernel's type
  std::vector<MemoryAccess> accesses;

 private:
  void** arguments_;
};

constexpr std::size_t kFloat = sizeof(float);

std::size_t wide(std::size_t number) { return number == sizeof(double) ? number : kFloat; }

void add_relu(OurLaunch& l) {
  const auto bytes = static_cast<std::size_t>(l.argument<long long>(2)) * l.number;
  l.read(l.pointer(0), bytes);
  l.read(l.pointer(1), bytes);
  l.write(l.pointer(0), bytes);
}

void column_sums(OurLaunch& l) {
  const auto& a = l.argument<ColumnArguments>(2);
  const auto columns = static_cast<std::size_t>(a.columns);
  l.read(l.pointer(0), static_cast<std::size_t>(a.rows) * columns * l.number);
  l.write(l.pointer(1), l.blocks * columns * wide(l.number));
}

void column_totals(OurLaunch& l) {
  const auto columns = static_cast<std::size_t>(l.argument<ColumnArguments>(3).columns);
  l.read(l.pointer(0), static_cast<std::size_t>(l.argument<int>(1)) * columns * wide(l.number));
  l.write(l.pointer(2), columns * l.number);
}

void dropout(OurLaunch& l) {
  const auto& a = l.argument<DropoutArguments>(3);
  const auto bytes = static_cast<std::size_t>(a.rows * a.repeats * a.elements) * l.number;
  l.read(l.pointer(0), bytes);
  l.write(l.pointer(1), bytes);
  l.read(l.pointer(2), a.rows * 8);
  l.read(a.step_there, 8);
}

void normalize_images(OurLaunch& l) {
  const auto& p = l.argument<NormalizePlanes>(2);
  const auto& a = l.argument<NormalizeArguments>(3);
  const auto count = static_cast<std::size_t>(a.images * a.channels * a.height * a.width);
  const auto plane = static_cast<std::size_t>(a.channels) * kFloat;
  l.read(l.pointer(0), count);
  l.write(l.pointer(1), count * l.number);
  for (const auto* values : {p.factor, p.offset, p.fill}) l.read(values, plane);
  l.read(p.boxes, a.images * a.boxes * 16);
  l.read(p.partners, count);
  l.read(p.partner_boxes, a.images * a.boxes * 16);
  l.read(p.mixes, a.images * 20);
}

void batch_norm_relu(OurLaunch& l) {
  const auto& p = l.argument<NormPlanes>(3);
  const auto& a = l.argument<NormArguments>(4);
  const auto bytes = static_cast<std::size_t>(a.count) * l.number;
  const auto plane = static_cast<std::size_t>(a.channels) * wide(l.number);
  l.read(l.pointer(0), bytes);
  l.read(l.pointer(1), bytes);
  l.write(l.pointer(2), bytes);
  for (const auto* values : {p.mean, p.variance, p.weight, p.bias}) l.read(values, plane);
  l.write(p.inverse, plane);
}

std::size_t all_rows(const RowsArguments& a, std::size_t number) {
  return static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(a.channels) * number;
}

std::size_t plane_of(const RowsArguments& a) {
  return static_cast<std::size_t>(a.channels) * kFloat;
}

void read_planes(OurLaunch& l, const RowsPlanes& p, std::size_t plane) {
  for (const auto* values : {p.mean, p.inverse, p.variance, p.weight, p.bias})
    l.read(values, plane);
}

void rows_sums(OurLaunch& l) {
  const auto& a = l.argument<RowsArguments>(3);
  l.read(l.pointer(0), all_rows(a, l.number));
  l.write(l.pointer(1), std::size_t{l.blocks} * 2 * plane_of(a));
  l.write(l.pointer(2), std::size_t{l.blocks} * kFloat);
}

void rows_statistics(OurLaunch& l) {
  const auto blocks = static_cast<std::size_t>(l.argument<int>(2));
  const auto& to = l.argument<RowsStatistics>(3);
  const auto plane = plane_of(l.argument<RowsArguments>(4));
  l.read(l.pointer(0), blocks * 2 * plane);
  l.read(l.pointer(1), blocks * kFloat);
  for (const auto* values : {to.mean, to.inverse, to.running_mean, to.running_var})
    l.write(values, plane);
}

void rows_forward(OurLaunch& l) {
  const auto& a = l.argument<RowsArguments>(4);
  l.read(l.pointer(0), all_rows(a, l.number));
  l.read(l.pointer(1), all_rows(a, l.number));
  l.write(l.pointer(2), all_rows(a, l.number));
  read_planes(l, l.argument<RowsPlanes>(3), plane_of(a));
}

void rows_backward_sums(OurLaunch& l) {
  const auto& a = l.argument<RowsArguments>(6);
  for (int i = 0; i < 3; ++i) l.read(l.pointer(i), all_rows(a, l.number));
  l.write(l.pointer(3), all_rows(a, l.number));
  l.write(l.pointer(4), std::size_t{l.blocks} * 2 * plane_of(a));
  read_planes(l, l.argument<RowsPlanes>(5), plane_of(a));
}

void rows_totals(OurLaunch& l) {
  const auto blocks = static_cast<std::size_t>(l.argument<int>(1));
  const auto& to = l.argument<RowsTotals>(3);
  const auto plane = plane_of(l.argument<RowsArguments>(4));
  l.read(l.pointer(0), blocks * 2 * plane);
  l.read(l.pointer(2), plane);
  l.write(to.weight, plane);
  l.write(to.bias, plane);
  l.write(to.along, 2 * plane);
}

void rows_backward(OurLaunch& l) {
  const auto& a = l.argument<RowsArguments>(5);
  l.read(l.pointer(0), all_rows(a, l.number));
  l.read(l.pointer(1), all_rows(a, l.number));
  l.write(l.pointer(2), all_rows(a, l.number));
  l.read(l.pointer(3), 2 * plane_of(a));
  read_planes(l, l.argument<RowsPlanes>(4), plane_of(a));
}

void optimizer_lists(OurLaunch& l, int lists) {
  const auto& all = l.argument<OptimizerTensors>(0);
  for (int t = 0; t < all.count; ++t)
    for (int list = 0; list < lists; ++list) {
      const auto bytes = static_cast<std::size_t>(all.sizes[t]) * l.number;
      l.read(all.of[list][t], bytes);
      if (list != 1) l.write(all.of[list][t], bytes);
    }
}

void adam_step(OurLaunch& l) {
  const auto& a = l.argument<AdamStepArguments>(1);
  optimizer_lists(l, a.amsgrad ? 5 : 4);
  for (const auto* number : {a.rate, a.momentum, a.step, a.refused}) l.read(number, kFloat);
}

void sgd_step(OurLaunch& l) {
  const auto& a = l.argument<SgdStepArguments>(1);
  optimizer_lists(l, 3);
  for (const auto* number : {a.rate, a.momentum, a.refused}) l.read(number, kFloat);
}

/// Numbers of the images before pooling and after it.
std::pair<std::size_t, std::size_t> pooled_numbers(const MaxPoolArguments& a) {
  const auto lines = static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(a.channels);
  return {lines * static_cast<std::size_t>(a.height) * static_cast<std::size_t>(a.width),
          lines * static_cast<std::size_t>(a.out_height) * static_cast<std::size_t>(a.out_width)};
}

void max_pool_forward(OurLaunch& l) {
  const auto [before, after] = pooled_numbers(l.argument<MaxPoolArguments>(3));
  l.read(l.pointer(0), before * l.number);
  l.write(l.pointer(1), after * l.number);
  l.write(l.pointer(2), after);
}

void max_pool_backward(OurLaunch& l) {
  const auto [before, after] = pooled_numbers(l.argument<MaxPoolArguments>(3));
  l.read(l.pointer(0), after * l.number);
  l.read(l.pointer(1), after);
  l.write(l.pointer(2), before * l.number);
}

/// Of the stream of sums, of the kernel's type, of a number a row, of one a feature.
struct ResidualBytes {
  explicit ResidualBytes(const OurLaunch& l, int arguments) {
    const auto& a = l.argument<ResidualArguments>(arguments);
    const auto all = static_cast<std::size_t>(a.rows) * static_cast<std::size_t>(a.features);
    stream = all * wide(l.number);
    narrow = all * l.number;
    rows = static_cast<std::size_t>(a.rows) * wide(l.number);
    plane = static_cast<std::size_t>(a.features) * wide(l.number);
  }
  std::size_t stream, narrow, rows, plane;
};

void residual_norm_forward(OurLaunch& l) {
  const ResidualBytes b(l, 8);
  l.read(l.pointer(0), b.stream);
  l.read(l.pointer(1), b.narrow);
  for (const int plane : {2, 3}) l.read(l.pointer(plane), b.plane);
  l.write(l.pointer(4), b.stream);
  l.write(l.pointer(5), b.narrow);
  for (const int number : {6, 7}) l.write(l.pointer(number), b.rows);
}

void residual_norm_backward(OurLaunch& l) {
  const ResidualBytes b(l, 9);
  l.read(l.pointer(0), b.narrow);
  for (const int stream : {1, 2}) l.read(l.pointer(stream), b.stream);
  for (const int number : {3, 4}) l.read(l.pointer(number), b.rows);
  l.read(l.pointer(5), b.plane);
  l.write(l.pointer(6), b.stream);
  l.write(l.pointer(7), b.narrow);
  l.write(l.pointer(8), std::size_t{l.blocks} * 2 * b.plane);
}

void residual_norm_totals(OurLaunch& l) {
  const ResidualBytes b(l, 4);
  l.read(l.pointer(0), static_cast<std::size_t>(l.argument<int>(1)) * 2 * b.plane);
  for (const int plane : {2, 3}) l.write(l.pointer(plane), b.plane);
}

void sync_norm_pack(OurLaunch& l) {
  const auto channels = static_cast<std::size_t>(l.argument<int>(3));
  l.read(l.pointer(0), channels * l.number);
  l.read(l.pointer(1), channels * l.number);
  l.write(l.pointer(2), (2 * channels + 1) * sizeof(double));
}

void sync_norm_join(OurLaunch& l) {
  const auto& to = l.argument<SyncNormPlanes>(1);
  const auto& a = l.argument<SyncNormArguments>(2);
  const auto channels = static_cast<std::size_t>(a.channels);
  l.read(l.pointer(0), static_cast<std::size_t>(a.members) * (2 * channels + 1) * sizeof(double));
  for (auto* plane : {to.running_mean, to.running_var}) l.read(plane, channels * l.number);
  for (auto* plane : {to.mean, to.variance, to.inverse, to.running_mean, to.running_var})
    l.write(plane, channels * l.number);
  l.write(to.count, sizeof(int));
  l.read(a.batches, 8);
  l.write(a.batches, 8);
}

void vocabulary_values(OurLaunch& l) {
  const auto& a = l.argument<VocabularyArguments>(4);
  const auto rows = static_cast<std::size_t>(a.rows);
  l.read(l.pointer(0), rows * static_cast<std::size_t>(a.width) * l.number);
  l.read(l.pointer(1), rows * 8);
  l.write(l.pointer(2), rows * wide(l.number));
  l.write(l.pointer(3), rows * wide(l.number));
}

void vocabulary_slopes(OurLaunch& l) {
  const auto& a = l.argument<VocabularyArguments>(4);
  const auto rows = static_cast<std::size_t>(a.rows);
  const auto bytes = rows * static_cast<std::size_t>(a.width) * l.number;
  l.read(l.pointer(0), bytes);
  l.write(l.pointer(0), bytes);
  l.read(l.pointer(1), rows * 8);
  l.read(l.pointer(2), rows * wide(l.number));
  l.read(l.pointer(3), rows * wide(l.number));
}

using Finder = void (*)(OurLaunch&);

const std::map<std::string_view, Finder>& finders() {
  static const std::map<std::string_view, Finder> all{
      {"add_relu", add_relu},
      {"column_sums", column_sums},
      {"column_totals", column_totals},
      {"dropout", dropout},
      {"normalize_images", normalize_images},
      {"batch_norm_relu", batch_norm_relu},
      {"max_pool_forward", max_pool_forward},
      {"max_pool_backward", max_pool_backward},
      {"norm_rows_sums", rows_sums},
      {"norm_rows_statistics", rows_statistics},
      {"norm_rows_forward", rows_forward},
      {"norm_rows_backward_sums", rows_backward_sums},
      {"norm_rows_totals", rows_totals},
      {"norm_rows_backward", rows_backward},
      {"adam_step", adam_step},
      {"sgd_step", sgd_step},
      {"residual_norm_forward", residual_norm_forward},
      {"residual_norm_backward", residual_norm_backward},
      {"residual_norm_totals", residual_norm_totals},
      {"sync_norm_pack", sync_norm_pack},
      {"sync_norm_join", sync_norm_join},
      {"vocabulary_values", vocabulary_values},
      {"vocabulary_slopes", vocabulary_slopes}};
  return all;
}

}  // namespace

std::vector<MemoryAccess> accesses_of(const std::string& kernel, unsigned blocks,
                                      void** arguments) {
  static const std::map<std::string_view, std::size_t> types{
      {"_float", 4}, {"_double", 8}, {"_bfloat16", 2}, {"_half", 2}};
  std::string_view name = kernel;
  std::size_t number = kFloat;  // of the kernels that every type has
  const auto last = name.rfind('_');
  const auto type = last == name.npos ? types.end() : types.find(name.substr(last));
  if (type != types.end()) {
    number = type->second;
    name = name.substr(0, last);
  }
  const auto found = finders().find(name);
  if (found == finders().end()) return {};
  OurLaunch launch(arguments, blocks, number);
  found->second(launch);
  return std::move(launch.accesses);
}

}  // namespace ddptrain::stand_in
