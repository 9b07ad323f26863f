// `init` from a folder of images and a folder of a mask for each.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "data/image/usual_transforms.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/image_profile.h"
#include "jobs/draft/machine.h"
#include "sources/image/image_scan.h"
#include "sources/image/mask_codes.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// More numbers than that in masks without a file of codes are the grays of an image.
constexpr std::size_t kMostCodes = 64;
constexpr std::size_t kVoidNumber = MaskCodes::void_code;

struct MaskFolders {
  std::string images, masks;       // in root
  std::string mask_name;           // "{stem}_P.png"
  std::vector<std::string> files;  // images below root
};

std::string mask_of_image(const MaskFolders& folders, const std::string& image) {
  const auto below = fs::path(image).lexically_relative(folders.images);
  const auto name = below.stem().string() + folders.mask_name.substr(6);
  return (fs::path(folders.masks) / below.parent_path() / name).lexically_normal().string();
}

bool all_have_masks(const std::string& root, const MaskFolders& folders) {
  return std::all_of(folders.files.begin(), folders.files.end(), [&](const auto& image) {
    std::error_code unknown;
    return fs::exists(fs::path(root) / mask_of_image(folders, image), unknown);
  });
}

/// Finds how masks are called by that of the first image; false where not every image has one.
bool find_mask_name(const std::string& root, MaskFolders& folders) {
  const auto below = fs::path(folders.files[0]).lexically_relative(folders.images);
  const auto stem = below.stem().string();
  const auto home = fs::path(folders.masks) / below.parent_path();
  for (const auto& mask : ImageScan(root, {".png"}).images(home.lexically_normal().string())) {
    const auto name = fs::path(mask).filename().string();
    if (!name.starts_with(stem)) continue;
    folders.mask_name = "{stem}" + name.substr(stem.size());
    if (all_have_masks(root, folders)) return true;
  }
  return false;
}

std::optional<MaskFolders> mask_folders(const std::string& root) {
  MaskFolders folders;
  folders.images = folder_called(root, {"images", "image", "imgs", "img"});
  folders.masks = folder_called(root, {"masks", "mask", "labels", "label", "annotations"});
  if (folders.images.empty() || folders.masks.empty()) return {};
  folders.files = ImageScan(root, image_extensions()).images(folders.images);
  if (folders.files.empty() || !find_mask_name(root, folders)) return {};
  return folders;
}

/// The numbers that masks hold; nothing where one of the files is no mask.
std::optional<std::bitset<256>> numbers_in(const std::string& root, const MaskFolders& folders,
                                           const std::vector<std::string>& images) {
  std::bitset<256> numbers;
  for (const auto& image : images) try {
      const auto path = (fs::path(root) / mask_of_image(folders, image)).string();
      const auto bytes = read_text(path);
      const auto mask =
          decode_mask({{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, path});
      for (const auto number : mask.bytes) numbers.set(number);
    } catch (const Error&) {
      return {};
    }
  return numbers;
}

/// Lines about codes, and the names of classes.
struct FoundCodes {
  std::string lines;
  std::vector<std::string> names;
};

bool is_void_name(const std::string& name) {
  constexpr std::array<std::string_view, 4> words{"void", "unlabeled", "unlabeled", "ignore"};
  return std::find(words.begin(), words.end(), lower(name)) != words.end();
}

/// Of a file of codes, with which the numbers in masks must agree.
FoundCodes codes_of_file(const std::string& root, const std::bitset<256>& numbers) {
  FoundCodes found;
  found.names = code_names({.file = "codes.txt", .names = {}}, root);
  for (std::size_t number = found.names.size(); number < kVoidNumber; ++number)
    if (numbers.test(number))
      throw Error(Exit::data, "{}: a mask holds {}, and codes.txt names {}, from 0 on", root,
                  number, counted(std::ssize(found.names), "class"));
  std::vector<std::string> voids;
  for (const auto& name : found.names)
    if (is_void_name(name)) voids.push_back(name);
  if (numbers.test(kVoidNumber) && found.names.size() <= kVoidNumber) voids.emplace_back("255");
  found.lines = "  codes: codes.txt\n";
  if (!voids.empty())
    found.lines += fmt::format("  void: {}     # neither trained nor scored\n", yaml_list(voids));
  return found;
}

/// Names for the numbers themselves. 255 is void, unless it is one of two: then it is the object.
std::optional<FoundCodes> codes_of_numbers(const std::bitset<256>& numbers) {
  std::vector<std::string> names, values;
  for (std::size_t number = 0; number <= kVoidNumber; ++number) {
    if (!numbers.test(number) || (number == kVoidNumber && names.size() > 1)) continue;
    values.push_back(std::to_string(number));
    names.push_back("class_" + values.back());
  }
  if (names.size() < 2 || names.size() > kMostCodes) return {};
  FoundCodes found{fmt::format("  codes: {}     # name them\n", yaml_list(names)), names};
  if (values.back() != std::to_string(values.size() - 1))
    found.lines += fmt::format("  values: [{}]\n", join(values, ", "));
  if (numbers.test(kVoidNumber) && values.back() != "255")
    found.lines += "  void: [\"255\"]     # neither trained nor scored\n";
  return found;
}

std::optional<FoundCodes> codes_of(const std::string& root, const MaskFolders& folders) {
  std::error_code unknown;
  const bool named = fs::exists(fs::path(root) / "codes.txt", unknown);
  const auto numbers =
      numbers_in(root, folders, named ? some_of(folders.files, 200) : folders.files);
  if (!numbers) return {};
  return named ? codes_of_file(root, *numbers) : codes_of_numbers(*numbers);
}

/// The line about validation, what to say of it, and how many images are left for training.
struct FoundValid {
  std::string line, words;
  std::int64_t training = 0;
};

FoundValid valid_of(const InitRequest& request, const MaskFolders& folders) {
  const auto all = static_cast<std::int64_t>(folders.files.size());
  const auto home = (fs::path(request.path) / folders.images).string();
  if (const auto name = folder_called(home, {"val", "valid", "validation", "test"});
      !name.empty()) {
    const auto folder = folders.images + "/" + name;
    const auto held = std::count_if(folders.files.begin(), folders.files.end(),
                                    [&](const auto& f) { return f.starts_with(folder + "/"); });
    if (held > 0 && held < all)
      return {fmt::format("  valid: {}\n", yaml_text(folder)), "folder " + folder, all - held};
  }
  for (const std::string name : {"valid.txt", "val.txt"})
    if (std::error_code unknown; fs::exists(fs::path(request.path) / name, unknown))
      return {"  valid: {list: " + yaml_text((fs::path(request.written) / name).string()) + "}\n",
              fmt::format("those that {} lists", name), all * 4 / 5};
  return {"  valid: {fraction: 0.2, seed: 42}     # 20 % of the images, always the same\n", "",
          all * 4 / 5};
}

std::string masks_recipe(const std::string& data, std::int64_t training,
                         const std::vector<std::string>& sample, std::vector<std::string>& found) {
  const auto profile = image_profile(sample);
  found[0] += "; " + sizes_text(profile);
  const auto policy = policy_lines(profile, found);
  const int epochs = epochs_for(training);
  return fmt::format(
      "{}\n"
      "data:\n"
      "{}{}\n"
      "batch: {{global: {}}}\n"
      "train: {{duration: {} epochs, channels_last: true}}\n"
      "loss: cross_entropy\n"
      "metrics: [accuracy, jaccard_coeff_multi, per_class_iou]\n"
      "optimizer: {{type: adamw, lr: 1e-3, weight_decay: 1e-2, no_decay: [norm, bias]}}\n{}{}",
      model_lines("type: unet, body: resnet18", "resnet18"), data, dense_transforms(profile),
      fitting_batch(training, 16), epochs, closing_lines("jaccard_coeff_multi", epochs), policy);
}

}  // namespace

std::string dense_transforms(const ImageProfile& profile) {
  const int side = usual_side(profile.middle());
  const auto scaled = [&](int length) {
    const int shorter = std::min(profile.first.width, profile.first.height);
    return profile.one_size ? std::max(1, (length * side / shorter + 16) / 32) * 32 : side;
  };
  const auto size =
      fmt::format("[{}, {}]", scaled(profile.first.height), scaled(profile.first.width));
  return "  transforms:\n    train:\n      - {type: fastai_augment, size: " + size +
         "}     # larger: more detail, and slower; mirrors images\n"
         "      - {type: normalize, preset: imagenet}\n    valid:\n      - {type: resize, size: " +
         size + "}\n      - {type: normalize, preset: imagenet}\n";
}

std::optional<Draft> draft_masks(const InitRequest& request) {
  const auto folders = mask_folders(request.path);
  const auto codes = folders ? codes_of(request.path, *folders) : std::nullopt;
  if (!codes) return {};
  const auto valid = valid_of(request, *folders);
  Draft draft;
  draft.found = {
      fmt::format("{} with a mask each, {}: {}{}",
                  counted(static_cast<std::int64_t>(folders->files.size()), "image"),
                  counted(static_cast<std::int64_t>(codes->names.size()), "class"),
                  join({codes->names.begin(),
                        codes->names.begin() + std::min<std::ptrdiff_t>(8, codes->names.size())},
                       ", "),
                  codes->names.size() > 8 ? ", ..." : "")};
  draft.found.push_back(found_split(valid.words));
  const auto data = fmt::format(
      "  type: image_masks\n"
      "  root: {}\n"
      "  images: {}\n"
      "  masks: {}\n"
      "  mask_name: {}\n{}{}",
      yaml_text(request.written), yaml_text(folders->images), yaml_text(folders->masks),
      yaml_text(folders->mask_name), codes->lines, valid.line);
  draft.recipe = masks_recipe(data, valid.training,
                              paths_below(request.path, some_of(folders->files, 200)), draft.found);
  draft.input = (fs::path(request.path) / folders->images).string();
  draft.output = "predicted";
  return draft;
}

}  // namespace ddptrain
