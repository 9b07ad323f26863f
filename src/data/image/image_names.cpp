// data image_names: images whose labels are in their names (fastai's
// ImageDataLoaders.from_name_re and from_name_func).
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/names.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "sources/image/image_scan.h"
#include "sources/split/pattern.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

enum class Of { name, path };

std::span<const std::string_view> names(Of) { return kNameList<"name", "path">; }

struct ImageNamesOptions {
  std::string root;
  std::optional<std::string> pattern;
  std::map<std::string, std::string> labels;
  Of of = Of::name;
  ValidFiles valid;
  std::vector<std::string> extensions = image_extensions();
  ImageFileOptions images;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the images.",
       .required = true,
       .path = true,
       .address = AddressUse::folder,
       .example = "data/images"});
    f("pattern", pattern,
      {.doc = "Regular expression whose first group ( ) is the label, as in '^(.+)_\\d+\\.jpg$'.",
       .example = "'^(.+)_\\d+\\.jpg$'",
       .form = TextForm::pattern_with_group});
    f("labels", labels,
      {.doc = "Instead of a pattern, each label with the expression that its images match, as in "
              "{cat: '^[A-Z]', dog: '^[a-z]'}.",
       .form = TextForm::pattern});
    f("of", of, {.doc = "What is looked at: the file's name, or its path below root."});
    f("valid", valid,
      {.doc = "The held-out images: a fraction, those of a folder in root, those of a list, or a "
              "fold.",
       .example = "{fraction: 0.2}"});
    f("extensions", extensions,
      {.doc = "Files that count as images, whatever the case of the letters.", .min_items = 1});
    images.fields(f);
    f.require(exactly_one({"pattern", "labels"}));
    f.require(exactly_one({"valid.folder", "valid.fraction", "valid.list", "valid.fold"}));
  }
};

/// From names to labels.
class Labeler {
 public:
  explicit Labeler(const ImageNamesOptions& options) : of_(options.of) {
    if (options.pattern) whole_.emplace(*options.pattern);
    for (const auto& [label, text] : options.labels) each_.emplace(label, Pattern(text));
  }

  std::string label(const std::string& path) const {
    const auto text = of_ == Of::name ? fs::path(path).filename().string() : path;
    if (!whole_) return only_match(path, text);
    const auto group = whole_->first_group(text);
    if (!group) throw Error(Exit::data, Option{"data.pattern"}, "'{}' does not match", path);
    if (group->empty())
      throw Error(Exit::data, Option{"data.pattern"}, "'{}' has an empty label", path);
    return *group;
  }

 private:
  std::string only_match(const std::string& path, const std::string& text) const {
    const std::string* found = nullptr;
    for (const auto& [label, pattern] : each_) {
      if (!pattern.matches(text)) continue;
      if (found)
        throw Error(Exit::data, Option{"data.labels"}, "'{}' matches the labels '{}' and '{}'",
                    path, *found, label);
      found = &label;
    }
    if (!found) throw Error(Exit::data, Option{"data.labels"}, "'{}' matches none", path);
    return *found;
  }

  Of of_;
  std::optional<Pattern> whole_;
  std::map<std::string, Pattern> each_;
};

ImageList list_images(const FileSystem& system, const ImageNamesOptions& options,
                      const KnownClasses& known) {
  if (!is_folder(system, options.root))
    throw Error(Exit::data, Option{"data.root"},
                "no folder '{}'; name another, or an archive under data.source", options.root);
  const Labeler labeler(options);
  const auto paths = ImageScan(options.root, options.extensions, system).images("");
  if (paths.empty()) throw Error(Exit::data, "no images in '{}'", options.root);
  std::vector<std::string> labels;
  for (const auto& path : paths) labels.push_back(labeler.label(path));
  ImageList list(system);
  list.root = options.root;
  list.classes = class_order(labels);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto found = std::find(list.classes.begin(), list.classes.end(), labels[i]);
    list.files[0].push_back({paths[i], found - list.classes.begin()});
  }
  divide(list, options.valid);
  number_classes(list, known, classes_in_train(list));
  return list;
}

}  // namespace

Entry<Dataset> image_names_dataset() {
  return entry<Dataset, ImageNamesOptions>(
      "image_names", "Images whose labels are in their names.",
      [](const ImageNamesOptions& options, const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<ImageFiles>(
            list_images(*context.file_system, options, context.classes), options.images, context);
      },
      {"gives_images", "gives_class"});
}

}  // namespace ddptrain
