#include <gmock/gmock.h>

#include "data/image_data.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Images named as those of the pets data set: breeds of cats are capitalised.
void write_pets(const TemporaryFolder& folder) {
  for (const auto* name : {"Abyssinian_1.jpg", "Abyssinian_10.jpg", "Birman_2.jpg",
                           "american_bulldog_1.jpg", "american_bulldog_2.jpg", "pug_7.jpg"})
    folder.write(std::string("images/") + name, image("a_rgb.jpg"));
  folder.write("images/Abyssinian_100.mat", "no image");
}

json section(const TemporaryFolder& folder, const json& more) {
  const json steps = json::array({{{"type", "resize"}, {"size", {4, 4}}}});
  json made = {{"type", "image_names"},
               {"root", folder / "images"},
               {"valid", {{"fraction", 0.34}}},
               {"transforms", {{"train", steps}, {"valid", steps}}}};
  made.update(more);
  return made;
}

/// Labels of all images by name.
std::map<std::string, std::string> labels(const Dataset& data) {
  std::map<std::string, std::string> all;
  for (const auto split : {Split::train, Split::valid})
    for (std::int64_t i = 0; i < data.size(split); ++i) {
      const auto path = data.sample_name(split, i);
      all[path.substr(path.rfind('/') + 1)] =
          data.facts().classes.at(static_cast<std::size_t>(data.label(split, i)));
    }
  return all;
}

TEST(ImageNames, TakesTheFirstGroupForTheLabel) {
  const TemporaryFolder folder;
  write_pets(folder);
  folder.write("images/pug_8.jpg", image("a_rgb.jpg"));
  folder.write("images/Birman_3.jpg", image("a_rgb.jpg"));
  const auto held = folder.write("held.txt", "pug_8.jpg\nBirman_3.jpg\n");
  const auto data =
      build_data(section(folder, {{"pattern", R"(^(.+)_\d+\.jpg$)"}, {"valid", {{"list", held}}}}));
  EXPECT_EQ(data->facts().classes,
            (std::vector<std::string>{"Abyssinian", "Birman", "american_bulldog", "pug"}));
  const auto found = labels(*data);
  EXPECT_EQ(found.size(), 8U);
  EXPECT_EQ(found.at("american_bulldog_2.jpg"), "american_bulldog");
  EXPECT_EQ(found.at("Birman_3.jpg"), "Birman");
  EXPECT_EQ(data->size(Split::valid), 2);
  EXPECT_TRUE(load_one(*data, Split::train, 0).good);
}

TEST(ImageNames, TakesTheLabelWhoseExpressionMatches) {
  const TemporaryFolder folder;
  write_pets(folder);
  const auto data =
      build_data(section(folder, {{"labels", {{"cat", "^[A-Z]"}, {"dog", "^[a-z]"}}}}));
  const auto found = labels(*data);
  EXPECT_EQ(found.at("Birman_2.jpg"), "cat");
  EXPECT_EQ(found.at("pug_7.jpg"), "dog");
  EXPECT_EQ(data->size(Split::valid), 2);
}

TEST(ImageNames, CanLookAtPathsAndHoldOutAFolder) {
  const TemporaryFolder folder;
  for (const auto* path : {"images/a/cat/1.jpg", "images/a/dog/1.jpg", "images/b/dog/2.jpg"})
    folder.write(path, image("a_rgb.jpg"));
  const auto data =
      build_data(section(folder, {{"pattern", "([^/]+)/[^/]*$"}, {"of", "path"}, {"valid", "b"}}));
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data->size(Split::train), 2);
  EXPECT_EQ(data->sample_name(Split::valid, 0), folder / "images/b/dog/2.jpg");
}

TEST(ImageNames, NamesTheImageWithoutALabel) {
  const TemporaryFolder folder;
  write_pets(folder);
  const auto problem = [&](const json& more) { return data_problem(section(folder, more)); };
  EXPECT_EQ(problem({{"pattern", R"(^(.+)_\d\.jpg$)"}}),
            "data.pattern: 'Abyssinian_10.jpg' does not match");
  EXPECT_EQ(problem({{"pattern", R"((x?))"}}),
            "data.pattern: 'Abyssinian_1.jpg' has an empty label");
  EXPECT_EQ(problem({{"labels", {{"cat", "^[A-Z]"}}}}),
            "data.labels: 'american_bulldog_1.jpg' matches none");
  EXPECT_EQ(problem({{"labels", {{"cat", "^[A-Z]"}, {"pet", "."}}}}),
            "data.labels: 'Abyssinian_1.jpg' matches the labels 'cat' and 'pet'");
  EXPECT_EQ(problem({{"pattern", "^(.+)_"}, {"valid", "c"}}),
            "data.valid.folder: no images are in 'c'");
  EXPECT_EQ(problem({{"pattern", "^(.+)_"}, {"root", folder / "none"}}),
            "data.root: no folder '" + (folder / "none") +
                "'; name another, or an archive under data.source");
}

TEST(ImageNames, RefusesWhatIsNoExpression) {
  const auto message_of = [](const json& more) {
    json made{{"type", "image_names"}, {"root", "x"}, {"valid", "v"}};
    made.update(more);
    return test::refused<Dataset>(made);
  };
  EXPECT_EQ(message_of({{"pattern", "^(.+_"}}),
            "pattern: '^(.+_' is not a regular expression: missing ): ^(.+_\n");
  EXPECT_EQ(message_of({{"pattern", "^.+_"}}), "pattern: '^.+_' has no group ( )\n");
  EXPECT_EQ(message_of({{"labels", {{"cat", "["}, {"dog", "^[a-z]"}}}}),
            "labels.cat: '[' is not a regular expression: missing ]: [\n");
}

TEST(ImageNames, WantOneRuleForLabelsAndOneForWhatIsHeldOut) {
  const auto message_of = [](json more) {
    more.update({{"type", "image_names"}, {"root", "x"}});
    return test::refused<Dataset>(more);
  };
  EXPECT_EQ(message_of({{"valid", "v"}}), "give one of 'pattern', 'labels'\n");
  EXPECT_EQ(message_of({{"pattern", "(.)"}, {"valid", json::object()}}),
            "give one of 'valid.folder', 'valid.fraction', 'valid.list', 'valid.fold'\n");
  EXPECT_THAT(message_of({{"pattern", "(.)"}, {"valid", {{"fraction", 0.5}, {"list", "x"}}}}),
              HasSubstr("'valid.fraction' and 'valid.list' exclude each other"));
  EXPECT_EQ(message_of({{"pattern", "(.)"}, {"valid", {{"fraction", 0.5}}}}), "");
}

}  // namespace
}  // namespace ddptrain
