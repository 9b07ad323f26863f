// Datasets whose files lie nowhere on a disk: every look at them goes through the file system.
#include "sources/files/file_system.h"

#include <gmock/gmock.h>

#include "data/image_data.h"
#include "sources/memory_files.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;

class InMemory : public testing::Test {
 protected:
  /// Training and validation samples, each loaded once.
  std::unique_ptr<Dataset> load_all(const json& section, std::int64_t train, std::int64_t valid) {
    auto data = build_data(section, context());
    EXPECT_EQ(data->size(Split::train), train);
    EXPECT_EQ(data->size(Split::valid), valid);
    EXPECT_NE(data->digest(), "");
    for (const auto split : {Split::train, Split::valid})
      for (std::int64_t i = 0; i < data->size(split); ++i) {
        auto batch = data->allocate_length(split, 1, data->length(split, i));
        EXPECT_TRUE(data->load(split, i, {}, batch, 0));
      }
    return data;
  }
  DataContext context() const { return {.file_system = &files_}; }
  json images(const std::string& type, const json& more) const {
    const json steps = json::array({{{"type", "resize"}, {"size", {8, 6}}}});
    json section{{"type", type}, {"transforms", {{"train", steps}, {"valid", steps}}}};
    section.update(more);
    return section;
  }

  test::MemoryFiles files_;
};

TEST_F(InMemory, ImagesInAFolderPerClass) {
  for (const auto* name : {"train/cat/1.png", "train/dog/2.png", "val/dog/3.png"})
    files_.add(std::string("memory:/a/") + name, image("a_rgb.png"));
  const auto data = load_all(images("image_folder", {{"root", "memory:/a"}}), 2, 1);
  EXPECT_THAT(data->facts().classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(data->sample_name(Split::valid, 0), "memory:/a/val/dog/3.png");
  EXPECT_EQ(data_problem(images("image_folder", {{"root", "memory:/b"}}), context()),
            "data.root: no folder 'memory:/b'; name another, or an archive under data.source");
}

TEST_F(InMemory, ImagesThatAFileNames) {
  for (const auto* name : {"cat_1.png", "dog_1.png", "dog_2.png"})
    files_.add(std::string("memory:/a/") + name, image("a_rgb.png"));
  files_.add("memory:/held.txt", "dog_2.png\n");
  files_.add("memory:/a.csv", "path,label,split\na/cat_1.png,c,train\na/dog_1.png,c,valid\n");
  load_all(images("image_names", {{"root", "memory:/a"},
                                  {"pattern", "^(.+)_"},
                                  {"valid", {{"list", "memory:/held.txt"}}}}),
           2, 1);
  load_all(images("manifest", {{"file", "memory:/a.csv"}}), 1, 1);
  load_all(images("unlabeled_images", {{"root", "memory:/a"}}), 3, 3);
}

TEST_F(InMemory, MasksAndPoints) {
  for (const auto* name : {"images/1.png", "images/2.png"})
    files_.add(std::string("memory:/a/") + name, image("a_grey.jpg"));
  auto mask = image("a_palette.png");
  for (const auto* name : {"masks/1.png", "masks/2.png"})
    files_.add(std::string("memory:/a/") + name, mask);
  files_.add("memory:/a/codes.txt", "sky\nroad\n");
  files_.add("memory:/p.csv", "path,x1,y1\na/images/1.png,1,2\na/images/2.png,3,4\n");
  load_all(images("image_points", {{"file", "memory:/p.csv"}, {"valid", {{"fraction", 0.5}}}}), 1,
           1);
  const auto section =
      images("image_masks",
             {{"root", "memory:/a"}, {"codes", "codes.txt"}, {"valid", {{"fraction", 0.5}}}});
  const auto data = build_data(section, context());
  EXPECT_THAT(data->facts().classes, ElementsAre("sky", "road"));
  EXPECT_THROW(load_one(*data, Split::train, 0), Error);  // numbers of the mask that are no code
}

TEST_F(InMemory, PixelsOfMnist) {
  const std::string head("\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02", 16);
  const std::string labels("\0\0\x08\x01\0\0\0\x01\x01", 9);
  for (const std::string part : {"train", "t10k"}) {
    files_.add("memory:/m/" + part + "-images-idx3-ubyte", head + "abcd");
    files_.add("memory:/m/" + part + "-labels-idx1-ubyte", labels);
  }
  load_all({{"type", "mnist"}, {"root", "memory:/m"}}, 1, 1);
}

TEST_F(InMemory, Tables) {
  files_.add("memory:/t.csv", "age,work,y\n1,a,no\n2,b,yes\n3,a,no\n4,b,yes\n");
  files_.add("memory:/r.csv", "user,item,rating\n1,1,5\n2,1,4\n1,2,3\n2,2,2\n");
  load_all({{"type", "csv_table"},
            {"file", "memory:/t.csv"},
            {"target", "y"},
            {"valid", {{"rows", {2, 3}}}}},
           2, 2);
  load_all({{"type", "ratings"}, {"file", "memory:/r.csv"}, {"valid", {{"rows", {0}}}}}, 3, 1);
}

TEST_F(InMemory, Texts) {
  for (const auto* name : {"train/neg/1.txt", "train/pos/1.txt", "valid/pos/1.txt"})
    files_.add(std::string("memory:/t/") + name, "a film of today");
  files_.add("memory:/t.csv", "text,label\none two,a\ntwo three,b\nthree,a\n");
  files_.add("memory:/t.jsonl",
             "{\"text\": \"one\", \"label\": 1}\n{\"text\": \"two\", \"label\": 2}\n"
             "{\"text\": \"two\", \"label\": 1}\n");
  const TemporaryFolder folder;
  const auto section = [&](const char* type, json more) {
    more.update({{"type", type}, {"cache", folder / "cache"}, {"vocabulary", {{"min_freq", 1}}}});
    return more;
  };
  load_all(section("text_folder", {{"root", "memory:/t"}}), 2, 1);
  load_all(section("text_csv", {{"file", "memory:/t.csv"}, {"valid", {{"rows", {2}}}}}), 2, 1);
  load_all(section("text_jsonl", {{"file", "memory:/t.jsonl"}, {"valid", {{"rows", {2}}}}}), 2, 1);
}

}  // namespace
}  // namespace ddptrain
