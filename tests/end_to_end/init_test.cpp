// `init DATA`: from data that no recipe of ours knows to a trained model and predictions.
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

namespace ddptrain::end_to_end {
namespace {

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in\n" << text;
}

/// Writes a recipe called mine, and types what a new user would: the checks, the run (shortened)
/// and the prediction. Returns what init said.
std::string try_out(const Folder& folder, const std::string& data, const std::string& input,
                    const std::vector<std::string>& flags = {}) {
  std::vector<std::string> words{"init", data, "mine.yaml"};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto said = run(words, folder.path());
  EXPECT_EQ(said.code, 0) << said.err;
  expect_in(said.out, "ddptrain run mine.yaml");
  const auto good = run({"validate", "--level", "step", "--strict", "mine.yaml"}, folder.path());
  EXPECT_EQ(good.code, 0) << good.err << good.out << read(folder / "mine.yaml");
  const auto ended = run({"run", "mine.yaml", "train.duration=2 steps"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto predicted = run({"predict", "runs/mine/latest", input}, folder.path());
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_FALSE(predicted.out.empty());
  return said.out;
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
  const auto said = try_out(folder, "my pictures", "my pictures");
  expect_in(said, "36 images in 3 classes: ");
  expect_in(said, "; 32 px");
  expect_in(said, "no validation split: 20 % are taken");
  expect_in(said, "ddptrain predict runs/mine/latest 'my pictures'");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "train: .\n");
  expect_in(recipe, "{type: random_crop, size: 32, padding: 4}");
}

TEST(InitFromData, ImagesInTrainAndVal) {
  const Folder folder;
  const auto said = try_out(folder, shapes(), shapes() + "/val");
  expect_in(said, "160 images in 10 classes: ");
  expect_in(said, "validation split: folder val");
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
  const auto said = try_out(folder, "list.csv", "files");
  expect_in(said, "target: column 'kind'; --target COLUMN takes another");
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
  const auto said = try_out(folder, "rents.csv", "rents.csv");
  expect_in(said, "200 rows in 2 classes: no 67, yes 133");
  expect_in(said, "target: column 'kept'; --target COLUMN takes another");
  expect_in(said, "left out, since they only tell rows apart: flat_id");
  expect_in(read(folder / "mine.yaml"), "task: classification");
}

TEST(InitFromData, RowsWithANumber) {
  const Folder folder;
  write(folder / "rents.csv", rents());
  const auto said = try_out(folder, "rents.csv", "rents.csv", {"--target", "rent"});
  expect_in(said, "200 rows with a number each, 300 to 1492");
  const auto recipe = read(folder / "mine.yaml");
  expect_in(recipe, "task: regression");
  expect_in(recipe, "loss: mse");
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

// What data.valid would find by itself is written, whatever else comes to lie beside it.
TEST(InitFromData, TheValidationFolderOfTextsIsWritten) {
  const Folder folder;
  for (const std::string split : {"training", "Test"})
    for (const std::string name : {"good", "bad"})
      for (int i = 0; i < 10; ++i)
        write(folder / ("texts/" + split + "/" + name + "/" + std::to_string(i) + ".txt"),
              "the film was " + name + " and long, number " + std::to_string(i));
  const auto said = try_out(folder, "texts", "texts/Test");
  expect_in(said, "validation split: folder Test");
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
  refused("semicolons.csv", 3, "columns are separated by ';' or tabs");
  write(folder / "headless.csv", "1,2\n3,4\n");
  refused("headless.csv", 3, "the first line holds numbers; it must name the columns");
  write(folder / "gaps.csv", "a,b,label\n1,2,x\n3,4,\n5,6,y\n7,8,x\n9,1,y\n");
  refused("gaps.csv", 3, "1 row of 5 without a 'label', which is to be predicted");
  copy_shapes(folder / "one", 1);
  refused("one", 3, "a classifier needs two classes or more");
}

}  // namespace
}  // namespace ddptrain::end_to_end
