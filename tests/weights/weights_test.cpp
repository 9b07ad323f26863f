// Published weights by name.
#include "weights/weights.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>

namespace ddptrain {
namespace {

using testing::ElementsAre;

// torchvision, timm: torch.hub's check_hash compares what stands between the last dash and the
// ending with the beginning of the file's sha256.
TEST(PublishedWeights, HaveTheDigestThatTheirFilesAreNamedAfter) {
  const std::regex named(".*-([0-9a-f]{8})\\.pth");
  for (const auto& weights : published_weights()) {
    std::smatch digits;
    const auto file = file_name(weights);
    if (weights.publisher == "fastai") {
      EXPECT_TRUE(weights.sha256.empty()) << file;
    } else {
      ASSERT_TRUE(std::regex_match(file, digits, named)) << file;
      EXPECT_EQ(digits[1].str(), weights.sha256);
    }
  }
}

TEST(PublishedWeights, AreCompleteRows) {
  for (const auto& weights : published_weights()) {
    const auto what = text_of(weights);
    EXPECT_TRUE(weights.url.starts_with("https://")) << what;
    EXPECT_FALSE(weights.license.empty()) << what;
    EXPECT_TRUE(weights.license_source.empty() || weights.license_source.starts_with("https://"))
        << what;
    EXPECT_EQ(weights.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << what;
    if (!weights.prepared) continue;
    EXPECT_LE(weights.prepared->crop, weights.prepared->resize) << what;
    EXPECT_GT(weights.mebibytes, 4) << what;
  }
}

TEST(PublishedWeights, AreCalledOnceForEachModelAndHaveOneFileEach) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  std::set<std::string> files;
  std::set<std::string_view> defaults;
  for (const auto& weights : published_weights()) {
    EXPECT_TRUE(names.emplace(weights.model, weights.name).second) << text_of(weights);
    EXPECT_TRUE(files.insert(file_name(weights)).second) << text_of(weights);
    EXPECT_NE(weights.name, "imagenet");
    EXPECT_TRUE(!weights.is_default || defaults.insert(weights.model).second) << weights.model;
  }
}

// torchvision.models.ResNet50_Weights.DEFAULT is IMAGENET1K_V2, ResNet18_Weights has but one.
TEST(PublishedWeights, AreFoundByNameAndImagenetIsTheDefault) {
  EXPECT_EQ(file_name(*find_weights("resnet50", "imagenet")), "resnet50-11ad3fa6.pth");
  EXPECT_EQ(file_name(*find_weights("resnet50", "imagenet1k_v1")), "resnet50-0676ba61.pth");
  EXPECT_EQ(file_name(*find_weights("resnet18", "imagenet")), "resnet18-f37072fd.pth");
  EXPECT_EQ(find_weights("resnet50", "a1_in1k")->publisher, "timm");
  EXPECT_EQ(find_weights("resnet50", "imagenet1k_v3"), nullptr);
  EXPECT_EQ(find_weights("xresnet50", "imagenet"), nullptr);
  EXPECT_EQ(find_weights("awd_lstm", "imagenet"), nullptr);
  EXPECT_THAT(weights_names("resnet34"), ElementsAre("imagenet", "imagenet1k_v1", "a1_in1k"));
}

TEST(PublishedWeights, SuggestNames) {
  EXPECT_EQ(no_such_weights("resnet18", "imagnet"),
            "'resnet18' has no weights 'imagnet'; did you mean 'imagenet'?");
  EXPECT_EQ(no_such_weights("resnet18", "IMAGENET1K_V1"),
            "'resnet18' has no weights 'IMAGENET1K_V1'; did you mean 'imagenet1k_v1'?");
  EXPECT_EQ(no_such_weights("resnet18", "pretrained"),
            "'resnet18' has no weights 'pretrained'; there are imagenet, imagenet1k_v1, a1_in1k");
  EXPECT_EQ(no_such_weights("mlp", "imagenet"),
            "no published weights of 'mlp' have a name here; see 'ddptrain weights list'");
}

}  // namespace
}  // namespace ddptrain
