#include "sources/image/mask_codes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

template <class Work>
std::string problem_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(MaskCodes, AreTheNumbersOfTheirNames) {
  const MaskCodes codes({"sky", "road", "car"}, {}, {});
  EXPECT_EQ(codes.class_of(2), 2);
  EXPECT_EQ(codes.class_of(3), MaskCodes::unknown);
  EXPECT_EQ(codes.class_of(255), MaskCodes::unknown);
  EXPECT_EQ(codes.void_of(), std::nullopt);
  EXPECT_EQ(codes.border(), 0);
  EXPECT_EQ(codes.values_text(), "0 to 2");
}

TEST(MaskCodes, MayHaveNumbersOfTheirOwn) {
  const MaskCodes codes({"ground", "figure"}, {0, 255}, {"128"});
  EXPECT_EQ(codes.class_of(255), 1);
  EXPECT_EQ(codes.class_of(128), MaskCodes::void_code);
  EXPECT_EQ(codes.value_of(1), 255);
  EXPECT_EQ(codes.values_text(), "0, 128, 255");
}

TEST(MaskCodes, CallVoidByNameOrNumber) {
  const MaskCodes codes({"sky", "road", "Void"}, {}, {"Void", "255"});
  EXPECT_EQ(codes.class_of(2), 255);
  EXPECT_EQ(codes.class_of(255), 255);
  EXPECT_EQ(codes.value_of(MaskCodes::void_code), 2) << "the first that is named";
  EXPECT_EQ(codes.void_of(), 255);
  EXPECT_EQ(codes.border(), 255);
  EXPECT_EQ(codes.names().size(), 3U) << "numbers of the others stay";
}

TEST(MaskCodes, RefuseWhatDoesNotFit) {
  const auto problem = [](const std::vector<std::int64_t>& values, const Names& without) {
    return problem_of([&] { MaskCodes({"sky", "road"}, values, without); });
  };
  EXPECT_EQ(problem({0}, {}), "data.values: 1 numbers for 2 codes");
  EXPECT_EQ(problem({}, {"raod"}),
            "data.void: 'raod' is none of the codes; did you mean 'road'?; a number in the files "
            "may stand here too");
  EXPECT_EQ(problem({}, {"300"}), "data.void: '300' is no number of a mask, 0 to 255");
  EXPECT_EQ(problem_of([] { MaskCodes(Names(256, "x"), {}, {}); }),
            "data.codes: 256 classes; a mask has at most 255");
}

TEST(CodeNames, StandInTheLinesOfAFile) {
  const TemporaryFolder folder;
  folder.write("codes.txt", "Animal\r\nArchway\n\nVoid\n");
  CodesOption codes;
  codes.file = "codes.txt";
  EXPECT_EQ(code_names(codes, folder.path()), (Names{"Animal", "Archway", "Void"}));
  folder.write("codes.txt", "a\nb\na\n");
  EXPECT_EQ(problem_of([&] { code_names(codes, folder.path()); }),
            (folder / "codes.txt") + ":3: class 'a' is there twice");
  folder.write("codes.txt", "\n");
  EXPECT_EQ(problem_of([&] { code_names(codes, folder.path()); }),
            (folder / "codes.txt") + ": no class; a name in each line is wanted");
}

}  // namespace
}  // namespace ddptrain
