// Folds of datasets: classes and groups come from where each has them.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "config/encode.h"
#include "config/shape.h"
#include "data/image_data.h"
#include "data/text_data.h"
#include "sources/csv_tables.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json fold_section(std::int64_t index, std::int64_t of, const json& more = json::object()) {
  json wanted{{"index", index}, {"of", of}};
  wanted.update(more);
  return wanted;
}

/// Names of the valid samples of each fold.
template <class Make>
std::vector<std::vector<std::string>> valid_names(std::int64_t of, const Make& make) {
  std::vector<std::vector<std::string>> folds;
  for (std::int64_t k = 0; k < of; ++k) {
    const std::unique_ptr<Dataset> data = make(k);
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < data->size(Split::valid); ++i)
      names.push_back(data->sample_name(Split::valid, i));
    folds.push_back(names);
  }
  return folds;
}

std::set<std::string> all_names(const std::vector<std::vector<std::string>>& folds) {
  std::set<std::string> all;
  for (const auto& names : folds) all.insert(names.begin(), names.end());
  return all;
}

std::int64_t count_with(const std::vector<std::string>& names, const std::string& part) {
  return std::count_if(names.begin(), names.end(),
                       [&](const auto& name) { return name.find(part) != std::string::npos; });
}

/// train/{cat,dog} with images in folders of two series, and a folder val.
json image_section(const TemporaryFolder& folder) {
  for (const std::string name : {"cat", "dog"})
    for (const std::string series : {"a", "b"})
      for (int i = 0; i < 3; ++i)
        folder.write("train/" + name + "/" + name + series + "/" + std::to_string(i) + ".png",
                     image("a_rgb.png"));
  folder.write("val/cat/v.png", image("a_rgb.png"));
  const json steps = json::array({{{"type", "resize"}, {"size", {8, 6}}}});
  return {{"type", "image_folder"},
          {"root", folder.path()},
          {"transforms", {{"train", steps}, {"valid", steps}}}};
}

TEST(FoldsOfImages, HaveAsManyOfEachClassFolder) {
  const TemporaryFolder folder;
  auto section = image_section(folder);
  const auto folds = valid_names(3, [&](auto k) {
    section["valid"] = {{"fold", fold_section(k, 3)}};
    return build_data(section);
  });
  EXPECT_EQ(all_names(folds).size(), 12U);
  for (const auto& names : folds) {
    EXPECT_EQ(count_with(names, "/cat/"), 2);
    EXPECT_EQ(count_with(names, "/dog/"), 2);
  }
}

TEST(FoldsOfImages, KeepTheFilesOfAFolderTogether) {
  const TemporaryFolder folder;
  auto section = image_section(folder);
  const auto folds = valid_names(4, [&](auto k) {
    section["valid"] = {{"fold", fold_section(k, 4, {{"by", "groups"}})}};
    return build_data(section);
  });
  EXPECT_EQ(all_names(folds).size(), 12U);
  for (const auto& names : folds) {
    std::set<std::string> folders;
    for (const auto& name : names) folders.insert(name.substr(0, name.rfind('/')));
    EXPECT_EQ(folders.size(), 1U);
  }
}

/// train/{cat,dog} with `each` images of every patient: 0 to 5, whose images are of both classes.
json patients_section(const TemporaryFolder& folder, int each) {
  for (const std::string name : {"cat", "dog"})
    for (int patient = 0; patient < 6; ++patient)
      for (int i = 0; i < each; ++i)
        folder.write("train/" + name + "/patient" + std::to_string(patient) + "_" + name +
                         std::to_string(i) + ".png",
                     image("a_rgb.png"));
  const json steps = json::array({{{"type", "resize"}, {"size", {8, 6}}}});
  return {{"type", "image_folder"},
          {"root", folder.path()},
          {"transforms", {{"train", steps}, {"valid", steps}}}};
}

/// What the first group of '/(patient\d+)_' holds.
std::string patient_of(const std::string& name) {
  return name.substr(name.rfind("/patient") + 1, 8);
}

// 6 patients of 4 images each in 3 folds: 2 patients and 8 images in each.
TEST(FoldsOfImages, KeepTheFilesOfAPatternsGroupTogether) {
  const TemporaryFolder folder;
  auto section = patients_section(folder, 2);
  std::map<std::string, std::set<std::int64_t>> held_in;
  const auto folds = valid_names(3, [&](auto k) {
    section["valid"] = {
        {"fold", fold_section(k, 3, {{"by", "groups"}, {"groups", R"(/(patient\d+)_)"}})}};
    auto data = build_data(section);
    std::set<std::string> trained, valid;
    for (std::int64_t i = 0; i < data->size(Split::train); ++i)
      trained.insert(patient_of(data->sample_name(Split::train, i)));
    for (std::int64_t i = 0; i < data->size(Split::valid); ++i)
      valid.insert(patient_of(data->sample_name(Split::valid, i)));
    EXPECT_EQ(trained.size(), 4U);
    for (const auto& patient : valid) {
      EXPECT_FALSE(trained.contains(patient)) << patient;
      held_in[patient].insert(k);
    }
    EXPECT_EQ(data->size(Split::train), 16);
    EXPECT_EQ(data->size(Split::valid), 8);
    return data;
  });
  EXPECT_EQ(all_names(folds).size(), 24U);
  EXPECT_EQ(held_in.size(), 6U);
  for (const auto& [patient, where] : held_in) EXPECT_EQ(where.size(), 1U) << patient;
}

TEST(FoldsOfImages, NameTheFileThatAPatternDoesNotMatch) {
  const TemporaryFolder folder;
  auto section = patients_section(folder, 1);
  const auto problem = [&](const std::string& groups) {
    section["valid"] = {{"fold", fold_section(0, 3, {{"by", "groups"}, {"groups", groups}})}};
    return data_problem(section);
  };
  EXPECT_THAT(problem("/(patient[0-4])_"),
              HasSubstr("data.valid.fold.groups: 'train/cat/patient5_cat0.png' does not match"));
  EXPECT_THAT(problem("/patient0([0-9]*)_|/patient"),
              HasSubstr("data.valid.fold.groups: 'train/cat/patient0_cat0.png' has an empty"));
  EXPECT_THAT(problem("(train)"), HasSubstr("data.valid.fold.of: 1 group, fewer than 3 folds"));
}

TEST(FoldsOfImages, WantAPatternWithAGroup) {
  const TemporaryFolder folder;
  auto section = patients_section(folder, 1);
  for (const auto* type : {"image_folder", "image_names", "image_masks"}) {
    section["type"] = type;
    section["valid"] = {{"fold", fold_section(0, 3, {{"by", "groups"}, {"groups", "patient"}})}};
    EXPECT_THAT(test::refused<Dataset>(section), HasSubstr("has no group ( )")) << type;
    section["valid"]["fold"]["groups"] = "(patient";
    EXPECT_THAT(test::refused<Dataset>(section), HasSubstr("is not a regular expression")) << type;
  }
}

// Whatever fold is held out, training would lack its classes.
TEST(FoldsOfImages, AreRefusedWhereEachClassIsAGroup) {
  const TemporaryFolder folder;
  auto section = patients_section(folder, 1);
  for (const json& by :
       {json{{"by", "groups"}}, json{{"by", "groups"}, {"groups", "_([a-z]+)\\d+\\.png$"}}}) {
    section["valid"] = {{"fold", fold_section(0, 2, by)}};
    EXPECT_THAT(data_problem(section), HasSubstr("data.valid.fold.by: each class is one group"));
  }
}

TEST(FoldsOfImages, AreRefusedAtTheOption) {
  const TemporaryFolder folder;
  auto section = image_section(folder);
  section["valid"] = {{"fold", fold_section(0, 7)}};
  EXPECT_THAT(data_problem(section),
              HasSubstr("data.valid.fold.of: class 'cat' has 6 samples, fewer than 7 folds"));
  section["valid"] = {{"fold", fold_section(3, 3)}};
  EXPECT_EQ(test::refused<Dataset>(section), "valid.fold.index: 'index: 3' is not below 'of: 3'\n");
  section["valid"] = {{"fold", fold_section(0, 3, {{"groups", "(x)"}})}};
  EXPECT_EQ(test::refused<Dataset>(section),
            "valid.fold.groups: 'groups' needs 'by: groups'; it is auto by default\n");
  section["valid"] = {{"fold", fold_section(0, 3)}, {"order", "torch"}};
  EXPECT_EQ(test::refused<Dataset>(section),
            "valid.fold: 'fold' needs 'order: philox'; it is torch\n");
}

TEST(FoldsOfManifests, AreOfTrainingRowsByAColumn) {
  const TemporaryFolder folder;
  folder.write("0.png", image("a_rgb.png"));
  std::string text = "path,label,who,split\n";
  for (int i = 0; i < 12; ++i)
    text += "p" + std::to_string(i % 4) + "-" + std::to_string(i) + ".png," +
            (i % 3 ? "cat" : "dog") + ",p" + std::to_string(i % 4) +
            (i < 10 ? ",train\n" : ",valid\n");
  const json steps = json::array({{{"type", "resize"}, {"size", {4, 4}}}});
  json section{{"type", "manifest"},
               {"file", folder.write("list.csv", text)},
               {"transforms", {{"train", steps}, {"valid", steps}}}};
  const auto folds = valid_names(2, [&](auto k) {
    section["valid"] = {{"fold", fold_section(k, 2, {{"by", "groups"}, {"groups", "who"}})}};
    return build_data(section);
  });
  EXPECT_EQ(all_names(folds).size(), 10U);
  for (const std::string who : {"p0-", "p1-", "p2-", "p3-"})
    EXPECT_TRUE(count_with(folds[0], who) == 0 || count_with(folds[1], who) == 0) << who;
}

class FoldsOfTables : public testing::Test {
 protected:
  TableOptions options(std::int64_t index, std::int64_t of, Auto<FoldRule> by = {}) {
    std::string text = "age,who,y\n";
    for (int i = 0; i < 18; ++i)
      text += std::to_string(20 + i) + ",p" + std::to_string(i % 5) + (i % 3 ? ",no\n" : ",yes\n");
    TableOptions made;
    made.file = folder_.write("t.csv", text);
    made.target.column = "y";
    made.valid.fraction = {};
    made.valid.fold = FoldSpec{index, of, by, {}};
    return made;
  }
  static std::string problem(const TableOptions& options) {
    try {
      test::read_csv_table(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  TemporaryFolder folder_;
};

TEST_F(FoldsOfTables, HaveAsManyOfEachTarget) {
  std::set<std::size_t> held;
  for (int k = 0; k < 3; ++k) {
    const auto valid = test::read_csv_table(options(k, 3)).splits[1];
    EXPECT_EQ(valid.rows.size(), 6U);
    EXPECT_EQ(std::count(valid.labels.begin(), valid.labels.end(), 1), 2);
    held.insert(valid.rows.begin(), valid.rows.end());
  }
  EXPECT_EQ(held.size(), 18U);
}

// 'fraction: null' need not be written first; the recipe that is recorded has it.
TEST_F(FoldsOfTables, ReplaceTheDefaultFraction) {
  const json fold = {{"fold", {{"index", 1}, {"of", 3}}}};
  auto valid = decode<ValidRows>(to_node(fold));
  EXPECT_FALSE(valid.fraction);
  EXPECT_EQ(to_flow(*encode(valid).find("fraction")), "null");
  EXPECT_FALSE(decode<ValidRows>(to_node({{"column", "is_valid"}})).fraction);
  EXPECT_FALSE(decode<ValidRows>(to_node({{"rows", {3, 4}}})).fraction);
  EXPECT_EQ(decode<ValidRows>(to_node({{"seed", 3}})).fraction, 0.2);
  EXPECT_TRUE(check(to_node(fold), shape_of<ValidRows>(), {}).empty());
  const json both = {{"fraction", 0.3}, {"column", "is_valid"}};
  EXPECT_EQ(check(to_node(both), shape_of<ValidRows>(), {}).size(), 1U);
}

TEST_F(FoldsOfTables, KeepGroupsWholeAndNoInput) {
  std::map<std::size_t, std::set<int>> folds_of;
  for (int k = 0; k < 2; ++k) {
    auto wanted = options(k, 2, FoldRule::groups);
    wanted.valid.fold->groups = "who";
    const auto table = test::read_csv_table(wanted);
    EXPECT_TRUE(table.fit.categories.empty());
    for (const auto row : table.splits[1].rows) folds_of[row % 5].insert(k);
  }
  for (const auto& [who, folds] : folds_of) EXPECT_EQ(folds.size(), 1U) << who;
}

TEST_F(FoldsOfTables, AreRefusedWhereNothingSaysWhatTheyAreBy) {
  auto wanted = options(0, 3, FoldRule::groups);
  EXPECT_EQ(problem(wanted),
            "data.valid.fold.by: nothing says which group a sample is of; name a column in "
            "data.valid.fold.groups");
  wanted.valid.fold->groups = "whom";
  EXPECT_EQ(problem(wanted),
            "data.valid.fold.groups: '" + (folder_ / "t.csv") +
                "' has no column 'whom'; did you mean 'who'? Its columns are 'age', 'who', 'y'");
  wanted = options(0, 3, FoldRule::classes);
  wanted.target.column = "age";
  EXPECT_EQ(problem(wanted),
            "data.valid.fold.by: targets are not classes, one of each sample; write 'by: random'");
}

TEST(FoldsOfTexts, AreByLabelOrColumnAndKeptApart) {
  const TemporaryFolder folder;
  std::string text = "text,label,by\n";
  for (int i = 0; i < 12; ++i)
    text += "a film " + std::to_string(i) + (i % 3 ? ",good,w" : ",bad,w") + std::to_string(i / 3) +
            "\n";
  json section{{"type", "text_csv"},
               {"file", folder.write("r.csv", text)},
               {"cache", folder / "cache"},
               {"vocabulary", {{"min_freq", 1}}}};
  const auto of = [&](const json& more) {
    return valid_names(4, [&](auto k) {
      section["valid"] = {{"fraction", nullptr}, {"fold", fold_section(k, 4, more)}};
      auto data = make_texts(section);
      std::int64_t bad = 0;
      for (std::int64_t i = 0; i < data->size(Split::valid); ++i)
        bad += data->label(Split::valid, i) == 0 ? 1 : 0;
      EXPECT_EQ(bad, 1);
      EXPECT_EQ(data->size(Split::valid), 3);
      return data;
    });
  };
  EXPECT_EQ(all_names(of(json::object())).size(), 12U);
  // Each writer has one bad text and two good ones, in three rows after each other.
  for (const auto& names : of({{"by", "groups"}, {"groups", "by"}})) {
    std::set<int> writers;
    for (const auto& name : names) writers.insert(std::stoi(name.substr(name.rfind(' '))) / 3);
    EXPECT_EQ(writers.size(), 1U);
  }
}

TEST(FoldsOfTexts, AreByAPatternOfTheirPaths) {
  const TemporaryFolder folder;
  for (const std::string name : {"pos", "neg"})
    for (int i = 0; i < 9; ++i)
      folder.write(
          "train/" + name + "/writer" + std::to_string(i % 3) + "-" + std::to_string(i) + ".txt",
          "a film");
  auto section = text_recipe(folder);
  const auto folds = valid_names(3, [&](auto k) {
    section["valid"] = {
        {"fold", fold_section(k, 3, {{"by", "groups"}, {"groups", "(writer[0-9])"}})}};
    return make_texts(section);
  });
  EXPECT_EQ(all_names(folds).size(), 18U);
  for (const auto& names : folds) {
    ASSERT_EQ(names.size(), 6U);
    const auto writer = names[0].substr(names[0].find("writer"), 7);
    EXPECT_EQ(count_with(names, writer), 6);
  }
  section["valid"]["fold"]["groups"] = "writer";
  EXPECT_THAT(test::refused<Dataset>(section), HasSubstr("has no group ( )"));
}

TEST(FoldsOfTexts, AreByClassFolder) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto section = text_recipe(folder);
  const auto folds = valid_names(2, [&](auto k) {
    section["valid"] = {{"fold", fold_section(k, 2)}};
    return make_texts(section);
  });
  EXPECT_EQ(all_names(folds).size(), 4U);
  for (const auto& names : folds) EXPECT_EQ(count_with(names, "/pos/"), 1);
}

}  // namespace
}  // namespace ddptrain
