// Opens Parquet files by the plug-in.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sources/parquet/plugin.h"

namespace ddptrain {

/// Loads the plug-in once. Throws an Error (Exit::data) where it cannot be opened, and those of
/// OpenParquet. `bytes` must outlive the file.
std::unique_ptr<ParquetFile> open_parquet_file(const std::string& path,
                                               std::span<const std::uint8_t> bytes);

}  // namespace ddptrain
