// `export` of graphs, and the programs of docs/deploying.md that use them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/quoting.h"
#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The block of a language below a heading of docs/deploying.md.
std::string block_below(const std::string& heading) {
  const auto text = read(test::in_source("docs/deploying.md"));
  const auto begin = text.find('\n', text.find("```", text.find("## " + heading))) + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

class ExportGraph : public testing::Test {
 protected:
  void SetUp() override {
    write(folder_ / "small.yaml", small_recipe());
    const auto trained = run({"run", "small.yaml"}, folder_.path(), environment());
    ASSERT_EQ(trained.code, 0) << trained.err;
  }

  Ended exported(std::vector<std::string> words) {
    words.insert(words.begin(), {"export", "runs/small/001"});
    return run(words, folder_.path(), environment());
  }

  const Folder folder_;
};

TEST_F(ExportGraph, IsComparedWithTheModelAndWrittenWhole) {
  for (const auto* file : {"m.pt", "m.onnx"}) {
    const auto ended = exported({file});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(
        ended.err,
        HasSubstr("largest difference between the traced graph and the model on 40 samples: 0"));
    EXPECT_GT(fs::file_size(folder_ / file), 1000u);
  }
  EXPECT_EQ(exported({"four.onnx", "--batch", "4", "--with-preprocessing"}).code, 0);
  EXPECT_EQ(exported({"half.onnx", "--precision", "fp16"}).code, 0);

  const auto typo = exported({"m.onx"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_EQ(typo.err,
            "error: 'm.onx': a file ends in .safetensors (weights, for PyTorch, timm and Hugging "
            "Face), .pt (TorchScript) or .onnx\n");
  EXPECT_THAT(exported({"m.safetensors", "--batch", "4"}).err, HasSubstr("--batch is of a graph"));
  EXPECT_EQ(exported({"m.pt", "--batch", "none"}).code, 2);
  const auto nowhere = exported({"no/m.onnx"});
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_FALSE(fs::exists(folder_ / "no"));
}

TEST_F(ExportGraph, HoldsWhatIsDoneToImagesOfAnySize) {
  const auto ended = exported({"m.onnx", "--with-preprocessing"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.err,
      HasSubstr("largest difference between the traced graph and the model on 40 samples: 0"));
  const std::pair<const char*, const char*> kRefused[] = {
      {"[{type: resize, size: 32}, to_grayscale]", "'to_grayscale' in data.transforms.valid"},
      {"[{type: resize, size: 32, interpolation: nearest}]", "with these options"},
      {"[{type: resize, size: 40}, {type: resize, size: [32, 32]}]", "is to be 'center_crop'"}};
  for (const auto& [transforms, why] : kRefused) {
    const auto run_folder =
        run({"run", "small.yaml", kSmallModel, "name=odd", "train.duration=1 steps",
             "data.transforms.valid=" + std::string(transforms)},
            folder_.path(), environment());
    ASSERT_EQ(run_folder.code, 0) << run_folder.err;
    const auto refused =
        run({"export", "runs/odd/latest", "odd.onnx", "--with-preprocessing"}, folder_.path());
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
    EXPECT_FALSE(exists(folder_ / "odd.onnx"));
  }
}

/// The network for shapes, trained further on photos where DDPTRAIN_DATA has them.
class FineTunedModel : public testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("DDPTRAIN_DATA");
    peers_ = std::getenv("DDPTRAIN_PEERS") ? std::getenv("DDPTRAIN_PEERS") : "";
    if (peers_.empty()) GTEST_SKIP() << "DDPTRAIN_PEERS names no Python environment";
    if (!data || !exists(std::string(data) + "/imagenette2-224"))
      GTEST_SKIP() << "DDPTRAIN_DATA has no imagenette2-224";
    if (!exists(folder_ / "m.onnx")) prepare(std::string(data) + "/imagenette2-224/");
  }
  static void SetUpTestSuite() { made_ = new Folder; }
  static void TearDownTestSuite() { delete made_; }

  void prepare(const std::string& photos) const {
    write(folder_ / "small.yaml", small_recipe());
    const auto first = run({"run", "small.yaml"}, folder_.path(), environment());
    ASSERT_EQ(first.code, 0) << first.err;
    copy_photos(photos);
    const auto tuned =
        run({"run", "small.yaml", "name=tuned", "data.root=photos", "train.duration=3 steps",
             "model.weights=runs/small/001/checkpoints/step-00000008",
             "data.transforms.valid=[{type: resize, size: 40}, {type: center_crop, size: 32}, "
             "{type: normalize, preset: imagenet}]"},
            folder_.path(), environment());
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    ASSERT_EQ(python("import glob, PIL.Image as I\nfor path in glob.glob('photos/val/*/*'): "
                     "I.open(path).convert('RGB').save(path + '.ppm')")
                  .code,
              0);
    for (const auto* file : {"m.pt", "m.onnx"})
      ASSERT_EQ(
          run({"export", "runs/tuned/001", file, "--with-preprocessing"}, folder_.path()).code, 0);
  }

  /// 16 and one of three classes.
  void copy_photos(const std::string& from) const {
    for (const auto& [side, count] : {std::pair{"train/", 16U}, {"val/", 1U}})
      for (std::size_t c = 0; c < 3; ++c) {
        const auto name = side + list(from + side).at(c);
        fs::create_directories(folder_ / ("photos/" + name));
        for (std::size_t i = 0; i < count; ++i)
          fs::copy_file(from + name + "/" + list(from + name).at(i),
                        folder_ / ("photos/" + name + "/" + std::to_string(i) + ".jpg"));
      }
  }

  Ended python(const std::string& text) const {
    return Program({"-c", text}, folder_.path(), {}, peers_ + "/bin/python").wait();
  }
  Ended shell(const std::string& command) const {
    return Program({"-c", command}, folder_.path(), {}, "/bin/bash").wait();
  }
  std::string folder_of(const std::string& package) const {
    const auto found =
        python("import " + package + ", os; print(os.path.dirname(" + package + ".__file__))");
    return found.out.substr(0, found.out.find('\n'));
  }

  /// The photos' paths with the classes that `predict` finds.
  std::vector<std::pair<std::string, std::string>> predicted() const {
    const auto ended =
        run({"predict", "runs/tuned/001", "photos/val", "--top", "1"}, folder_.path());
    std::vector<std::pair<std::string, std::string>> found;
    std::istringstream lines(ended.out);
    std::string line, path, label;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::getline(cells, path, ',');
      std::getline(cells, label, ',');
      found.emplace_back(path, label);
    }
    EXPECT_EQ(found.size(), 3U) << ended.err;
    return found;
  }

  void expect_places(const std::string& program, const std::string& file) const {
    const auto classes = list(folder_ / "photos/train");
    for (const auto& [path, label] : predicted()) {
      const auto ended = shell("./" + program + " " + file + " " + path + ".ppm");
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ(classes.at(std::stoul(ended.out)), label) << path;
    }
  }

  static Folder* made_;
  const Folder& folder_ = *made_;
  std::string peers_;
};
Folder* FineTunedModel::made_ = nullptr;

TEST_F(FineTunedModel, IsServedByThePythonOfTheDocument) {
  const std::pair<const char*, const char*> kPrograms[] = {{"Python, ONNX Runtime", "m.onnx"},
                                                           {"Python, torch", "m.pt"}};
  for (const auto& [heading, file] : kPrograms) {
    write(folder_ / "consumer.py", block_below(heading));
    for (const auto& [path, label] : predicted()) {
      const auto ended =
          Program({"consumer.py", file, path}, folder_.path(), {}, peers_ + "/bin/python").wait();
      ASSERT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ(ended.out, label + "\n") << heading << ", " << path;
    }
  }
}

// The preprocessing gives the same bytes, so that only rounding in the network differs.
TEST_F(FineTunedModel, GivesTheProbabilitiesOfPredictInOnnxRuntime) {
  const auto ended =
      run({"predict", "runs/tuned/001", "photos/val", "--output", "p.csv"}, folder_.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto compared = python(R"(
import csv, json, numpy as np, onnxruntime
from PIL import Image
session = onnxruntime.InferenceSession('m.onnx')
classes = json.loads(session.get_modelmeta().custom_metadata_map['classes'])
for row in csv.DictReader(open('p.csv')):
    image = np.asarray(Image.open(row['path']).convert('RGB'))
    logits = session.run(None, {'images': np.stack([image, image])})[0].astype(np.float64)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert abs(p - [float(row[name]) for name in classes]).max() < 1e-5, row
)");
  EXPECT_EQ(compared.code, 0) << compared.err;
}

TEST_F(FineTunedModel, IsServedByLibTorchInCpp) {
  write(folder_ / "consumer.cpp", block_below("C++, LibTorch"));
  const auto torch = shell_word(folder_of("torch"));
  const auto built = shell("c++ -std=c++20 -I" + torch + "/include -I" + torch +
                           "/include/torch/csrc/api/include consumer.cpp -o consumer -L" + torch +
                           "/lib -ltorch -ltorch_cpu -lc10 -Wl,-rpath," + torch + "/lib");
  ASSERT_EQ(built.code, 0) << built.err;
  expect_places("consumer", "m.pt");
}

TEST_F(FineTunedModel, IsServedByOnnxRuntimeInCpp) {
  if (!exists(peers_ + "/include/onnxruntime/onnxruntime_cxx_api.h"))
    GTEST_SKIP() << "DDPTRAIN_PEERS has no include/onnxruntime (bench/peers/setup)";
  write(folder_ / "consumer.cpp", block_below("C++, ONNX Runtime"));
  const auto built = shell("ln -sf " + shell_word(folder_of("onnxruntime")) +
                           "/capi/libonnxruntime.so.* libonnxruntime.so.1 && c++ -std=c++20 -I" +
                           shell_word(peers_) +
                           "/include/onnxruntime consumer.cpp -o consumer libonnxruntime.so.1 "
                           "-Wl,-rpath,'$ORIGIN'");
  ASSERT_EQ(built.code, 0) << built.err;
  expect_places("consumer", "m.onnx");
}

}  // namespace
}  // namespace ddptrain::end_to_end
