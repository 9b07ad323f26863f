// Parquet files by Apache Arrow.
#include "sources/parquet/plugin.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/float16.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <new>
#include <utility>

#include "base/error.h"

namespace ddptrain {
namespace {

/// A file of a few kilobytes may claim any number of rows; real tables take more than this.
constexpr std::int64_t most_rows_per_byte = 16;

ParquetType type_of(const arrow::DataType& type) {
  const auto id = type.id();
  if (id == arrow::Type::NA) return ParquetType::none;
  if (arrow::is_integer(id)) return ParquetType::integers;
  if (arrow::is_floating(id) || id == arrow::Type::DECIMAL128 || id == arrow::Type::DECIMAL256)
    return ParquetType::floats;
  if (id == arrow::Type::BOOL || arrow::is_string(id) || arrow::is_temporal(id))
    return ParquetType::text;
  if (id == arrow::Type::DICTIONARY)
    return type_of(*static_cast<const arrow::DictionaryType&>(type).value_type());
  return ParquetType::other;
}

/// Gives each cell of an array to `give(row)`, or reports it as missing.
template <class Give>
void give_cells(const arrow::Array& array, ParquetCells& cells, const Give& give) {
  for (std::int64_t row = 0; row < array.length(); ++row)
    if (array.IsNull(row))
      cells.missing();
    else
      give(row);
}

template <class Array>
void give_integers(const arrow::Array& array, ParquetCells& cells) {
  const auto& values = static_cast<const Array&>(array);
  give_cells(array, cells, [&](std::int64_t row) {
    const auto value = values.Value(row);
    if (std::in_range<std::int64_t>(value))
      cells.integer(static_cast<std::int64_t>(value));
    else
      cells.number(static_cast<double>(value));
  });
}

template <class Array>
void give_floats(const arrow::Array& array, ParquetCells& cells) {
  const auto& values = static_cast<const Array&>(array);
  give_cells(array, cells,
             [&](std::int64_t row) { cells.number(static_cast<double>(values.Value(row))); });
}

template <class Array>
void give_texts(const arrow::Array& array, ParquetCells& cells) {
  const auto& values = static_cast<const Array&>(array);
  give_cells(array, cells, [&](std::int64_t row) { cells.text(values.GetView(row)); });
}

/// Through text, to the nearest double: Arrow's ToDouble is off in the last bit.
template <class Array>
void give_decimals(const arrow::Array& array, ParquetCells& cells) {
  const auto& values = static_cast<const Array&>(array);
  give_cells(array, cells,
             [&](std::int64_t row) { cells.number(std::stod(values.FormatValue(row))); });
}

void give_halves(const arrow::Array& array, ParquetCells& cells) {
  const auto& values = static_cast<const arrow::HalfFloatArray&>(array);
  give_cells(array, cells, [&](std::int64_t row) {
    cells.number(arrow::util::Float16::FromBits(values.Value(row)).ToDouble());
  });
}

void give_booleans(const arrow::Array& array, ParquetCells& cells) {
  const auto& values = static_cast<const arrow::BooleanArray&>(array);
  give_cells(array, cells,
             [&](std::int64_t row) { cells.text(values.Value(row) ? "True" : "False"); });
}

/// Dates and times, as Arrow writes them: ISO 8601.
void give_scalars(const arrow::Array& array, ParquetCells& cells) {
  give_cells(array, cells,
             [&](std::int64_t row) { cells.text(array.GetScalar(row).ValueOrDie()->ToString()); });
}

void give_any_integers(const arrow::Array& array, ParquetCells& cells) {
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return give_integers<arrow::Int8Array>(array, cells);
    case arrow::Type::INT16:
      return give_integers<arrow::Int16Array>(array, cells);
    case arrow::Type::INT32:
      return give_integers<arrow::Int32Array>(array, cells);
    case arrow::Type::UINT8:
      return give_integers<arrow::UInt8Array>(array, cells);
    case arrow::Type::UINT16:
      return give_integers<arrow::UInt16Array>(array, cells);
    case arrow::Type::UINT32:
      return give_integers<arrow::UInt32Array>(array, cells);
    case arrow::Type::UINT64:
      return give_integers<arrow::UInt64Array>(array, cells);
    default:
      return give_integers<arrow::Int64Array>(array, cells);
  }
}

void give_any_floats(const arrow::Array& array, ParquetCells& cells) {
  switch (array.type_id()) {
    case arrow::Type::HALF_FLOAT:
      return give_halves(array, cells);
    case arrow::Type::FLOAT:
      return give_floats<arrow::FloatArray>(array, cells);
    case arrow::Type::DECIMAL128:
      return give_decimals<arrow::Decimal128Array>(array, cells);
    case arrow::Type::DECIMAL256:
      return give_decimals<arrow::Decimal256Array>(array, cells);
    default:
      return give_floats<arrow::DoubleArray>(array, cells);
  }
}

void give_any_texts(const arrow::Array& array, ParquetCells& cells) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return give_booleans(array, cells);
    case arrow::Type::STRING:
      return give_texts<arrow::StringArray>(array, cells);
    case arrow::Type::LARGE_STRING:
      return give_texts<arrow::LargeStringArray>(array, cells);
    default:
      return give_scalars(array, cells);
  }
}

void give_array(const arrow::Array& array, ParquetCells& cells);

/// One cell of a dictionary at a time.
void give_dictionary(const arrow::Array& array, ParquetCells& cells) {
  const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
  give_cells(array, cells, [&](std::int64_t row) {
    give_array(*coded.dictionary()->Slice(coded.GetValueIndex(row), 1), cells);
  });
}

void give_array(const arrow::Array& array, ParquetCells& cells) {
  if (array.type_id() == arrow::Type::DICTIONARY) return give_dictionary(array, cells);
  switch (type_of(*array.type())) {
    case ParquetType::none:
      return give_cells(array, cells, [](std::int64_t) {});
    case ParquetType::integers:
      return give_any_integers(array, cells);
    case ParquetType::floats:
      return give_any_floats(array, cells);
    case ParquetType::text:
    case ParquetType::other:
      return give_any_texts(array, cells);
  }
}

template <class Array>
void give_bytes_of(const arrow::Array& array, const arrow::Array& column, ParquetCells& cells) {
  const auto& values = static_cast<const Array&>(array);
  for (std::int64_t row = 0; row < array.length(); ++row)
    if (column.IsNull(row) || array.IsNull(row))
      cells.missing();
    else
      cells.text(values.GetView(row));
}

/// Of a structure, its field "bytes".
void give_bytes(const arrow::Array& column, ParquetCells& cells) {
  std::shared_ptr<arrow::Array> field;
  if (column.type_id() == arrow::Type::STRUCT)
    field = static_cast<const arrow::StructArray&>(column).GetFieldByName("bytes");
  const auto& array = field ? *field : column;
  if (array.type_id() == arrow::Type::LARGE_BINARY)
    return give_bytes_of<arrow::LargeBinaryArray>(array, column, cells);
  give_bytes_of<arrow::BinaryArray>(array, column, cells);
}

bool is_bytes(const arrow::DataType& type) {
  return type.id() == arrow::Type::BINARY || type.id() == arrow::Type::LARGE_BINARY;
}

bool holds_bytes(const arrow::DataType& type) {
  if (is_bytes(type)) return true;
  if (type.id() != arrow::Type::STRUCT) return false;
  const auto field = static_cast<const arrow::StructType&>(type).GetFieldByName("bytes");
  return field && is_bytes(*field->type());
}

class ArrowFile final : public ParquetFile {
 public:
  ArrowFile(const std::string& path, std::span<const std::uint8_t> bytes) : path_(path) {
    guarded([&] { open(bytes); });
  }
  const std::vector<ParquetField>& fields() const override { return fields_; }
  std::int64_t rows() const override { return rows_; }

  void read(std::size_t column, ParquetCells& cells) const override {
    guarded([&] {
      std::shared_ptr<arrow::ChunkedArray> chunks;
      require(reader_->ReadColumn(static_cast<int>(column), &chunks));
      require(chunks->ValidateFull());
      if (chunks->length() != rows_)
        refuse(fmt::format("column '{}' has {} rows, the table {}", fields_[column].name,
                           chunks->length(), rows_));
      for (const auto& chunk : chunks->chunks()) give_array(*chunk, cells);
    });
  }

  const std::vector<std::int64_t>& groups() const override { return groups_; }

  void read_group(std::size_t group, std::size_t column, ParquetCells& cells) const override {
    guarded([&] {
      std::shared_ptr<arrow::ChunkedArray> chunks;
      const auto row_group = reader_->RowGroup(static_cast<int>(group));
      require(row_group->Column(static_cast<int>(column))->Read(&chunks));
      require(chunks->ValidateFull());
      if (chunks->length() != groups_[group])
        refuse(fmt::format("row group {} has {} rows of column '{}', not {}", group,
                           chunks->length(), fields_[column].name, groups_[group]));
      for (const auto& chunk : chunks->chunks())
        fields_[column].holds_bytes ? give_bytes(*chunk, cells) : give_array(*chunk, cells);
    });
  }

  std::string metadata(const std::string& key) const override {
    const auto pairs = reader_->parquet_reader()->metadata()->key_value_metadata();
    if (!pairs || !pairs->Contains(key)) return {};
    return pairs->Get(key).ValueOr("");
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Exit::data, "'{}' cannot be read as Parquet: {}", path_, why);
  }

  void require(const arrow::Status& status) const {
    if (status.IsOutOfMemory()) throw std::bad_alloc();
    if (!status.ok()) refuse(status.message());
  }

  /// Arrow's own exceptions become an Error.
  template <class Action>
  void guarded(const Action& action) const {
    try {
      action();
    } catch (const parquet::ParquetException& error) {
      refuse(error.what());
    }
  }

  void open(std::span<const std::uint8_t> bytes) {
    auto buffer = std::make_shared<arrow::Buffer>(bytes.data(), std::ssize(bytes));
    parquet::arrow::FileReaderBuilder builder;
    require(builder.Open(std::make_shared<arrow::io::BufferReader>(buffer)));
    rows_ = builder.raw_reader()->metadata()->num_rows();
    if (rows_ < 0 || rows_ / most_rows_per_byte > std::ssize(bytes))
      refuse(fmt::format("it claims {} rows in {} bytes", rows_, bytes.size()));
    builder.memory_pool(arrow::system_memory_pool());
    require(builder.Build(&reader_));
    std::shared_ptr<arrow::Schema> schema;
    require(reader_->GetSchema(&schema));
    for (const auto& field : schema->fields())
      fields_.push_back({field->name(), type_of(*field->type()), field->type()->ToString(),
                         holds_bytes(*field->type())});
    const auto metadata = reader_->parquet_reader()->metadata();
    for (int group = 0; group < metadata->num_row_groups(); ++group)
      groups_.push_back(metadata->RowGroup(group)->num_rows());
  }

  std::string path_;
  std::int64_t rows_ = 0;
  std::vector<ParquetField> fields_;
  std::vector<std::int64_t> groups_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
};

std::unique_ptr<ParquetFile> open_parquet(const std::string& path,
                                          std::span<const std::uint8_t> bytes) {
  return std::make_unique<ArrowFile>(path, bytes);
}

}  // namespace
}  // namespace ddptrain

extern "C" __attribute__((visibility("default"))) const ddptrain::ParquetPlugin*
ddptrain_parquet_plugin() {
  static const ddptrain::ParquetPlugin plugin{ddptrain::ParquetPlugin::current,
                                              ddptrain::open_parquet};
  return &plugin;
}
