// What the plug-in libddptrain_parquet.so offers the program: cells of a Parquet file, column by
// column. Arrow's libraries are loaded with it, only where a recipe reads such a file. No Arrow
// header here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// none: a column of nulls. Dates and times are text (ISO 8601), booleans 'False' and 'True', as
/// pandas writes them to CSV. other: lists, structures, binary data.
enum class ParquetType { integers, floats, text, none, other };

struct ParquetField {
  std::string name;
  ParquetType type = ParquetType::other;
  std::string type_name;     // Arrow's: "list<item: double>"
  bool holds_bytes = false;  // files: binary data, or a structure with some called "bytes", as
                             // Hugging Face's images are
};

/// Gets the cells of a column in the order of their rows, each by one call.
class ParquetCells {
 public:
  virtual ~ParquetCells() = default;
  virtual void missing() = 0;
  virtual void integer(std::int64_t value) = 0;
  virtual void number(double value) = 0;
  virtual void text(std::string_view value) = 0;  // valid during the call; also of bytes
};

class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  virtual const std::vector<ParquetField>& fields() const = 0;
  virtual std::int64_t rows() const = 0;
  /// Throws an Error (Exit::data) where the file is damaged. Not for columns of type `other`.
  virtual void read(std::size_t column, ParquetCells& cells) const = 0;
  /// How many rows each row group has.
  virtual const std::vector<std::int64_t>& groups() const = 0;
  /// The cells of one row group; also of a column that holds bytes. One thread at a time.
  virtual void read_group(std::size_t group, std::size_t column, ParquetCells& cells) const = 0;
  /// What the file's metadata say under a key, "huggingface"; empty: nothing.
  virtual std::string metadata(const std::string& key) const = 0;
};

/// Throws an Error (Exit::data) that names `path`. `bytes` must outlive the file.
using OpenParquet = std::unique_ptr<ParquetFile>(const std::string& path,
                                                 std::span<const std::uint8_t> bytes);

struct ParquetPlugin {
  static constexpr const char* symbol = "ddptrain_parquet_plugin";
  static constexpr int current = 2;
  int version = current;
  OpenParquet* open = nullptr;
};
using ParquetPluginEntry = const ParquetPlugin*();

}  // namespace ddptrain
