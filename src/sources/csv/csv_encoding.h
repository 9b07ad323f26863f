// Text of other encodings as UTF-8.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sources/csv/csv_format.h"
#include "sources/csv/csv_index.h"

namespace ddptrain {

/// The text of a CSV file: a view of `bytes` where these are UTF-8, without a byte order mark, else
/// of `decoded`. Throws an Error (Exit::data) that names file, line and column: bytes that are no
/// text of this encoding, a byte order mark of another one, UTF-8 text where an encoding of single
/// bytes is asked for.
std::string_view csv_text(std::span<const std::uint8_t> bytes, CsvEncoding encoding,
                          const std::string& path, const CsvDialect& dialect, std::string& decoded);

}  // namespace ddptrain
