#include <gmock/gmock.h>

#include <filesystem>

#include "data/image_data.h"
#include "sources/shards/parquet_images.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// The files in the rows of images.parquet (tests/golden/parquet/images.py).
const std::vector<std::string> kRowFiles{"a_rgb.jpg",  "a_palette.png", "a_rgb_420_q60.jpg",
                                         "a_grey.jpg", "a_rgb.jpg",     "a_exif.jpg"};

json parquet_section(const TemporaryFolder& folder, const json& more = json::object()) {
  for (const auto* name : {"train-0.parquet", "validation-0.parquet"})
    folder.write(name, read_text(test::in_source("tests/golden/parquet/images.parquet")));
  const json steps = json::array({{{"type", "resize"}, {"size", {4, 4}}}});
  json made = {{"type", "image_parquet"},
               {"root", folder.path()},
               {"valid", "validation-*.parquet"},
               {"transforms", {{"train", steps}, {"valid", steps}}}};
  made.update(more);
  return made;
}

TEST(ImageParquet, HasTheClassesOfItsMetadataAndARowGroupIsAShard) {
  const TemporaryFolder folder;
  const auto data = build_data(parquet_section(folder));
  EXPECT_THAT(data->facts().classes, ElementsAre("cat", "dog", "bird"));
  ASSERT_EQ(data->size(Split::train), 6);
  std::vector<std::int64_t> labels, shards;
  for (std::int64_t i = 0; i < 6; ++i) {
    labels.push_back(data->label(Split::train, i));
    shards.push_back(data->shard(Split::train, i));
  }
  EXPECT_THAT(labels, ElementsAre(0, 1, 1, 2, 0, 1));
  EXPECT_THAT(shards, ElementsAre(0, 0, 0, 1, 1, 1));
}

TEST(ImageParquet, ReadsTheFilesInItsRowsInAnyOrder) {
  const TemporaryFolder folder;
  parquet_section(folder);
  for (const auto* column : {"image", "raw"}) {
    ParquetImages files(local_files(), 1 << 20);
    const auto path = folder / "train-0.parquet";
    files.add(path, column);
    for (const std::size_t row : {5, 0, 3, 1, 4, 2, 2})
      EXPECT_EQ(files.read(path + "/" + std::to_string(row), 0, 1 << 20), image(kRowFiles[row]));
    EXPECT_EQ(files.info(path + "/6").kind, FileKind::none);
    EXPECT_EQ(files.info(path).kind, FileKind::file);
  }
}

TEST(ImageParquet, KeepsRowGroupsUntilTheirLastRead) {
  const TemporaryFolder folder;
  parquet_section(folder);
  ParquetImages files(local_files(), 1 << 20);
  const auto path = folder / "train-0.parquet";
  files.add(path, "image");
  const std::vector<std::string> groups{ParquetImages::group_name(path, 0),
                                        ParquetImages::group_name(path, 1)};
  files.announce(0, groups, std::vector<std::int32_t>{0, 1, 0, 1});
  for (const std::size_t row : {0, 3, 1, 4, 2})  // one more than was announced
    EXPECT_EQ(files.read(path + "/" + std::to_string(row), 0, 1 << 20), image(kRowFiles[row]));
}

TEST(ImageParquet, LoadsImagesAndLabelsOfOtherColumns) {
  const TemporaryFolder folder;
  const auto data = build_data(parquet_section(folder, {{"image", "raw"}, {"label", "word"}}));
  EXPECT_THAT(data->facts().classes, ElementsAre("x", "y"));
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_TRUE(load_one(*data, Split::valid, i).good);
}

TEST(ImageParquet, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto file = folder / "train-0.parquet";
  const auto problem = [&](const json& more) {
    return data_problem(parquet_section(folder, more));
  };
  EXPECT_EQ(problem({{"image", "none"}}), "data.image: " + file + ": no column 'none'");
  EXPECT_EQ(problem({{"image", "label"}}),
            "data.image: " + file + ": column 'label' holds int64, no files");
  EXPECT_EQ(problem({{"label", "none"}}), "data.label: " + file + ": no column 'none'");
  EXPECT_EQ(problem({{"classes", {"one", "two"}}}),
            "data.classes: 'train-0.parquet/000003' is of class '2', which is not among 2 class "
            "names");
  EXPECT_EQ(problem({{"train", "other-*.parquet"}}),
            "data.train: no shards (other-*.parquet) in '" + folder.path() + "'");
  folder.write("broken-0.parquet", "PAR1 and nothing else");
  EXPECT_THAT(problem({{"train", "broken-*.parquet"}}), HasSubstr("cannot be read as Parquet"));
  try {
    ParquetImages files(local_files(), 100);
    files.add(file, "image");
    files.announce(0, {ParquetImages::group_name(file, 0)}, std::vector<std::int32_t>{0, 0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.option(), "data.memory");
  }
}

}  // namespace
}  // namespace ddptrain
