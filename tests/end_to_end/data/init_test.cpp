// `init DATA`: from data that no recipe of ours knows to a trained model and predictions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_THAT(text, testing::HasSubstr(part)) << "'" << part << "' is not in\n" << text;
}

/// Writes a recipe called mine and checks it at such a level. Returns the output of init.
std::string drafted(const Folder& folder, const std::string& data, const std::string& level,
                    const std::vector<std::string>& flags = {}) {
  std::vector<std::string> words{"init", data, "mine.yaml"};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto output = run(words, folder.path());
  EXPECT_EQ(output.code, 0) << output.err;
  expect_in(output.out, "ddptrain run mine.yaml");
  const auto good = run({"validate", "--level", level, "--strict", "mine.yaml"}, folder.path());
  EXPECT_EQ(good.code, 0) << good.err << good.out << read(folder / "mine.yaml");
  return output.out;
}

/// Writes a recipe called mine, and types what a new user would: the checks, the run (shortened)
/// and the prediction. Returns the output of init.
std::string try_out(const Folder& folder, const std::string& data, const std::string& input,
                    const std::vector<std::string>& flags = {}) {
  const auto output = drafted(folder, data, "step", flags);
  const auto ended = run({"run", "mine.yaml", "train.duration=2 steps"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto predicted = run({"predict", "runs/mine/latest", input}, folder.path());
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_FALSE(predicted.out.empty());
  return output;
}

/// Some classes of the shapes, a folder each, without a split.
void copy_shapes(const std::string& to, std::size_t classes) {
  const auto from = shapes() + "/train";
  for (const auto& name : list(from)) {
    if (classes-- == 0) break;
    std::filesystem::create_directories(to);
    std::filesystem::copy(from + "/" + name, to + "/" + name,
                          std::filesystem::copy_options::recursive);
  }
}

TEST(InitFromData, ImagesInClassFoldersWithoutASplit) {
  const Folder folder;
  copy_shapes(folder / "my pictures", 3);
  const auto output = try_out(folder, "my pictures", "my pictures");
  expect_in(output, "36 images in 3 classes: ");
  expect_in(output, "; 32 px");
  expect_in(output, "no validation split: 20 % are held out");
  expect_in(output, "ddptrain predict runs/mine/latest 'my pictures'");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "train: .\n");
  expect_in(recipe, "{type: random_crop, size: 32, padding: 4}");
}

// An editor's schema that is there, devices of this machine, and published weights.
TEST(InitFromData, WritesWhatThisMachineHas) {
  const Folder folder;
  copy_shapes(folder / "mine", 3);
  const auto drafted = run({"init", "mine", "-"}, folder.path()).out;
  const std::string start = "# yaml-language-server: $schema=";
  ASSERT_EQ(drafted.rfind(start, 0), 0U) << drafted;
  const auto schema = drafted.substr(start.size(), drafted.find('\n') - start.size());
  EXPECT_TRUE(std::filesystem::is_regular_file(schema)) << schema;
  expect_in(drafted, "parallel: {mode: none, devices: 1}     # this machine: ");
  expect_in(
      drafted,
      "# With weights that know ImageNet far fewer images do; 'ddptrain weights get resnet18' "
      "fetches them:\n# model: {type: resnet18, weights: imagenet}\n");
  std::filesystem::create_directories(folder / "weights");
  write(folder / "weights/resnet18-f37072fd.pth", "of torchvision");
  const auto there =
      run({"init", "mine", "-"}, folder.path(), {{"DDPTRAIN_WEIGHTS", folder / "weights"}}).out;
  expect_in(there,
            "\nmodel: {type: resnet18, weights: imagenet}     # published weights, which are");
}

TEST(InitFromData, ImagesInTrainAndVal) {
  const Folder folder;
  const auto output = try_out(folder, shapes(), shapes() + "/val");
  expect_in(output, "160 images in 10 classes: ");
  expect_in(output, "validation split: folder val");
  expect_in(read(folder / "mine.yaml"), "\n  train: train\n  valid: val     # the folder of the ");
}

TEST(InitFromData, ImagesWhoseNamesAreAWordAndANumber) {
  const Folder folder;
  std::filesystem::create_directories(folder / "pets");
  const auto from = shapes() + "/train";
  int number = 0;
  for (const auto& name : {list(from)[0], list(from)[1]})
    for (const auto& file : list(from + "/" + name))
      std::filesystem::copy(from + "/" + name + "/" + file,
                            folder / ("pets/" + name + "_" + std::to_string(++number) + ".png"));
  expect_in(try_out(folder, "pets", "pets"), "24 images in 2 classes: ");
  expect_in(read(folder / "mine.yaml"), "type: image_names");
}

TEST(InitFromData, ImagesListedInACsvFile) {
  const Folder folder;
  copy_shapes(folder / "files", 2);
  std::string csv = "id,image,kind\n";
  int row = 0;
  for (const auto& name : list(folder / "files"))
    for (const auto& file : list(folder / ("files/" + name)))
      csv += std::to_string(++row) + "," + name + "/" + file + "," + name + "\n";
  write(folder / "list.csv", csv);
  const auto output = try_out(folder, "list.csv", "files");
  expect_in(output, "target: column 'kind'; --target COLUMN takes another");
  expect_in(read(folder / "mine.yaml"), "columns: {path: image, label: kind}");
}

/// Two hundred rows: an identifier, numbers, names with gaps, and two columns that may be targets.
std::string rents() {
  std::string csv = "flat_id,area,town,rent,kept\n";
  for (int i = 0; i < 200; ++i)
    csv += "f" + std::to_string(i) + "," + std::to_string(20 + i * 37 % 150) + "," +
           (i % 7 ? i % 2 ? "Ulm" : "Kiel" : "") + "," + std::to_string(300 + i * 37 % 150 * 8) +
           (i % 3 ? ",yes\n" : ",no\n");
  return csv;
}

TEST(InitFromData, RowsWithAClass) {
  const Folder folder;
  write(folder / "rents.csv", rents());
  const auto output = try_out(folder, "rents.csv", "rents.csv");
  expect_in(output, "200 rows in 2 classes: no 67, yes 133");
  expect_in(output, "target: column 'kept'; --target COLUMN takes another");
  expect_in(output, "left out, since they only tell rows apart: flat_id");
  expect_in(read(folder / "mine.yaml"), "task: classification");
}

TEST(InitFromData, RowsWithANumber) {
  const Folder folder;
  write(folder / "rents.csv", rents());
  const auto output = try_out(folder, "rents.csv", "rents.csv", {"--target", "rent"});
  expect_in(output, "200 rows with a number each, 300 to 1492");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "task: regression");
  expect_in(recipe, "loss: {type: mse, scale: ");
  expect_in(recipe, "y_scale: [");
}

TEST(InitFromData, LeavesOutAClassThatTheValidationFolderLacks) {
  const Folder folder;
  copy_shapes(folder / "mine/train", 3);
  copy_shapes(folder / "mine/valid", 2);
  const auto output = drafted(folder, "mine", "step");
  expect_in(output, "not in the validation split, and left out: " + list(shapes() + "/train")[2]);
}

TEST(InitFromData, TextsInClassFolders) {
  const Folder folder;
  for (int i = 0; i < 30; ++i)
    for (const std::string name : {"good", "bad"}) {
      std::filesystem::create_directories(folder / ("texts/" + name));
      write(folder / ("texts/" + name + "/" + std::to_string(i) + ".txt"),
            "the film was " + name + " and long, number " + std::to_string(i));
    }
  expect_in(try_out(folder, "texts", "texts"), "60 texts in 2 classes: bad 30, good 30");
}

// What data.valid would find by itself is written, whatever else comes to lie next to it.
TEST(InitFromData, TheValidationFolderOfTextsIsWritten) {
  const Folder folder;
  for (const std::string split : {"training", "Test"})
    for (const std::string name : {"good", "bad"})
      for (int i = 0; i < 10; ++i)
        write(folder / ("texts/" + split + "/" + name + "/" + std::to_string(i) + ".txt"),
              "the film was " + name + " and long, number " + std::to_string(i));
  const auto output = try_out(folder, "texts", "texts/Test");
  expect_in(output, "validation split: folder Test");
  expect_in(read(folder / "mine.yaml"), "\n  train: training\n  valid: Test     # the folder of");
}

TEST(InitFromData, TextsInRowsAndInLines) {
  const Folder folder;
  std::string csv = "review,stars\n", lines;
  for (int i = 0; i < 60; ++i) {
    const std::string text = "film " + std::to_string(i) + " was rather " +
                             (i % 2 ? "good and short" : "bad and long") + " for what it is";
    csv += text + (i % 2 ? ",high\n" : ",low\n");
    lines += "{\"body\": \"" + text + "\", \"label\": " + std::to_string(i % 2) + "}\n";
  }
  write(folder / "reviews.csv", csv);
  write(folder / "reviews.jsonl", lines);
  expect_in(try_out(folder, "reviews.csv", "reviews.csv"), "texts: column 'review'");
  std::filesystem::remove(folder / "mine.yaml");
  expect_in(try_out(folder, "reviews.jsonl", "reviews.jsonl"),
            "texts: key 'body'; target: key 'label'");
}

/// Synthetic scenes of that kind in a folder.
void make_scenes(const Folder& folder, const std::string& kind, const std::string& to) {
  const auto made = run({"data", "make", kind, to, "--train", "40", "--val", "8"}, folder.path());
  ASSERT_EQ(made.code, 0) << made.err;
}

TEST(InitFromData, ImagesWithMasksAndAFolderForValidation) {
  const Folder folder;
  make_scenes(folder, "masks", "scenes");
  const auto output = drafted(folder, "scenes", "step");
  expect_in(output, "48 images with a mask each, 4 classes: ground, circle, square, star; 96 px");
  expect_in(output, "validation split: folder images/val");
  expect_in(
      output,
      "ddptrain predict runs/mine/latest scenes/images --checkpoint best --output predicted\n");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "codes: codes.txt\n  void: [\"255\"]");
  expect_in(recipe, "size: [64, 64]}");
  const auto ended = run({"run", "mine.yaml", "train.duration=1 steps"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto predicted = run(
      {"predict", "runs/mine/latest", "scenes/images/val", "--output", "predicted"}, folder.path());
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(list(folder / "predicted").size(), 9U) << "a mask each, and predictions.csv";
}

/// The layout of CamVid: images/NAME.png, labels/NAME_P.png, codes.txt, valid.txt.
void lay_out_as_camvid(const Folder& folder, const std::string& to) {
  make_scenes(folder, "masks", "scenes");
  const auto root = folder / to;
  std::filesystem::create_directories(root + "/images");
  std::filesystem::create_directories(root + "/labels");
  std::string valid;
  for (const std::string split : {"train", "val"})
    for (const auto& name : list(folder / ("scenes/images/" + split))) {
      const auto stem = split + "_" + name.substr(0, name.find('.'));
      const auto below = "/" + split + "/" + name;
      std::filesystem::copy(folder / ("scenes/images" + below), root + "/images/" + stem + ".png");
      std::filesystem::copy(folder / ("scenes/masks" + below), root + "/labels/" + stem + "_P.png");
      if (split == "val") valid += stem + ".png\n";
    }
  write(root + "/codes.txt", "Sky\nVoid\nRoad\nstar");
  write(root + "/valid.txt", valid);
}

TEST(InitFromData, ImagesWithMasksAsCamVidHasThem) {
  const Folder folder;
  lay_out_as_camvid(folder, "camvid");
  const auto output = drafted(folder, "camvid", "data");
  expect_in(output, "48 images with a mask each, 4 classes: Sky, Void, Road, star");
  expect_in(output, "validation split: those that valid.txt lists");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "masks: labels\n  mask_name: \"{stem}_P.png\"\n");
  expect_in(recipe, "void: [Void, \"255\"]");
  expect_in(recipe, "valid: {list: camvid/valid.txt}");
}

TEST(InitFromData, MasksWhoseNumbersNobodyNames) {
  const Folder folder;
  lay_out_as_camvid(folder, "mine");
  std::filesystem::remove(folder / "mine/codes.txt");
  std::filesystem::remove(folder / "mine/valid.txt");
  const auto output = drafted(folder, "mine", "data");
  expect_in(output, "4 classes: class_0, class_1, class_2, class_3");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe,
            "codes: [class_0, class_1, class_2, class_3]     # name them\n  void: [\"255\"]");
  expect_in(recipe, "valid: {fraction: 0.2, seed: 42}");
}

// Where an image has no mask, the folders are what they were: classes, or nothing.
TEST(InitFromData, FoldersThatAreNoMasksAreClasses) {
  const Folder folder;
  lay_out_as_camvid(folder, "two");
  std::filesystem::remove(folder / ("two/labels/" + list(folder / "two/labels")[0]));
  const auto output = run({"init", "two"}, folder.path());
  EXPECT_EQ(output.code, 0) << output.err;
  expect_in(output.out, "95 images in 2 classes: images 48, labels 47");
}

TEST(InitFromData, ImagesWithPointsInACsvFile) {
  const Folder folder;
  make_scenes(folder, "points", "arrows");
  const auto output = try_out(folder, "arrows", "arrows/images");
  expect_in(output, "48 images with 2 points each; 96 px");
  expect_in(output, "validation split: column 'split'");
  expect_in(output, "ddptrain predict runs/mine/latest arrows --checkpoint best\n");
  expect_in(read(folder / "mine.yaml"), "  type: image_points\n  file: arrows/points.csv\n");
}

/// Biwi's layout: 01/frame_1_rgb.png, 01/frame_1_pose.txt, a camera's file.
TEST(InitFromData, ImagesWithPoseFilesAsBiwiHasThem) {
  const Folder folder;
  make_scenes(folder, "points", "arrows");
  int count = 0;
  for (const auto& name : list(folder / "arrows/images")) {
    const std::string person = ++count % 3 ? count % 3 == 1 ? "01" : "02" : "03";
    const auto stem = folder / ("biwi/" + person + "/frame_" + std::to_string(count));
    std::filesystem::create_directories(folder / ("biwi/" + person));
    std::filesystem::copy(folder / ("arrows/images/" + name), stem + "_rgb.png");
    write(stem + "_pose.txt", "1 0 0\n0 1 0\n0 0 1\n\n" + std::to_string(count) + " 5 100\n");
  }
  write(folder / "biwi/01/rgb.cal", "50 0 48\n0 50 48\n0 0 1\n");
  const auto output = try_out(folder, "biwi", "biwi");
  expect_in(output, "48 images with a pose file each, one point; 96 px");
  expect_in(output, "validation split: folder 03");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe,
            "poses: {image_ending: _rgb.png, pose_ending: _pose.txt, calibration: 01/rgb.cal}");
  expect_in(recipe, "valid: 03     # a folder");
}

TEST(InitFromData, RatingsByTheNamesOfTheirColumns) {
  const Folder folder;
  ASSERT_EQ(run({"data", "make", "ratings", ".", "--rows", "400"}, folder.path()).code, 0);
  auto csv = read(folder / "ratings.csv");
  csv.replace(0, csv.find('\n'), "userId,movieId,rating");
  write(folder / "films.csv", csv);
  const auto output = try_out(folder, "films.csv", "films.csv");
  expect_in(output, "400 ratings by ");
  expect_in(output, "users: column 'userId'; items: column 'movieId'; ratings: column 'rating'");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "  type: ratings\n");
  expect_in(recipe, "y_range: [0, 5.5]");
  const auto table = run({"init", "films.csv", "-", "--target", "rating"}, folder.path());
  expect_in(table.out, "type: csv_table");
  csv.replace(0, csv.find('\n'), "a,b,rating");
  write(folder / "films.csv", csv);
  expect_in(run({"init", "films.csv", "-"}, folder.path()).out, "type: csv_table");
}

TEST(InitFromData, SaysWhatIsWantedWhereNothingFits) {
  const Folder folder;
  const auto refused = [&](const std::string& data, int code, const std::string& why) {
    const auto ended = run({"init", data}, folder.path());
    EXPECT_EQ(ended.code, code);
    expect_in(ended.err, why);
  };
  std::filesystem::create_directories(folder / "empty");
  refused(
      "empty", 3,
      "no images (.jpg, .png, .webp), texts (.txt) or tables (.csv, .jsonl, .parquet) in 'empty'");
  refused("not/there", 2, "'not/there' is neither a file or folder nor a built-in recipe");
  write(folder / "semicolons.csv", "a;b\n1;2\n");
  refused("semicolons.csv", 3, "no column looks like a target; name one with --target: a, b");
  write(folder / "gaps.csv", "a,b,label\n1,2,x\n3,4,\n5,6,y\n7,8,x\n9,1,y\n");
  refused("gaps.csv", 3, "1 row of 5 without a 'label', which is to be predicted");
  copy_shapes(folder / "one", 1);
  refused("one", 3, "a classifier needs two classes or more");
}

}  // namespace
}  // namespace ddptrain::end_to_end
