#include "data/image/shard_splits.h"

#include "base/error.h"
#include "base/output/long_work.h"
#include "base/text.h"
#include "data/dataset.h"
#include "sources/image/image_classes.h"
#include "sources/shards/shard_set.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

void add_shards(ImageList& list, Split split, const std::string& pattern, const std::string& option,
                const AddShard& add) {
  auto& files = list.files[static_cast<std::size_t>(split)];
  const auto names = shard_names(*list.file_system, list.root, pattern, option);
  LongWork work("indexing shards", std::ssize(names));
  for (const auto& name : names) {
    add(files, name);
    work.did();
  }
  if (files.empty())
    throw Error(Exit::data, Option{option}, "no samples in {}", plural(std::ssize(names), "shard"));
}

}  // namespace

void list_shards(ImageList& list, const std::string& train, const ValidSpec& valid,
                 const ShardReading& reading, const KnownClasses& known) {
  add_shards(list, Split::train, train, "data.train", reading.add);
  if (valid.folder) add_shards(list, Split::valid, *valid.folder, "data.valid", reading.add);
  reading.classes.number(list);
  if (valid.divides()) hold_out(list, valid);
  number_classes(list, known, list.classes);
}

}  // namespace ddptrain
