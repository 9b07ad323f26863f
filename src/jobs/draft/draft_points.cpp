// `init` from images with points in them: listed in a CSV file, or with a pose file each.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "jobs/draft/csv_sniff.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/image_profile.h"
#include "jobs/draft/machine.h"
#include "jobs/draft/table_profile.h"
#include "sources/image/image_scan.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// How many points have columns x1, y1, x2, y2, ... of numbers.
std::int64_t listed_points(const TableProfile& profile) {
  const auto has = [&](const std::string& name) {
    return std::any_of(profile.columns.begin(), profile.columns.end(),
                       [&](const auto& column) { return column.name == name && column.numbers(); });
  };
  std::int64_t points = 0;
  while (has(fmt::format("x{}", points + 1)) && has(fmt::format("y{}", points + 1))) ++points;
  return points;
}

/// The lines of a recipe, from `model` on; `found` has a line already, to which sizes are added.
std::string points_recipe(const std::string& data, std::int64_t training,
                          const std::vector<std::string>& sample, std::vector<std::string>& found) {
  const auto profile = image_profile(some_of(sample, 200));
  found[0] += "; " + sizes_text(profile);
  const auto policy = policy_lines(profile, found);
  const int epochs = epochs_for(training);
  return fmt::format(
      "{}\n"
      "data:\n"
      "{}{}\n"
      "batch: {{global: {}}}\n"
      "train: {{duration: {} epochs, channels_last: true}}\n"
      "loss: mse                                # of points from -1 to 1 over the image\n"
      "metrics: [point_distance, rmse]\n"
      "optimizer: {{type: adamw, lr: 2e-3, weight_decay: 1e-2, no_decay: [norm, bias]}}\n{}{}",
      model_lines("type: vision_learner, body: resnet18, y_range: [-1, 1]", "resnet18"), data,
      dense_transforms(profile), fitting_batch(training, 64), epochs,
      closing_lines("point_distance", epochs), policy);
}

std::string pose_of(const std::string& image, const std::string& ending) {
  return image.substr(0, image.size() - ending.size()) + "_pose.txt";
}

/// Images of such an ending, each with a pose file.
std::vector<std::string> images_with_poses(const std::string& root, const std::string& ending) {
  std::vector<std::string> images;
  for (const auto& path : ImageScan(root, image_extensions()).images(""))
    if (path.ends_with(ending)) images.push_back(path);
  const bool all = std::all_of(images.begin(), images.end(), [&](const auto& image) {
    std::error_code unknown;
    return fs::exists(fs::path(root) / pose_of(image, ending), unknown);
  });
  return all ? images : std::vector<std::string>{};
}

/// The first file of the camera, in root or a folder in it; empty where none is.
std::string calibration_in(const std::string& root) {
  const auto files = ImageScan(root, {".cal"}).images("");
  const auto is_rgb = [](const auto& file) { return fs::path(file).filename() == "rgb.cal"; };
  const auto found = std::find_if(files.begin(), files.end(), is_rgb);
  return found == files.end() ? "" : *found;
}

/// A person's images are alike: the last folder is held out, where there are several.
std::string held_out_folder(const std::vector<std::string>& images) {
  std::set<std::string> folders;
  for (const auto& image : images) folders.insert(fs::path(image).parent_path().string());
  return folders.size() < 2 ? "" : *folders.rbegin();
}

Draft draft_pose_files(const InitRequest& request, const std::vector<std::string>& images,
                       const std::string& ending, const std::string& calibration) {
  const auto folder = held_out_folder(images);
  const auto count = static_cast<std::int64_t>(images.size());
  const auto held = std::count_if(images.begin(), images.end(), [&](const auto& image) {
    return fs::path(image).parent_path().string() == folder;
  });
  Draft draft;
  draft.found = {counted(count, "image") + " with a pose file each, one point"};
  draft.found.push_back(found_split(folder.empty() ? "" : "folder " + folder));
  std::string data = fmt::format(
      "  type: image_points\n"
      "  root: {}\n"
      "  poses: {{image_ending: {}, pose_ending: _pose.txt, calibration: {}}}\n",
      yaml_text(request.written), yaml_text(ending), yaml_text(calibration));
  data += folder.empty()
              ? "  valid: {fraction: 0.2, seed: 42}     # 20 % of the images, always the same\n"
              : "  valid: " + yaml_text(folder) +
                    "     # a folder of its own: images of one person are alike\n";
  draft.recipe = points_recipe(data, folder.empty() ? count * 4 / 5 : count - held,
                               paths_below(request.path, images), draft.found);
  return draft;
}

}  // namespace

bool lists_points(const TableProfile& profile) {
  return listed_points(profile) > 0 &&
         std::any_of(profile.columns.begin(), profile.columns.end(), holds_images);
}

Draft draft_points(const InitRequest& request, const TableProfile& profile,
                   const ColumnProfile& paths) {
  const auto root = root_of_paths(profile, paths);
  const auto split = std::find_if(profile.columns.begin(), profile.columns.end(), says_split);
  const bool has_split = split != profile.columns.end();
  Draft draft;
  draft.found = {fmt::format("{} with {} each", counted(profile.rows, "image"),
                             counted(listed_points(profile), "point"))};
  draft.found.push_back(found_split(has_split ? fmt::format("column '{}'", split->name) : ""));
  std::string data = fmt::format("  type: image_points\n  file: {}\n{}", yaml_text(request.written),
                                 csv_lines(profile.csv));
  const auto home = fs::path(request.written).parent_path();
  if (!root.empty()) data += fmt::format("  root: {}\n", yaml_text((home / root).string()));
  data += fmt::format("  columns: {{path: {}{}}}\n", yaml_text(paths.name),
                      has_split ? ", split: " + yaml_text(split->name) : "");
  if (!has_split)
    data += "  valid: {fraction: 0.2, seed: 42}     # 20 % of the images, always the same\n";
  auto folder = fs::path(request.path).parent_path().string();
  if (!root.empty()) folder = (fs::path(folder) / root).string();
  std::vector<std::string> files;
  for (const auto& name : paths.cells.names) files.emplace_back(name);
  draft.recipe = points_recipe(data, has_split ? profile.rows : profile.rows * 4 / 5,
                               paths_below(folder, files), draft.found);
  draft.input = folder.empty() ? "." : folder;
  return draft;
}

std::optional<Draft> draft_poses(const InitRequest& request) {
  const auto calibration = calibration_in(request.path);
  if (calibration.empty()) return {};
  for (const std::string ending : {"_rgb.jpg", "_rgb.png"})
    if (const auto images = images_with_poses(request.path, ending); !images.empty())
      return draft_pose_files(request, images, ending, calibration);
  return {};
}

}  // namespace ddptrain
