#include "sources/parquet/open_parquet.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/files/plugin.h"

namespace ddptrain {
namespace {

constexpr const char* parquet_plugin_name = "libddptrain_parquet.so";

const ParquetPlugin& load_parquet() {
  auto opened = open_plugin(parquet_plugin_name, RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = table_of<ParquetPlugin>(opened, parquet_plugin_name);
  if (plugin == nullptr)
    throw Error(Exit::data, "Parquet files cannot be read: {}", opened.why_not);
  return *plugin;
}

}  // namespace

std::unique_ptr<ParquetFile> open_parquet_file(const std::string& path,
                                               std::span<const std::uint8_t> bytes) {
  static const ParquetPlugin& plugin = load_parquet();
  return plugin.open(path, bytes);
}

}  // namespace ddptrain
