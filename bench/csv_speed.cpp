// A CSV file to one tensor for each column on one thread: numbers as doubles, names as codes. The
// peer is bench/peers/csv_pandas.py. Usage:
//   bench_csv_speed FILE [PASSES]
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/csv_columns.h"

namespace {

using namespace ddptrain;

at::Tensor tensor_of(const CsvColumn& column) {
  const bool names = column.kind == ColumnKind::names;
  const auto rows = names ? column.codes.size() : column.numbers.size();
  const auto made = at::empty({static_cast<std::int64_t>(rows)}, names ? at::kLong : at::kDouble);
  if (names)
    std::copy(column.codes.begin(), column.codes.end(), made.mutable_data_ptr<std::int64_t>());
  else
    std::copy(column.numbers.begin(), column.numbers.end(), made.mutable_data_ptr<double>());
  return made;
}

std::vector<at::Tensor> read(const std::string& path) {
  const Csv csv(path);
  std::vector<std::size_t> columns(csv.header().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const std::vector<ColumnKind> kinds(columns.size(), ColumnKind::automatic);
  std::vector<at::Tensor> tensors;
  for (const auto& column : read_columns(csv, columns, kinds, pandas_missing()))
    tensors.push_back(tensor_of(column));
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
