// `init` from a folder of images.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "data/image/usual_transforms.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/image_profile.h"
#include "jobs/draft/machine.h"
#include "sources/image/image_scan.h"
#include "sources/split/pattern.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// "cat.0.jpg", "cat_17.jpg", "cat (3).jpg": a word and a number.
constexpr const char* kWordAndNumber = R"(^(.*[^\d ._()-])[ ._(-]*\d+\)?\.\w+$)";

/// Small images of one size are taken whole, in random places of a border.
Node tiny_transforms(int side) {
  const auto size = std::to_string(side);
  Node lists = usual_transforms(side);
  auto crop = Node::map({{"type", {}, Node::scalar("random_crop")}});
  crop.set("size", Node::scalar(size));
  crop.set("padding", Node::scalar(std::to_string(std::max(1, side / 8))));
  auto& train = *lists.find("train");
  auto& valid = *lists.find("valid");
  train.items[0] = crop;
  valid.items.erase(valid.items.begin());
  return lists;
}

// Digits and letters are not what they were in a mirror.
std::string flip_line(const ImageProfile& profile) {
  return profile.gray && profile.tiny()
             ? "      # - horizontal_flip               # where left and right do not matter\n"
             : "      - horizontal_flip                 # leave it out where left and right "
               "matter\n";
}

std::string transform_lines(const ImageProfile& profile) {
  const auto lists = profile.tiny() ? tiny_transforms(profile.middle())
                                    : usual_transforms(usual_side(profile.middle()));
  std::string lines = "  transforms:\n";
  for (const auto& split : lists.members) {
    lines += fmt::format("    {}:\n", split.key);
    for (const auto& item : split.value.items)
      lines += item.is_scalar() ? flip_line(profile) : fmt::format("      - {}\n", to_flow(item));
  }
  return lines;
}

Draft from_class_folders(const InitRequest& request, const ClassFolders& folders,
                         const std::vector<std::string>& files) {
  Draft draft;
  draft.found = found_classes(folders.classes, "image");
  add_unscored(folders, draft.found);
  draft.found.push_back(found_split(folders.valid.empty() ? "" : "folder " + folders.valid));
  std::string data = fmt::format("  type: image_folder\n  root: {}\n", yaml_text(request.written));
  data += split_lines(folders);
  std::vector<std::string> names;
  for (const auto& one : folders.classes) names.push_back(one.name);
  if (!folders.siblings.empty() || !folders.unscored.empty())
    data += fmt::format("  classes: {}\n", yaml_list(names));
  if (!folders.siblings.empty())
    draft.found.push_back("no images in " + join(folders.siblings, ", ") + ", which is left out");
  note_other_formats(request.path, draft.found);
  const auto sample = paths_below(request.path, some_of(files, 200));
  draft.recipe = image_recipe(
      data, {folders.classes, training_samples(folders.classes, !folders.valid.empty())}, sample,
      draft.found);
  return draft;
}

/// Classes by file names, where those are a word and a number and most words are met often.
std::vector<ClassCount> classes_by_name(const std::vector<std::string>& files) {
  const Pattern pattern(kWordAndNumber);
  std::map<std::string, std::int64_t> counts;
  for (const auto& file : files) {
    const auto label = pattern.first_group(fs::path(file).filename().string());
    if (!label) return {};
    ++counts[*label];
  }
  std::vector<ClassCount> classes;
  for (const auto& [name, count] : counts) classes.push_back({name, count, 0});
  const bool evident = classes.size() >= 2 && 5 * classes.size() <= files.size();
  return evident ? classes : std::vector<ClassCount>{};
}

Draft from_names(const InitRequest& request, const std::vector<std::string>& files) {
  const auto classes = classes_by_name(files);
  if (classes.empty())
    throw Error(Exit::data,
                "{} in '{}', and nothing says what they show; put those of each class into a "
                "folder of its own, or give a CSV file with the columns path and label",
                counted(static_cast<std::int64_t>(files.size()), "image"), request.path);
  Draft draft;
  draft.found = found_classes(classes, "image");
  draft.found[0] += " (by file name)";
  draft.found.push_back(found_split(""));
  const auto data = fmt::format(
      "  type: image_names\n"
      "  root: {}\n"
      "  pattern: '{}'     # its first group is the label\n"
      "  valid: {{fraction: 0.2, seed: 42}}     # 20 % of the samples, always the same\n",
      yaml_text(request.written), kWordAndNumber);
  draft.recipe = image_recipe(data, {classes, training_samples(classes, false)},
                              paths_below(request.path, some_of(files, 200)), draft.found);
  return draft;
}

}  // namespace

std::string image_recipe(const std::string& data, const ImageLabels& labels,
                         const std::vector<std::string>& sample, std::vector<std::string>& found) {
  const auto profile = image_profile(sample);
  found[0] += "; " + sizes_text(profile);
  const auto policy = policy_lines(profile, found);
  const auto batch = std::to_string(fitting_batch(labels.training, 64));
  const int epochs = epochs_for(labels.training);
  std::string text = fmt::format(
      "{}\n"
      "data:\n"
      "{}{}\n"
      "batch: {{global: {}}}\n"
      "train: {{duration: {} epochs, channels_last: true}}\n",
      model_lines("type: resnet18", "resnet18"), data, transform_lines(profile), batch, epochs);
  const std::string metric = labels.several ? "accuracy_multi" : "accuracy";
  text += labels.several ? "loss: bce_with_logits                    # any number of labels each\n"
                         : "loss: {type: cross_entropy, label_smoothing: 0.1}\n";
  const bool more = !labels.several && is_unbalanced(labels.classes);
  return fmt::format(
      "{}metrics: [{}{}]\n"
      "optimizer: {{type: adamw, lr: 1e-3, weight_decay: 5e-2, no_decay: [norm, bias]}}\n{}{}",
      text, metric, more ? ", {type: f1, average: macro}" : "", closing_lines(metric, epochs),
      policy);
}

Draft draft_images(const InitRequest& request) {
  const ImageScan scan(request.path, image_extensions());
  const auto list = [&](const std::string& folder) { return scan.images(folder); };
  const auto folders = class_folders_of(request.path, list);
  if (!folders) return from_names(request, scan.images("."));
  return from_class_folders(request, *folders, scan.images(folders->train));
}

}  // namespace ddptrain
