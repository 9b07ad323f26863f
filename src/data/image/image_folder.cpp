// data image_folder: a folder per class, in one folder per split.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "sources/image/image_scan.h"
#include "sources/split/class_folders.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

struct ImageFolderOptions {
  std::string root;
  std::string train = "train";
  ValidFiles valid;
  std::vector<std::string> classes;
  std::vector<std::string> extensions = image_extensions();
  ImageFileOptions images;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the data.",
       .required = true,
       .path = true,
       .address = AddressUse::folder,
       .example = "data/imagenette2-160"});
    f("train", train, {.doc = "Folder in root with a folder per class; '.' is root itself."});
    f("valid", valid,
      {.doc = "Folder of the validation samples (the first of val, valid, validation and test by "
              "default), a fraction of the training samples, those of a list, or a fold."});
    f("classes", classes,
      {.doc = "The class folders to take; none takes all that are there.",
       .items = ItemOrder::distinct});
    f("extensions", extensions,
      {.doc = "Files that count as images, whatever the case of the letters.", .min_items = 1});
    images.fields(f);
  }
};

bool is_class_folder(const FileEntry& entry) {
  return entry.kind == FileKind::folder && !is_hidden(entry.path);
}

void require_folder(const FileSystem& files, const fs::path& folder, const std::string& option) {
  if (is_folder(files, folder.string())) return;
  throw Error(Exit::data, Option{option},
              "no folder '{}'; name another, or an archive under data.source", folder.string());
}

/// All that are there, or those that were asked for, sorted. A trained model's data may lack some.
std::vector<std::string> chosen_classes(const FileSystem& files, const fs::path& folder,
                                        std::vector<std::string> asked, bool may_lack) {
  const auto there = class_folders(files, folder.string(), "data.train", is_class_folder);
  if (asked.empty()) return there;
  std::sort(asked.begin(), asked.end());
  for (std::size_t i = 0; i < asked.size() && !may_lack; ++i)
    if (!std::binary_search(there.begin(), there.end(), asked[i]))
      throw Error(Exit::data, Option{"data.classes"}, "no folder '{}'",
                  (folder / asked[i]).string());
  return asked;
}

struct ClassChoice {
  bool all = true;        // not only those that the recipe lists
  bool may_lack = false;  // a trained model's data need not have each
};

void add_split(ImageList& list, Split split, const std::string& folder, const ImageScan& scan,
               const ClassChoice& choice) {
  const auto path = fs::path(list.root) / folder;
  const std::string option = split == Split::train ? "data.train" : "data.valid";
  auto& files = list.files[static_cast<std::size_t>(split)];
  for (const auto& name :
       class_folders(*list.file_system, path.string(), option, is_class_folder)) {
    auto found = std::find(list.classes.begin(), list.classes.end(), name);
    if (found == list.classes.end() && !choice.all) continue;
    if (found == list.classes.end()) found = list.classes.insert(found, name);
    const auto paths = scan.images((fs::path(folder) / name).lexically_normal().string());
    if (paths.empty() && split == Split::train && !choice.may_lack)
      throw Error(Exit::data, "class folder '{}' has no images", (path / name).string());
    for (const auto& each : paths) files.push_back({each, found - list.classes.begin()});
  }
  if (files.empty()) throw Error(Exit::data, "no images in '{}'", path.string());
}

ImageList list_images(const FileSystem& system, const ImageFolderOptions& options,
                      const KnownClasses& known) {
  const fs::path root = options.root;
  require_folder(system, root, "data.root");
  require_split(system, options.root, options.train);
  const ImageScan scan(options.root, options.extensions, system);
  ImageList list(system);
  list.root = options.root;
  const ClassChoice choice{options.classes.empty(), known.from_checkpoint()};
  list.classes = chosen_classes(system, root / options.train, options.classes, choice.may_lack);
  const auto own = list.classes;
  if (list.classes.empty())
    throw Error(Exit::data, "no class folders in '{}'", (root / options.train).string());
  add_split(list, Split::train, options.train, scan, choice);
  if (options.valid.divides()) {
    say_unused_folder(system, options.valid, options.root, options.train);
    hold_out(list, options.valid);
  } else {
    const auto valid = validation_folder(system, options.valid, options.root);
    require_folder(system, root / valid, "data.valid");
    add_split(list, Split::valid, valid, scan, choice);
  }
  number_classes(list, known, own);
  return list;
}

}  // namespace

Entry<Dataset> image_folder_dataset() {
  return entry<Dataset, ImageFolderOptions>(
      "image_folder", "Images in a folder per class.",
      [](const ImageFolderOptions& options,
         const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<ImageFiles>(
            list_images(*context.file_system, options, context.classes), options.images, context);
      },
      {"gives_images", "gives_class", "finds_valid"});
}

}  // namespace ddptrain
