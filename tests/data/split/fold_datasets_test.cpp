// Folds of datasets: classes and groups come from where each has them.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/csv_tables.h"
#include "data/image_data.h"
#include "data/text_data.h"
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
  section["valid"]["fold"]["groups"] = "series";
  EXPECT_THAT(data_problem(section), HasSubstr("data.valid.fold.groups: files in folders have no"));
}

TEST(FoldsOfImages, AreRefusedAtTheOption) {
  const TemporaryFolder folder;
  auto section = image_section(folder);
  section["valid"] = {{"fold", fold_section(0, 7)}};
  EXPECT_THAT(data_problem(section),
              HasSubstr("data.valid.fold.of: class 'cat' has 6 samples, fewer than 7 folds"));
  section["valid"] = {{"fold", fold_section(3, 3)}};
  EXPECT_THAT(test::refused<Dataset>(section), HasSubstr("is not below"));
  section["valid"] = {{"fold", fold_section(0, 3, {{"groups", "x"}})}};
  EXPECT_THAT(test::refused<Dataset>(section), HasSubstr("'by: groups'"));
  section["valid"] = {{"fold", fold_section(0, 3)}, {"order", "torch"}};
  EXPECT_THAT(test::refused<Dataset>(section), HasSubstr("'order: philox'"));
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
  EXPECT_THAT(problem(wanted), HasSubstr("data.valid.fold.by: nothing says which group"));
  wanted.valid.fold->groups = "whom";
  EXPECT_THAT(problem(wanted), HasSubstr("data.valid.fold.groups: "));
  wanted = options(0, 3, FoldRule::classes);
  wanted.target.column = "age";
  EXPECT_THAT(problem(wanted), HasSubstr("data.valid.fold.by: targets are not classes"));
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
