// What says which class a sample of a shard is of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "sources/files/file_system.h"
#include "sources/shards/samples.h"

namespace ddptrain {

struct ShardLabelOptions {
  std::string label = "cls";
  std::optional<std::string> field;
  std::vector<std::string> classes;
  void fields(Fields& f);
};

class ShardLabels {
 public:
  /// `files` and `options` must outlive this.
  ShardLabels(const FileSystem& files, const ShardLabelOptions& options)
      : files_(files), options_(options) {}

  /// Names by number: those of the options, or of "index.json" below `root`
  /// (jobs/data/data_shards.h), or none.
  std::vector<std::string> names(const std::string& root) const;
  /// What a sample says its class is. An Error (Exit::data) names shard and sample that does not.
  std::string of(const ShardSample& sample, const std::string& shard) const;

 private:
  std::string field_of(const std::string& json, const std::string& what) const;

  const FileSystem& files_;
  const ShardLabelOptions& options_;
};

}  // namespace ddptrain
