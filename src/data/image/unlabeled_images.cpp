// data unlabeled_images: every image below a folder, labels unknown; what `predict` reads.
#include "base/error.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "sources/image/image_scan.h"

namespace ddptrain {
namespace {

struct UnlabeledImagesOptions {
  std::string root;
  std::vector<std::string> extensions = image_extensions();
  ImageFileOptions images;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the images.",
       .required = true,
       .path = true,
       .address = AddressUse::folder,
       .example = "data/images"});
    f("extensions", extensions,
      {.doc = "Files that count as images, whatever the case of the letters.", .min_items = 1});
    images.fields(f);
  }
};

// Both splits are the same images: the valid transforms are the ones that matter.
ImageList list_images(const FileSystem& system, const UnlabeledImagesOptions& options) {
  if (!is_folder(system, options.root)) throw Error(Exit::data, "no folder '{}'", options.root);
  ImageList list(system);
  list.root = options.root;
  for (const auto& path : ImageScan(options.root, options.extensions, system).images(""))
    list.files[0].push_back({path, -1});
  if (list.files[0].empty()) throw Error(Exit::data, "no images in '{}'", options.root);
  list.files[1] = list.files[0];
  return list;
}

}  // namespace

Entry<Dataset> unlabeled_images_dataset() {
  return entry<Dataset, UnlabeledImagesOptions>(
      "unlabeled_images", "Every image below a folder, labels unknown; what predict reads.",
      [](const UnlabeledImagesOptions& options,
         const DataContext& context) -> std::unique_ptr<Dataset> {
        return std::make_unique<ImageFiles>(list_images(*context.file_system, options),
                                            options.images, context);
      },
      {"gives_images"});
}

}  // namespace ddptrain
