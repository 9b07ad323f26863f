// data image_shards: images in tar shards, in WebDataset's layout.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "data/image/shard_splits.h"
#include "sources/image/image_classes.h"
#include "sources/shards/samples.h"
#include "sources/shards/shard_files.h"
#include "sources/shards/shard_labels.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

struct ImageShardsOptions {
  std::string root;
  std::string train = ".";
  ValidFiles valid;
  Auto<std::string> image;
  ShardLabelOptions labels;
  ImageFileOptions images;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the shards.",
       .required = true,
       .path = true,
       .address = AddressUse::file,
       .example = "data/imagenette-shards",
       .was = "url"});
    f("train", train,
      {.doc = "Shards in root: a folder of .tar files, 'train-*.tar', or a pattern with braces, as "
              "in 'train-{000000..000099}.tar'."});
    f("valid", valid,
      {.doc = "Shards of the validation samples, as train names its own, or a fraction of the "
              "training samples, those of a list, or a fold.",
       .example = "'val-{000000..000004}.tar'"});
    f("image", image,
      {.doc = "Extension of the images; auto: the first of jpg, jpeg, png and webp that a sample "
              "has."});
    labels.fields(f);
    images.fields(f);
    f.require(exactly_one({"valid.folder", "valid.fraction", "valid.list", "valid.fold"}));
  }
};

const TarMember& image_of(const ShardSample& sample, const std::optional<std::string>& extension,
                          const std::string& shard) {
  static constexpr std::array<std::string_view, 4> usual{"jpg", "jpeg", "png", "webp"};
  const TarMember* found = extension ? sample.column(*extension) : nullptr;
  for (const auto name : usual)
    if (!extension && !found) found = sample.column(name);
  if (found) return *found;
  throw Error(Exit::data, Option{"data.image"}, "shard '{}': sample '{}' has no {}", shard,
              shown(sample.key), extension ? "." + *extension : "image (.jpg, .jpeg, .png, .webp)");
}

/// Lists the samples of shards, and their labels.
class ShardReader {
 public:
  ShardReader(ShardFiles& files, const ImageShardsOptions& options, ImageList& list)
      : files_(files),
        options_(options),
        labels_(files, options.labels),
        list_(list),
        classes_(labels_.names(list.root)) {}

  const ImageClasses& classes() const { return classes_; }

  void add(std::vector<ImageFile>& to, const std::string& name) {
    const auto path = list_.root + "/" + name;
    const auto index = indexed(files_, path);
    files_.add(path, index);
    const auto number = static_cast<std::int32_t>(list_.shards.size());
    list_.shards.push_back(name);
    for (const auto& sample : samples_of(index.members, path)) {
      ImageFile file;
      file.path = name + "/" + image_of(sample, options_.image.value, path).name;
      file.label = classes_.add(labels_.of(sample, path), file.path);
      file.shard = number;
      to.push_back(std::move(file));
    }
  }

 private:
  ShardFiles& files_;
  const ImageShardsOptions& options_;
  ShardLabels labels_;
  ImageList& list_;
  ImageClasses classes_;
};

ImageList list_images(const FileSystem& system, const ImageShardsOptions& options,
                      const KnownClasses& known) {
  auto files = std::make_unique<ShardFiles>(system);
  ImageList list(*files);
  list.root = options.root;
  ShardReader reader(*files, options, list);
  list.own_files = std::move(files);
  const ShardReading reading{[&](auto& split, const auto& name) { reader.add(split, name); },
                             reader.classes()};
  list_shards(list, options.train, options.valid, reading, known);
  return list;
}

}  // namespace

Entry<Dataset> image_shards_dataset() {
  return entry<Dataset, ImageShardsOptions>(
      "image_shards", "Images in tar shards, as WebDataset writes them.",
      [](const ImageShardsOptions& options,
         const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<ImageFiles>(
            list_images(*context.file_system, options, context.classes), options.images, context);
      },
      {"gives_images", "gives_class", "gives_shards"});
}

}  // namespace ddptrain
