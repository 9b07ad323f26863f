// data image_parquet: images in a column of Parquet files, as the Hugging Face Hub has them.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "data/image/shard_splits.h"
#include "sources/image/image_classes.h"
#include "sources/shards/parquet_images.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

struct ImageParquetOptions {
  std::string root;
  std::string train = "train-*.parquet";
  ValidFiles valid;
  std::string image = "image";
  std::string label = "label";
  std::vector<std::string> classes;
  Size memory{std::int64_t{4} << 30};
  ImageFileOptions images;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the Parquet files.",
       .required = true,
       .path = true,
       .address = AddressUse::file,
       .example = "data/beans"});
    f("train", train,
      {.doc = "Files in root: a name with '*', or a pattern with braces, as in "
              "'train-{00000..00007}.parquet'."});
    f("valid", valid,
      {.doc = "Files of the validation samples, as train names its own, or a fraction of the "
              "training samples, those of a list, or a fold.",
       .example = "'validation-*.parquet'"});
    f("image", image,
      {.doc = "Column of the images: their files as bytes, or a structure with 'bytes'."});
    f("label", label, {.doc = "Column of the classes: numbers from 0 or words."});
    f("classes", classes,
      {.doc = "Names of the classes, by their numbers; none: those that the files' metadata have, "
              "or what rows say.",
       .items = ItemOrder::distinct});
    f("memory", memory,
      {.doc = "Bytes of row groups that may be needed at once; the window of 'sampler: {type: "
              "shuffle}' counts row groups."});
    images.fields(f);
    f.require(exactly_one({"valid.folder", "valid.fraction", "valid.list", "valid.fold"}));
  }
};

/// Cells of a column as text; empty: missing.
class LabelCells final : public ParquetCells {
 public:
  std::vector<std::string> cells;

  void missing() override { cells.emplace_back(); }
  void integer(std::int64_t value) override { cells.push_back(std::to_string(value)); }
  void number(double value) override { cells.push_back(format_number(value)); }
  void text(std::string_view value) override { cells.emplace_back(value); }
};

/// Names of a ClassLabel, as the library datasets writes them into a file.
std::vector<std::string> written_names(const ParquetFile& file, const std::string& label) {
  const auto about = nlohmann::json::parse(file.metadata("huggingface"), nullptr, false);
  const auto path = nlohmann::json::json_pointer("/info/features") / label / "names";
  if (!about.is_object() || !about.contains(path) || !about[path].is_array()) return {};
  std::vector<std::string> names;
  for (const auto& name : about[path])
    names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  return names;
}

class ParquetReader {
 public:
  ParquetReader(ParquetImages& files, const ImageParquetOptions& options, ImageList& list)
      : files_(files), options_(options), list_(list), classes_(options.classes) {}

  const ImageClasses& classes() const { return classes_; }

  void add(std::vector<ImageFile>& to, const std::string& name) {
    const auto path = options_.root + "/" + name;
    const auto& parquet = files_.add(path, options_.image);
    if (classes_.names().empty()) classes_.set_names(written_names(parquet, options_.label));
    const auto labels = labels_of(parquet, path);
    std::int64_t row = 0;
    for (std::size_t group = 0; group < parquet.groups().size(); ++group) {
      const auto shard = static_cast<std::int32_t>(list_.shards.size());
      list_.shards.push_back(ParquetImages::group_name(name, group));
      for (const auto end = row + parquet.groups()[group]; row < end; ++row) {
        ImageFile file;
        file.path = name + "/" + ParquetImages::row_name(row);
        const auto& label = labels[static_cast<std::size_t>(row)];
        if (label.empty())
          throw Error(Exit::data, Option{"data.label"}, "'{}' has no class", file.path);
        file.label = classes_.add(label, file.path);
        file.shard = shard;
        to.push_back(std::move(file));
      }
    }
  }

 private:
  std::vector<std::string> labels_of(const ParquetFile& parquet, const std::string& path) const {
    const auto& fields = parquet.fields();
    for (std::size_t column = 0; column < fields.size(); ++column) {
      if (fields[column].name != options_.label) continue;
      if (fields[column].type == ParquetType::other)
        throw Error(Exit::data, Option{"data.label"}, "{}: column '{}' holds {}", path,
                    options_.label, fields[column].type_name);
      LabelCells cells;
      parquet.read(column, cells);
      return std::move(cells.cells);
    }
    throw Error(Exit::data, Option{"data.label"}, "{}: no column '{}'", path, options_.label);
  }

  ParquetImages& files_;
  const ImageParquetOptions& options_;
  ImageList& list_;
  ImageClasses classes_;
};

ImageList list_images(const FileSystem& system, const ImageParquetOptions& options,
                      const KnownClasses& known) {
  auto files =
      std::make_unique<ParquetImages>(system, static_cast<std::uint64_t>(options.memory.bytes));
  ImageList list(*files);
  list.root = options.root;
  ParquetReader reader(*files, options, list);
  list.own_files = std::move(files);
  const ShardReading reading{[&](auto& split, const auto& name) { reader.add(split, name); },
                             reader.classes()};
  list_shards(list, options.train, options.valid, reading, known);
  return list;
}

}  // namespace

Entry<Dataset> image_parquet_dataset() {
  return entry<Dataset, ImageParquetOptions>(
      "image_parquet", "Images in a column of Parquet files.",
      [](const ImageParquetOptions& options,
         const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<ImageFiles>(
            list_images(*context.file_system, options, context.classes), options.images, context);
      },
      {"gives_images", "gives_class", "gives_shards"});
}

}  // namespace ddptrain
