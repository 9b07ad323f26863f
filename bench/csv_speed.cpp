// A CSV file to one tensor for each column on one thread: numbers as doubles, names as codes. The
// peer is bench/peers/csv_pandas.py. Usage:
//   bench_csv_speed FILE [PASSES]
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sources/csv/csv_columns.h"

namespace {

using namespace ddptrain;

/// Numbers become a tensor where they are, as torch::from_blob does; codes are widened to int64.
at::Tensor tensor_of(ColumnCells column) {
  if (column.kind == ColumnKind::numbers) {
    const auto kept = std::make_shared<std::vector<double>>(std::move(column.numbers));
    return at::from_blob(
        kept->data(), {static_cast<std::int64_t>(kept->size())}, [kept](void*) {}, at::kDouble);
  }
  const auto made = at::empty({static_cast<std::int64_t>(column.codes.size())}, at::kLong);
  std::copy(column.codes.begin(), column.codes.end(), made.mutable_data_ptr<std::int64_t>());
  return made;
}

std::vector<at::Tensor> read(const std::string& path) {
  const Csv csv(path);
  std::vector<std::size_t> columns(csv.header().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const std::vector<ColumnKind> kinds(columns.size(), ColumnKind::automatic);
  std::vector<at::Tensor> tensors;
  for (auto& column : read_columns(csv, columns, kinds, pandas_missing()))
    tensors.push_back(tensor_of(std::move(column)));
  return tensors;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: bench_csv_speed FILE [PASSES]\n"), 2;
  const int passes = argc > 2 ? std::atoi(argv[2]) : 9;
  double best = 1e9;
  for (int pass = 0; pass < passes; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    const auto tensors = read(argv[1]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::printf("{\"seconds\": %g}\n", best);
} catch (const Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), static_cast<int>(error.code());
}
