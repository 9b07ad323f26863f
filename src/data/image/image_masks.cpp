// data image_masks: images with a class for each pixel (fastai's
// SegmentationDataLoaders.from_label_func), a PNG file of its own for each.
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "data/targets/mask_target.h"
#include "sources/image/image_scan.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

struct ImageMasksOptions {
  std::string root;
  std::string images = "images";
  std::string masks = "masks";
  std::string mask_name = "{stem}.png";
  CodesOption codes;
  std::vector<std::int64_t> values;
  std::vector<std::string> void_codes;
  ValidFiles valid;
  std::vector<std::string> extensions = image_extensions();
  ImageFileOptions files;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the data.",
       .required = true,
       .path = true,
       .address = AddressUse::folder,
       .example = "data/camvid"});
    f("images", images, {.doc = "Folder of the images in root; '.' is root itself."});
    f("masks", masks, {.doc = "Folder of their masks in root, with the same folders in it."});
    f("mask_name", mask_name,
      {.doc = "What the mask of an image is called; {stem} stands for the image's name without its "
              "extension, as in '{stem}_P.png'.",
       .min_items = 1});
    f("codes", codes,
      {.doc = "The classes in order of their numbers in a mask: names, or a file in root with one "
              "in each line.",
       .required = true,
       .example = "[sky, building, road]"});
    f("values", values,
      {.doc = "The numbers that the codes have in the files, where they are not 0, 1, 2, ...",
       .min = 0,
       .max = 255,
       .items = ItemOrder::distinct});
    f("void", void_codes,
      {.doc = "Codes, or numbers in the files, of pixels that are neither trained nor scored; "
              "borders that transforms add are such too (without any, they are the first class).",
       .items = ItemOrder::distinct});
    f("valid", valid,
      {.doc = "The held-out images: a fraction, those of a folder in root, those of a list, or a "
              "fold.",
       .example = "{fraction: 0.2}"});
    f("extensions", extensions,
      {.doc = "Files that count as images, whatever the case of the letters.", .min_items = 1});
    files.fields(f);
    f.require(exactly_one({"valid.folder", "valid.fraction", "valid.list", "valid.fold"}));
  }
};

/// Of an image below root.
std::string mask_of(const std::string& image, const ImageMasksOptions& options) {
  const auto below = fs::path(image).lexically_relative(fs::path(options.images));
  auto name = options.mask_name;
  constexpr std::string_view stem = "{stem}";
  for (auto at = name.find(stem); at != std::string::npos; at = name.find(stem, at)) {
    const auto own = below.stem().string();
    name.replace(at, stem.size(), own);
    at += own.size();
  }
  return (fs::path(options.masks) / below.parent_path() / name).lexically_normal().string();
}

void require_masks(const ImageList& list) {
  std::vector<const ImageFile*> lacking;
  for (const auto& file : list.files[0]) {
    const auto path = (fs::path(list.root) / file.target).string();
    if (list.file_system->info(path).kind == FileKind::none) lacking.push_back(&file);
  }
  if (lacking.empty()) return;
  throw Error(Exit::data,
              "{} of {} in '{}' without a mask: '{}' wants '{}'; data.masks and data.mask_name say "
              "where masks are",
              plural(std::ssize(lacking), "image"), list.files[0].size(), list.root,
              lacking[0]->path, lacking[0]->target);
}

/// Images with their masks; what is a mask of another is none.
std::vector<ImageFile> pairs_in(const FileSystem& system, const ImageMasksOptions& options,
                                const std::string& folder) {
  std::vector<ImageFile> files;
  std::set<std::string> masks;
  for (const auto& path : ImageScan(options.root, options.extensions, system).images(folder)) {
    files.push_back({path, -1});
    files.back().target = mask_of(path, options);
    masks.insert(files.back().target);
  }
  std::erase_if(files, [&](const auto& file) { return masks.contains(file.path); });
  return files;
}

ImageList list_images(const FileSystem& system, const ImageMasksOptions& options, bool skip_bad) {
  const auto place = (fs::path(options.root) / options.images).string();
  const auto folder = fs::path(options.images).lexically_normal().string();
  if (!is_folder(system, place))
    throw Error(Exit::data, Option{"data.images"},
                "no folder '{}'; name another, or an archive under data.source", place);
  ImageList list(system);
  list.root = options.root;
  list.files[0] = pairs_in(system, options, folder == "." ? "" : folder);
  if (list.files[0].empty()) throw Error(Exit::data, "no images in '{}'", place);
  if (!skip_bad) require_masks(list);
  divide(list, options.valid);
  return list;
}

/// As a checkpoint has them: what is predicted needs no file of codes, and other codes are refused.
std::vector<std::string> known_names(const ImageMasksOptions& options, const DataContext& context) {
  const auto& known = context.classes.names;
  if (!context.images.empty()) return known;
  auto names = code_names(options.codes, options.root, *context.file_system);
  if (!known.empty() && names != known)
    throw Error(Exit::data, Option{"data.codes"},
                "other classes than the model was trained with, which are {}", join(known, ", "));
  return names;
}

std::unique_ptr<Dataset> open_masks(const ImageMasksOptions& options, const DataContext& context) {
  const auto& system = *context.file_system;
  auto list = context.images.empty() ? list_images(system, options, context.skip_bad_samples)
                                     : unlabeled_images(context.images, system);
  MaskCodes codes(known_names(options, context), options.values, options.void_codes);
  list.classes = codes.names();
  return std::make_unique<ImageFiles>(std::move(list), options.files, context,
                                      mask_target(std::move(codes), system));
}

}  // namespace

Entry<Dataset> image_masks_dataset() {
  return entry<Dataset, ImageMasksOptions>(
      "image_masks", "Images with a class for each pixel.", open_masks,
      {"gives_images", "gives_masks", "predicts_images", "predicts_files"});
}

}  // namespace ddptrain
