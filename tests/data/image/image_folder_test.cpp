#include <gmock/gmock.h>

#include <set>

#include "data/image_data.h"
#include "support/refused.h"
#include "support/unreadable.h"
#include "transforms/codecs/write.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StrEq;

/// Two classes in train and valid, one file nested, others to be ignored.
void write_images(const TemporaryFolder& folder) {
  folder.write("train/cat/b.png", image("a_rgb.png"));
  folder.write("train/cat/a.JPG", image("a_rgb.jpg"));
  folder.write("train/cat/more/c.jpeg", image("a_grey.jpg"));
  folder.write("train/cat/notes.txt", "no image");
  folder.write("train/cat/._a.jpg", "what another system left");
  folder.write("train/.cache/x.jpg", "no class");
  folder.write("train/dog/a.jpg", image("a_cmyk.jpg"));
  folder.write("valid/dog/v.png", image("a_rgba.png"));
}

/// A PNG file of one color.
std::string shaped_image(int width, int height) {
  Image image{width, height, 3, {}, {}};
  image.bytes.assign(image.values(), 90);
  return encode_png(image);
}

json section(const TemporaryFolder& folder) {
  const json steps = json::array({{{"type", "resize"}, {"size", {8, 6}}}});
  return {{"type", "image_folder"},
          {"root", folder.path()},
          {"transforms", {{"train", steps}, {"valid", steps}}}};
}

TEST(ImageFolder, ListsImagesByClassSortedBytewise) {
  const TemporaryFolder folder;
  write_images(folder);
  const auto data = build_data(section(folder));
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data->facts().sample, (std::vector<std::int64_t>{3, 8, 6}));
  ASSERT_EQ(data->size(Split::train), 4);
  ASSERT_EQ(data->size(Split::valid), 1);
  EXPECT_EQ(data->sample_name(Split::train, 0), folder / "train/cat/a.JPG");
  EXPECT_EQ(data->sample_name(Split::train, 1), folder / "train/cat/b.png");
  EXPECT_EQ(data->sample_name(Split::train, 2), folder / "train/cat/more/c.jpeg");
  EXPECT_EQ(data->label(Split::train, 2), 0);
  EXPECT_EQ(data->label(Split::train, 3), 1);
  EXPECT_EQ(data->label(Split::valid, 0), 1);
}

TEST(ImageFolder, LoadsTheSamePixelsInEitherLayoutOfMemory) {
  const TemporaryFolder folder;
  write_images(folder);
  const auto plain = build_data(section(folder));
  const auto last = build_data(section(folder), {.channels_last = true});
  for (std::int64_t i = 0; i < plain->size(Split::train); ++i) {
    const auto a = load_one(*plain, Split::train, i).batch;
    const auto b = load_one(*last, Split::train, i).batch;
    EXPECT_EQ(a.inputs.at(0).sizes(), (at::IntArrayRef{1, 3, 8, 6}));
    EXPECT_TRUE(b.inputs.at(0).is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(a.inputs[0].equal(b.inputs[0]));
    EXPECT_EQ(a.targets.at(0).item<std::int64_t>(), plain->label(Split::train, i));
  }
}

TEST(ImageFolder, HoldsOutTheSameFractionWhateverTheSeedOfTheRun) {
  const TemporaryFolder folder;
  for (int i = 0; i < 10; ++i)
    folder.write("all/" + std::string(i % 2 ? "a" : "b") + "/" + std::to_string(i) + ".png",
                 image("a_rgb.png"));
  auto wanted = section(folder);
  wanted["train"] = "all";
  wanted["valid"] = {{"fraction", 0.3}, {"seed", 5}};
  std::set<std::string> seen;
  const auto data = build_data(wanted), again = build_data(wanted, {.seed = 9});
  EXPECT_EQ(data->digest(), again->digest());
  ASSERT_EQ(data->size(Split::valid), 3);
  ASSERT_EQ(data->size(Split::train), 7);
  for (auto split : {Split::train, Split::valid})
    for (std::int64_t i = 0; i < data->size(split); ++i) seen.insert(data->sample_name(split, i));
  EXPECT_EQ(seen.size(), 10);
}

TEST(ImageFolder, TakesTheClassesThatAreAskedFor) {
  const TemporaryFolder folder;
  write_images(folder);
  auto recipe = section(folder);
  recipe["classes"] = {"dog"};
  const auto data = build_data(recipe);
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"dog"}));
  EXPECT_EQ(data->size(Split::train), 1);
  EXPECT_EQ(data->label(Split::valid, 0), 0);
  recipe["classes"] = {"dog", "cow"};
  EXPECT_THAT(
      [&] { build_data(recipe); },
      testing::ThrowsMessage<Error>("data.classes: no folder '" + (folder / "train/cow") + "'"));
  recipe["classes"] = {"dog", "dog"};
  EXPECT_EQ(test::refused<Dataset>(recipe), "classes[1]: 'dog' is listed twice\n");
}

TEST(ImageFolder, NamesAFolderThatCannotBeRead) {
  const TemporaryFolder folder;
  write_images(folder);
  folder.write("train/cat/more/a.png", "");
  const auto locked = [&](const std::string& which) -> std::string {
    const test::Unreadable unreadable(folder / which);
    return unreadable.holds() ? data_problem(section(folder)) : "";
  };
  const auto inner = locked("train/cat/more");
  if (inner.empty()) GTEST_SKIP() << "root cannot be another user here";
  EXPECT_EQ(inner, "cannot read folder '" + (folder / "train/cat") + "': Permission denied");
  EXPECT_EQ(locked("train"),
            "data.train: cannot read folder '" + (folder / "train") + "': Permission denied");
}

TEST(ImageFolder, SaysWhichFolderIsMissingOrEmpty) {
  const TemporaryFolder folder;
  EXPECT_EQ(data_problem(section(folder)), "data.train: no folder '" + (folder / "train") +
                                               "'; name another, or an archive under data.source");
  EXPECT_EQ(data_problem({{"type", "image_folder"}, {"root", folder / "none"}}),
            "data.root: no folder '" + (folder / "none") +
                "'; name another, or an archive under data.source");
  folder.write("train/notes.txt", "");
  EXPECT_THAT(data_problem(section(folder)),
              HasSubstr("no class folders in '" + (folder / "train") + "'"));
  folder.write("train/cat/notes.txt", "");
  EXPECT_THAT(data_problem(section(folder)),
              HasSubstr("class folder '" + (folder / "train/cat") + "' has no images"));
  folder.write("train/cat/a.png", image("a_rgb.png"));
  EXPECT_THAT(data_problem(section(folder)),
              StrEq("data.valid: no validation split in '" + folder.path() +
                    "': none of the folders val, valid, validation, test is there; write "
                    "'valid: {fraction: 0.2, seed: 42}' under data, or name a folder"));
  folder.write("valid/notes.txt", "");
  EXPECT_THAT(data_problem(section(folder)), HasSubstr("no images in '" + (folder / "valid")));
  folder.write("valid/cow/a.png", image("a_rgb.png"));
  EXPECT_EQ(
      data_problem(section(folder)),
      "class 'cow' (of '" + (folder / "valid/cow/a.png") +
          "') is only in the valid split; 'policy.on_unknown_class: skip' leaves its samples out");
}

TEST(ImageFolder, FindsTheValidationFolderByItsUsualNames) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.png", image("a_rgb.png"));
  for (const std::string name : {"test", "validation", "valid", "val"}) {
    folder.write(name + "/cat/a.png", image("a_rgb.png"));
    const auto data = build_data(section(folder));
    EXPECT_EQ(data->sample_name(Split::valid, 0), folder / (name + "/cat/a.png"));
  }
}

TEST(ImageFolder, SaysWhatToWriteForClassFoldersWithoutASplit) {
  const TemporaryFolder folder;
  folder.write("cat/a.png", image("a_rgb.png"));
  folder.write("dog/a.png", image("a_rgb.png"));
  const auto problem = data_problem(section(folder));
  EXPECT_THAT(problem, HasSubstr("has cat, dog: if these are classes without a split, write "
                                 "'train: .' and 'valid: {fraction: 0.2, seed: 42}' under data"));
  auto fixed = section(folder);
  fixed["train"] = ".";
  fixed["valid"] = {{"fraction", 0.5}, {"seed", 42}};
  EXPECT_EQ(build_data(fixed)->facts().classes, (std::vector<std::string>{"cat", "dog"}));
}

TEST(ImageFolder, GivesImagesOfDifferentSizesOneSizeWhereNoTransformsAreWritten) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.png", shaped_image(40, 30));
  folder.write("train/dog/a.png", shaped_image(20, 50));
  folder.write("val/cat/a.png", shaped_image(70, 30));
  const json bare{{"type", "image_folder"}, {"root", folder.path()}};
  const auto data = build_data(bare);
  EXPECT_EQ(data->facts().sample, (std::vector<std::int64_t>{3, 64, 64}));
  for (const auto split : {Split::train, Split::valid}) EXPECT_TRUE(load_one(*data, split, 0).good);
  ASSERT_NE(data->chosen().find("transforms"), nullptr);
  EXPECT_EQ(data->chosen().find("transforms")->find("valid")->items.size(), 3U);
}

TEST(ImageFolder, LeavesImagesOfOneSizeAsTheyAre) {
  const TemporaryFolder folder;
  folder.write("train/cat/a.png", shaped_image(40, 30));
  folder.write("val/cat/a.png", shaped_image(40, 30));
  const auto data = build_data({{"type", "image_folder"}, {"root", folder.path()}});
  EXPECT_EQ(data->facts().sample, (std::vector<std::int64_t>{3, 30, 40}));
  EXPECT_TRUE(data->chosen().members.empty());
}

TEST(ImageFolder, NamesAFileThatCannotBeDecodedOrLeavesItOut) {
  const TemporaryFolder folder;
  write_images(folder);
  folder.write("train/dog/empty.jpg", "");
  folder.write("train/dog/cut.jpg", image("a_rgb.jpg").substr(0, 300));
  folder.write("train/dog/text.png", "this is text");
  const auto strict = build_data(section(folder));
  const auto lenient = build_data(section(folder), {.skip_bad_samples = true});
  for (std::int64_t i = 0; i < strict->size(Split::train); ++i) {
    const auto name = strict->sample_name(Split::train, i);
    const bool bad =
        name.ends_with("empty.jpg") || name.ends_with("cut.jpg") || name.ends_with("text.png");
    EXPECT_EQ(load_one(*lenient, Split::train, i).good, !bad) << name;
    if (!bad) continue;
    try {
      load_one(*strict, Split::train, i);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST(ImageFolder, LargerImagesThanMaxPixelsAreBadSamples) {
  const TemporaryFolder folder;
  write_images(folder);
  auto limited = section(folder);
  limited["max_pixels"] = 100;
  try {
    load_one(*build_data(limited), Split::train, 0);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr("at most 100 are decoded; data.max_pixels may allow more"));
  }
  const auto lenient = build_data(limited, {.skip_bad_samples = true});
  EXPECT_FALSE(load_one(*lenient, Split::train, 0).good);
}

TEST(ImageFolder, DigestFollowsNamesSizesAndLabelsNotThePlace) {
  const TemporaryFolder one, two;
  write_images(one);
  write_images(two);
  const auto digest = build_data(section(one))->digest();
  EXPECT_EQ(build_data(section(two))->digest(), digest);
  two.write("train/dog/b.jpg", image("a_rgb.jpg"));
  EXPECT_NE(build_data(section(two))->digest(), digest);
}

}  // namespace
}  // namespace ddptrain
