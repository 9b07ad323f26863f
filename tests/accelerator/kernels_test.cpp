// The text of our CUDA kernels: compiled here as C++ of the host it gives the CPU's bits, and NVRTC
// makes code of it for every kind of GPU that matters.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/compiler.h"
#include "accelerator/kernel_types.h"
#include "base/error.h"
#include "models/operators/dropout_mask.h"
#include "support/where.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/add_relu.cu"
#include "accelerator/cuda/kernels/dropout.cu"
#include "accelerator/cuda/kernels/normalize_images.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

using test::by_type;
using test::kTypes;

/// What the kernel makes of an input, in few threads, so that each makes several turns.
at::Tensor emulated_dropout(const at::Tensor& input, const MaskRows& rows, double p,
                            bool from_the_device = false) {
  const auto output = at::empty_like(input);
  const DropoutMasks masks{p, rows.key, rows.step, rows.first_row, rows.elements};
  auto arguments = dropout_arguments(input, masks);
  const long long step = rows.step;
  if (from_the_device) {
    arguments.step = 999;
    arguments.step_there = &step;
  }
  const auto* positions = reinterpret_cast<const long long*>(rows.positions.data());
  const auto run = [&]<class T>(void (*kernel)(const T*, T*, const long long*, DropoutArguments)) {
    emulated::launch(kernel, 3, 64, static_cast<const T*>(input.const_data_ptr()),
                     static_cast<T*>(output.mutable_data_ptr()), positions, arguments);
  };
  by_type(input.scalar_type(), &kernels::dropout_float, &kernels::dropout_double,
          &kernels::dropout_bfloat16, &kernels::dropout_half, run);
  return output;
}

void expect_the_bits_of_the_cpu(const at::Tensor& input, std::int64_t elements,
                                std::span<const std::int64_t> positions = {}) {
  ASSERT_TRUE(dropout_takes(input, elements)) << input.sizes() << input.strides();
  for (const double p : {1e-12, 0.1, 0.5, 1.0}) {
    const MaskRows rows{0x123456789ABCDEF0, 7, 5, input.size(0), elements, positions};
    EXPECT_TRUE(emulated_dropout(input, rows, p).equal(drop(input, rows, p)))
        << input.sizes() << input.strides() << input.scalar_type() << p;
  }
}

TEST(DropoutKernel, HasTheBitsOfTheCpuInEveryTypeAndSize) {
  for (const auto type : kTypes)
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{
             {1, 1}, {3, 7}, {5, 12}, {2, 3, 5, 7}, {1, (1 << 20) + 3}, {(1 << 20) + 3, 1}})
      expect_the_bits_of_the_cpu(at::randn(shape).to(type), at::randn(shape).numel() / shape[0]);
}

TEST(DropoutKernel, ReadsChannelsLastAsItLies) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{3, 8, 4, 4}, {2, 5, 3, 3}})
    expect_the_bits_of_the_cpu(at::randn(shape).contiguous(at::MemoryFormat::ChannelsLast),
                               shape[1] * shape[2] * shape[3]);
}

TEST(DropoutKernel, RepeatsMasksOverTimeAndOverWholeRows) {
  const auto x = at::randn({4, 6, 10});
  expect_the_bits_of_the_cpu(x, 10);
  expect_the_bits_of_the_cpu(at::randn({6, 4, 12}).transpose(0, 1), 12);
  expect_the_bits_of_the_cpu(x, 1);
  expect_the_bits_of_the_cpu(at::randn({3, 8, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast), 1);
}

TEST(DropoutKernel, TakesOneRowWhateverItsStride) {
  const auto x = at::randn({8}).as_strided({1, 8}, {999, 1});
  expect_the_bits_of_the_cpu(x, 1);
  expect_the_bits_of_the_cpu(x, 8);
}

TEST(DropoutKernel, FollowsThePositionsOfRows) {
  const std::vector<std::int64_t> positions{9, 2, 70};
  expect_the_bits_of_the_cpu(at::randn({3, 33}), 33, positions);
}

TEST(DropoutKernel, ReadsTheStepOnTheDevice) {
  const auto x = at::randn({4, 12});
  const MaskRows rows{3, 7, 5, 4, 12};
  EXPECT_TRUE(emulated_dropout(x, rows, 0.5, true).equal(drop(x, rows, 0.5)));
}

TEST(DropoutKernel, LeavesOtherOrdersOfMemoryToACopy) {
  EXPECT_FALSE(dropout_takes(at::randn({4, 6, 10}).transpose(1, 2), 60));
  EXPECT_FALSE(dropout_takes(at::randn({4, 60}).slice(1, 0, 30), 30));
}

// Rounded twice, in single precision, then once to the result's type.
at::Tensor normalized(const at::Tensor& pixels, const at::Tensor& factor,
                      const at::Tensor& offset) {
  return pixels.to(at::kFloat).mul(factor.view({-1, 1, 1})).add(offset.view({-1, 1, 1}));
}

at::Tensor emulated_normalize(const at::Tensor& pixels, const NormalizePlanes& planes,
                              std::int64_t boxes, at::ScalarType type) {
  const auto output = at::empty_like(pixels, pixels.options().dtype(type));
  const auto arguments = normalize_arguments(pixels, boxes);
  const auto run =
      [&]<class T>(void (*kernel)(const unsigned char*, T*, NormalizePlanes, NormalizeArguments)) {
        emulated::launch(kernel, 3, 64, pixels.const_data_ptr<std::uint8_t>(),
                         static_cast<T*>(output.mutable_data_ptr()), planes, arguments);
      };
  by_type(type, &kernels::normalize_images_float, &kernels::normalize_images_double,
          &kernels::normalize_images_bfloat16, &kernels::normalize_images_half, run);
  return output;
}

TEST(NormalizeKernel, RoundsAsTheHostDoesInEveryTypeAndFormat) {
  const auto factor = at::tensor({0.0171F, 0.0175F, 0.0174F});
  const auto offset = at::tensor({-2.117F, -2.035F, -1.804F});
  NormalizePlanes planes{};
  planes.factor = factor.const_data_ptr<float>();
  planes.offset = offset.const_data_ptr<float>();
  for (const auto type : kTypes)
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      const auto pixels = at::randint(256, {3, 3, 5, 7}, at::kByte).contiguous(format);
      const auto expected = normalized(pixels, factor, offset).to(type);
      const auto output = emulated_normalize(pixels, planes, 0, type);
      EXPECT_TRUE(output.equal(expected)) << type;
      EXPECT_EQ(output.strides(), pixels.strides());
    }
}

TEST(NormalizeKernel, FillsTheBoxesOfEachImage) {
  const auto factor = at::tensor({0.5F, 2.F}), offset = at::tensor({1.F, -3.F}),
             fill = at::tensor({-7.F, 9.F});
  const auto boxes = at::tensor({1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 6, 1, 4, 3, 5, 6}, at::kInt);
  const auto pixels = at::randint(256, {2, 2, 6, 6}, at::kByte);
  NormalizePlanes planes{};
  planes.factor = factor.const_data_ptr<float>();
  planes.offset = offset.const_data_ptr<float>();
  planes.fill = fill.const_data_ptr<float>();
  planes.boxes = boxes.const_data_ptr<int>();
  const auto expected = normalized(pixels, factor, offset);
  const auto put = [&](std::int64_t image, std::int64_t top, std::int64_t left, std::int64_t bottom,
                       std::int64_t right) {
    expected[image]
        .slice(1, top, bottom)
        .slice(2, left, right)
        .copy_(fill.view({2, 1, 1}).expand({2, bottom - top, right - left}));
  };
  put(0, 1, 2, 3, 4);
  put(1, 0, 0, 6, 1);
  put(1, 4, 3, 5, 6);
  EXPECT_TRUE(emulated_normalize(pixels, planes, 2, at::kFloat).equal(expected));
}

// A blend of erased images, and a patch; three roundings after those of each image.
TEST(NormalizeKernel, MixesImagesWithTheirPartners) {
  const auto factor = at::tensor({0.0171F, 0.0175F}), offset = at::tensor({-2.117F, -2.035F}),
             fill = at::tensor({-7.F, 9.F});
  const auto boxes = at::tensor({1, 2, 3, 4, 0, 0, 0, 0}, at::kInt),
             partner_boxes = at::tensor({2, 0, 6, 3, 0, 0, 1, 5}, at::kInt),
             weights = at::tensor({0.F, 0.F, 6.F, 5.F, 0.7F, 1.F, 0.F, 4.F, 3.F, 0.F});
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const auto pixels = at::randint(256, {2, 2, 6, 5}, at::kByte).contiguous(format),
               partners = at::randint(256, {2, 2, 6, 5}, at::kByte).contiguous(format);
    NormalizePlanes planes{};
    planes.factor = factor.const_data_ptr<float>();
    planes.offset = offset.const_data_ptr<float>();
    planes.fill = fill.const_data_ptr<float>();
    planes.boxes = boxes.const_data_ptr<int>();
    planes.partners = partners.const_data_ptr<std::uint8_t>();
    planes.partner_boxes = partner_boxes.const_data_ptr<int>();
    planes.mixes = weights.const_data_ptr<float>();
    const auto expected = normalized(pixels, factor, offset),
               others = normalized(partners, factor, offset);
    const auto erased = fill.view({2, 1, 1});
    expected[0].slice(1, 1, 3).slice(2, 2, 4).copy_(erased.expand({2, 2, 2}));
    others[0].slice(1, 2, 6).slice(2, 0, 3).copy_(erased.expand({2, 4, 3}));
    others[1].slice(1, 0, 1).copy_(erased.expand({2, 1, 5}));
    expected[0].copy_(others[0].add(expected[0].sub(others[0]).mul(0.7F)));
    expected[1].slice(1, 1, 4).slice(2, 0, 3).copy_(others[1].slice(1, 1, 4).slice(2, 0, 3));
    EXPECT_TRUE(emulated_normalize(pixels, planes, 1, at::kFloat).equal(expected));
  }
}

at::Tensor emulated_add_relu(const at::Tensor& residual, const at::Tensor& input) {
  const auto output = residual.clone();
  const auto run = [&]<class T>(void (*kernel)(T*, const T*, long long, int)) {
    emulated::launch(kernel, 3, 64, static_cast<T*>(output.mutable_data_ptr()),
                     static_cast<const T*>(input.const_data_ptr()),
                     static_cast<long long>(output.numel()),
                     static_cast<int>(reads_fours(output) && reads_fours(input)));
  };
  by_type(output.scalar_type(), &kernels::add_relu_float, &kernels::add_relu_double,
          &kernels::add_relu_bfloat16, &kernels::add_relu_half, run);
  return output;
}

TEST(AddReluKernel, GivesTheCpusBitsInEveryTypeAndFormat) {
  for (const auto type : kTypes)
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast})
      for (const std::int64_t channels : {3, 8}) {
        const auto a = at::randn({3, channels, 5, 7}).to(type).contiguous(format);
        const auto b = at::randn({3, channels, 5, 7}).to(type).contiguous(format);
        ASSERT_TRUE(add_relu_takes(a, b));
        EXPECT_TRUE(emulated_add_relu(a, b).equal(at::relu(a.add(b)))) << type;
      }
}

TEST(AddReluKernel, TakesNumbersThatAreNotAlignedAndKeepsNan) {
  const auto whole = at::randn({40});
  const auto a = whole.slice(0, 1, 14), b = whole.slice(0, 21, 34);
  a[3].fill_(std::numeric_limits<float>::quiet_NaN());
  const auto sum = emulated_add_relu(a, b), expected = at::relu(a.add(b));
  EXPECT_TRUE(sum.isnan().equal(expected.isnan()));
  EXPECT_TRUE(sum.nan_to_num().equal(expected.nan_to_num()));
}

TEST(AddReluKernel, LeavesOtherOrdersOfMemoryAndTypesToTwoKernels) {
  const auto x = at::randn({2, 8, 5, 7});
  EXPECT_FALSE(add_relu_takes(x, x.contiguous(at::MemoryFormat::ChannelsLast)));
  EXPECT_FALSE(add_relu_takes(x, x.to(at::kDouble)));
  EXPECT_FALSE(add_relu_takes(x.to(at::kInt), x.to(at::kInt)));
}

/// Where NVIDIA's wheels or a toolkit may have it.
std::vector<std::string> nvrtc_libraries() {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& folder) {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (std::filesystem::exists(folder + "/" + name)) all.push_back(folder + "/" + name);
  };
  add(DDPTRAIN_LIBTORCH "/../nvidia/cu13/lib");
  if (const char* deps = std::getenv("DDPTRAIN_DEPS"))
    add(std::string(deps) + "/libtorch-" + test::torch_version() + "/nvidia/cu13/lib");
  add("/usr/local/cuda/lib64");
  return all;
}

class Nvrtc : public testing::TestWithParam<int> {};

TEST_P(Nvrtc, MakesCodeOfEveryKernel) {
  const auto libraries = nvrtc_libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no libnvrtc here";
  const KernelCompiler compiler(libraries);
  const std::vector<std::string> types{"float", "double", "bfloat16", "half"};
  for (const auto* text :
       {&add_relu_text(), &batch_norm_relu_text(), &column_sums_text(), &dropout_text(),
        &max_pool_text(), &norm_rows_text(), &normalize_images_text(), &optimizer_steps_text(),
        &residual_norm_text(), &sync_norm_text(), &vocabulary_rows_text()}) {
    const auto code = compiler.compile({.text = *text, .capability = GetParam()});
    const std::string name = text->name;
    EXPECT_EQ(code.substr(1, 3), "ELF");
    for (const auto& type : types) {
      const bool wide = type == "float" || type == "double";
      const bool halves_too = text == &norm_rows_text() || text == &optimizer_steps_text();
      const bool has = halves_too ? type != "double" : text == &sync_norm_text() ? wide : true;
      const auto end = "_" + type;
      EXPECT_EQ(code.find(end) != std::string::npos, has) << name << end;
    }
    if (const char* folder = std::getenv("DDPTRAIN_KEEP_CUBINS")) {  // for cuobjdump
      std::ofstream(std::string(folder) + "/" + name + std::to_string(GetParam()) + ".cubin",
                    std::ios::binary)
          << code;
    }
  }
}

TEST(NvrtcOfARow, TakesItsThreadsAndFours) {
  const auto libraries = nvrtc_libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no libnvrtc here";
  const KernelCompiler compiler(libraries);
  KernelCode code{residual_norm_text(), "bfloat16", 90, {"LANES=256", "FOURS=2"}};
  const auto wide = compiler.description(code);
  EXPECT_THAT(wide, testing::HasSubstr("--define-macro=LANES=256 --define-macro=FOURS=2"));
  EXPECT_EQ(compiler.compile(code).substr(1, 3), "ELF");
  code.macros = {"LANES=32", "FOURS=2"};
  EXPECT_NE(compiler.description(code), wide);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Nvrtc, testing::Values(80, 90, 100),
                         [](const auto& capability) {
                           return "sm_" + std::to_string(capability.param);
                         });

TEST(NvrtcOfADeviceThatItDoesNotKnow, MakesPtx) {
  const auto libraries = nvrtc_libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no libnvrtc here";
  const auto code = KernelCompiler(libraries).compile({.text = dropout_text(), .capability = 999});
  EXPECT_THAT(code, testing::HasSubstr(".visible .entry dropout_float"));
}

TEST(NvrtcThatIsNotThere, SaysWhatWouldDo) {
  EXPECT_THAT([] { KernelCompiler({"libnvrtc-that-is-not-there.so"}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "'make setup-cuda TORCH=" + test::torch_version() + "' installs it")));
}

TEST(NvrtcThatRefusesAText, GivesItsMessages) {
  const auto libraries = nvrtc_libraries();
  if (libraries.empty()) GTEST_SKIP() << "there is no libnvrtc here";
  const KernelText wrong{"wrong.cu", "int x = y;", {}};
  const auto compile = [&] {
    KernelCompiler(libraries).compile({.text = wrong, .capability = 90});
  };
  EXPECT_THAT(compile,
              testing::ThrowsMessage<Error>(testing::StartsWith(
                  "NVRTC refuses wrong.cu: NVRTC_ERROR_COMPILATION\nwrong.cu(1): error: ")));
}

}  // namespace
}  // namespace ddptrain
