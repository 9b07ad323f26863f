// data image_points: images with points in them, listed in a CSV file or with a pose file each as
// the Biwi Kinect Head Pose Database has them (fastai's PointBlock and its lesson's get_ctr).
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "data/dataset.h"
#include "data/image/image_files.h"
#include "data/targets/points_target.h"
#include "sources/csv/csv.h"
#include "sources/image/image_csv.h"
#include "sources/image/image_scan.h"
#include "sources/image/pose_file.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// What columns are called.
struct PointColumns {
  std::string path = "path";
  Auto<std::vector<std::string>> points;
  std::optional<std::string> split;
  void fields(Fields& f) {
    f("path", path, {.doc = "The image's file."});
    f("points", points,
      {.doc = "x and y of each point in pixels from the left upper corner, [x1, y1, x2, y2]; auto: "
              "the columns of these names that are there. An empty cell is missing.",
       .items = ItemOrder::distinct});
    f("split", split,
      {.doc = "'train' or 'valid', or as fastai's is_valid 'False' or 'True'; null reads column "
              "'split' if there is one."});
  }
};

/// A file of each image that has the head's turn and place.
struct PoseFiles {
  std::string image_ending = "_rgb.jpg";
  std::string pose_ending = "_pose.txt";
  std::string calibration = "rgb.cal";
  void fields(Fields& f) {
    f("image_ending", image_ending,
      {.doc = "How names of images end; other files are left out.", .min_items = 1});
    f("pose_ending", pose_ending, {.doc = "What their pose files have there.", .min_items = 1});
    f("calibration", calibration,
      {.doc = "The camera's file, relative to root: one for all (fastai takes 01/rgb.cal).",
       .min_items = 1});
  }
};

struct ImagePointsOptions {
  std::optional<std::string> file;
  std::optional<std::string> root;
  PointColumns columns;
  std::optional<PoseFiles> poses;
  OutsidePoints outside = OutsidePoints::keep;
  ValidSpec valid;
  CsvFormat csv;
  ImageFileOptions images;
  void fields(Fields& f) {
    f("file", file,
      {.doc = "CSV file with a row for each image and columns of its points.",
       .path = true,
       .address = AddressUse::file,
       .example = "data/points.csv"});
    f("root", root,
      {.doc = "Folder that paths are relative to, and below which images with pose files are; the "
              "CSV file's own if null.",
       .path = true,
       .address = AddressUse::file});
    f("columns", columns, {.doc = "What the columns are called."});
    f("poses", poses,
      {.doc = "Instead of a CSV file: a pose file for each image, whose one point is the middle of "
              "the head."});
    f("outside", outside,
      {.doc = "keep: a point that a transform moves out of the image stays the target, and one "
              "that is outside in the file is an error. ignore: both count as missing."});
    f("valid", valid,
      {.doc = "The held-out images: a fraction, those of a folder in root, those of a list, or a "
              "fold."});
    csv_field(f, csv);
    images.fields(f);
    f.require(exactly_one({"file", "poses"}));
    f.require(needs("poses", "root"));
    f.require(not_both("valid.folder", "valid.fraction"));
    f.require(not_both("valid.folder", "valid.list"));
    f.require(not_both("valid.fraction", "valid.list"));
  }
};

/// x1, y1, x2, y2, ... as far as they are there.
std::vector<std::string> usual_columns(const Csv& csv) {
  std::vector<std::string> names;
  for (int i = 1;; ++i) {
    const auto number = std::to_string(i);
    if (!csv.column("x" + number) || !csv.column("y" + number)) break;
    names.push_back("x" + number);
    names.push_back("y" + number);
  }
  if (names.empty())
    throw Error(Exit::data, "{}:1: no columns 'x1' and 'y1'; data.columns.points names others",
                csv.path());
  return names;
}

/// Of the options, or of the columns that a checkpoint keeps (Dataset::state).
std::vector<std::string> columns_of(const ImagePointsOptions& options, const Csv& csv) {
  if (options.columns.points.automatic()) return usual_columns(csv);
  const auto& names = *options.columns.points.value;
  if (names.empty() || names.size() % 2 != 0)
    throw Error(Exit::recipe, Option{"data.columns.points"},
                "{} columns; x and y of each point are wanted", names.size());
  return names;
}

ImageList listed(const FileSystem& system, const ImagePointsOptions& options, const Csv& csv,
                 const std::vector<std::string>& names) {
  const auto path = csv.required_column(options.columns.path);
  const auto split = column_of(csv, options.columns.split, "split");
  std::vector<std::size_t> columns;
  for (const auto& name : names) columns.push_back(csv.required_column(name));
  ImageList list(system);
  list.root = options.root.value_or(fs::path(*options.file).parent_path().string());
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.at(row, path).empty()) csv.fail(row, path, "empty");
    auto& files = list.files[split_at(csv, row, split)];
    files.push_back({csv.at(row, path), -1});
    files.back().numbers = numbers_at(csv, row, columns);
  }
  list.groups = groups_at(csv, options.valid, split);
  divide_rows(list, options.valid, csv, split.has_value());
  return list;
}

ImageList with_poses(const FileSystem& system, const ImagePointsOptions& options) {
  const auto& poses = *options.poses;
  const auto& root = *options.root;
  if (!is_folder(system, root))
    throw Error(Exit::data, Option{"data.root"},
                "no folder '{}'; name another, or an archive under data.source", root);
  ImageList list(system);
  list.root = root;
  for (const auto& path : ImageScan(root, image_extensions(), system).images("")) {
    if (!path.ends_with(poses.image_ending)) continue;
    list.files[0].push_back({path, -1});
    list.files[0].back().target =
        path.substr(0, path.size() - poses.image_ending.size()) + poses.pose_ending;
  }
  if (list.files[0].empty())
    throw Error(Exit::data, "no images '*{}' in '{}'; data.poses.image_ending names another ending",
                poses.image_ending, root);
  if (!options.valid.folder && !options.valid.divides())
    throw Error(Exit::data, Option{"data.valid"},
                "names no validation split; write '{fraction: 0.2}', or a folder in root");
  divide(list, options.valid);
  return list;
}

std::vector<ImagePoint> listed_points(const ImageFile& file, const std::string&) {
  std::vector<ImagePoint> points;
  for (std::size_t i = 0; i + 1 < file.numbers.size(); i += 2)
    points.push_back({file.numbers[i], file.numbers[i + 1]});
  return points;
}

ReadPoints pose_points(const FileSystem& system, const ImagePointsOptions& options) {
  const auto path = (fs::path(*options.root) / options.poses->calibration).string();
  const auto calibration = read_calibration(system, path);
  return [calibration, &system](const ImageFile& file, const std::string& root) {
    return std::vector{head_center(system, (fs::path(root) / file.target).string(), calibration)};
  };
}

/// Images that are to be predicted: the columns alone are known.
std::unique_ptr<Dataset> unlabeled(const ImagePointsOptions& options, const DataContext& context) {
  return std::make_unique<ImageFiles>(
      unlabeled_images(context.images, *context.file_system), options.images, context,
      points_target(parse_json(context.fitted).get<std::vector<std::string>>(), options.outside,
                    listed_points));
}

std::unique_ptr<Dataset> open_points(const ImagePointsOptions& options,
                                     const DataContext& context) {
  if (!context.images.empty()) return unlabeled(options, context);
  const auto& system = *context.file_system;
  if (options.poses)
    return std::make_unique<ImageFiles>(
        with_poses(system, options), options.images, context,
        points_target({"x", "y"}, options.outside, pose_points(system, options)));
  const Csv csv(*options.file, options.csv, system);
  const auto names = columns_of(options, csv);
  return std::make_unique<ImageFiles>(listed(system, options, csv, names), options.images, context,
                                      points_target(names, options.outside, listed_points));
}

}  // namespace

Entry<Dataset> image_points_dataset() {
  return entry<Dataset, ImagePointsOptions>("image_points", "Images with points in them.",
                                            open_points,
                                            {"gives_images", "gives_points", "predicts_images"});
}

}  // namespace ddptrain
