#include "sources/image/pixel_cache.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/output/log.h"
#include "base/random.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

/// Pixels that only this number has.
std::vector<std::uint8_t> pixels_of(int number, int width, int height) {
  std::vector<std::uint8_t> pixels;
  Stream random(7, static_cast<std::uint64_t>(number));
  for (int i = 0; i < 3 * width * height; ++i)
    pixels.push_back(static_cast<std::uint8_t>(random.word()));
  return pixels;
}

PixelKey key_of_image(int number) {
  return pixel_key("images/" + std::to_string(number) + ".jpg", {FileKind::file, 100, 5});
}

DecodedPixels decoded_of(const std::vector<std::uint8_t>& pixels, int width, int height,
                         int shrink = 1) {
  return {{width * shrink, height * shrink},
          shrink,
          true,
          {pixels.data(), std::size_t(width) * 3, width, height, 3}};
}

void add_image(const PixelCache& cache, int number, int width, int height) {
  const auto pixels = pixels_of(number, width, height);
  cache.add(key_of_image(number), decoded_of(pixels, width, height));
}

std::vector<std::uint8_t> bytes_of(const DecodedPixels& image) {
  const auto& view = image.pixels;
  return {view.first, view.row(view.height)};
}

PixelCache::Options options_in(const TemporaryFolder& folder, std::int64_t size = 1 << 20) {
  return {folder / "images", "flowers", 100, size};
}

/// How many of these images are in the cache, each whole.
int whole_images(const PixelCache& cache, int count, int width, int height) {
  int found = 0;
  for (int number = 0; number < count; ++number) {
    const auto image = cache.find(key_of_image(number), 1);
    if (!image) continue;
    EXPECT_EQ(bytes_of(*image), pixels_of(number, width, height));
    ++found;
  }
  return found;
}

TEST(PixelCache, FindsWhatAnyProcessAdded) {
  const TemporaryFolder folder;
  const PixelCache reader(options_in(folder));
  EXPECT_FALSE(reader.find(key_of_image(1), 0));
  {
    const PixelCache writer(options_in(folder));
    add_image(writer, 1, 5, 4);
  }
  const auto found = reader.find(key_of_image(1), 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(bytes_of(*found), pixels_of(1, 5, 4));
  EXPECT_EQ(found->size, (ImageSize{5, 4}));
  EXPECT_TRUE(found->scales);
  EXPECT_FALSE(reader.find(key_of_image(1), 2));
  EXPECT_FALSE(reader.find(key_of_image(2), 0));
  EXPECT_TRUE(PixelCache(options_in(folder)).find(key_of_image(1), 0));  // a later run
}

TEST(PixelCache, HasAnImageAtSeveralScales) {
  const TemporaryFolder folder;
  const PixelCache cache(options_in(folder));
  add_image(cache, 1, 8, 6);
  const auto half = pixels_of(50, 4, 3);
  cache.add(key_of_image(1), decoded_of(half, 4, 3, 2));
  EXPECT_EQ(bytes_of(*cache.find(key_of_image(1), 1)), pixels_of(1, 8, 6));
  EXPECT_EQ(bytes_of(*cache.find(key_of_image(1), 2)), half);
  EXPECT_EQ(cache.find(key_of_image(1), 2)->size, (ImageSize{8, 6}));
}

TEST(PixelCache, AChangedFileIsAnotherImage) {
  const TemporaryFolder folder;
  const PixelCache cache(options_in(folder));
  const std::string path = "images/1.jpg";
  for (const auto& now : {FileInfo{FileKind::file, 100, 5}, FileInfo{FileKind::file, 101, 5},
                          FileInfo{FileKind::file, 101, 6}}) {
    const auto key = pixel_key(path, now);
    EXPECT_FALSE(cache.find(key, 0));
    const auto pixels = pixels_of(int(now.size + std::uint64_t(now.changed)), 3, 3);
    cache.add(key, decoded_of(pixels, 3, 3));
    ASSERT_TRUE(cache.find(key, 1));
    EXPECT_EQ(bytes_of(*cache.find(key, 1)), pixels);
  }
  EXPECT_FALSE(cache.find(pixel_key(path, {FileKind::file, 100, 5}), 0));
}

TEST(PixelCache, StaysWithinItsSize) {
  const TemporaryFolder folder;
  const std::int64_t size = 64 << 10;
  const PixelCache cache(options_in(folder, size));
  for (int number = 0; number < 100; ++number) add_image(cache, number, 20, 20);
  const int found = whole_images(cache, 100, 20, 20);
  EXPECT_GT(found, 35);  // of 1,264 bytes each, behind 8 KiB
  EXPECT_LT(found, 52);
  EXPECT_LE(std::filesystem::file_size(cache.path()), std::uintmax_t(size));
  EXPECT_FALSE(cache.has_room(1200));
  EXPECT_TRUE(PixelCache(options_in(folder, 2 * size)).has_room(1200));
}

TEST(PixelCache, AnotherSizeThatIsTooSmallBeginsAgain) {
  const TemporaryFolder folder;
  const PixelCache large(options_in(folder));
  for (int number = 0; number < 60; ++number) add_image(large, number, 20, 20);
  const PixelCache small(options_in(folder, 32 << 10));
  EXPECT_EQ(whole_images(small, 60, 20, 20), 0);
  EXPECT_EQ(whole_images(large, 60, 20, 20), 60);  // which still uses its file
}

TEST(PixelCache, ThreadsAndProcessesFillItTogether) {
  const TemporaryFolder folder;
  const auto fill = [&] {
    const PixelCache cache(options_in(folder, 4 << 20));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 100; ++i) {
          const int number = (i * 37 + thread * 11) % 100;
          if (const auto found = cache.find(key_of_image(number), 1))
            EXPECT_EQ(bytes_of(*found), pixels_of(number, 9, 7));
          else
            add_image(cache, number, 9, 7);
        }
      });
    for (auto& thread : threads) thread.join();
  };
  const auto child = ::fork();
  if (child == 0) {
    fill();
    ::_exit(testing::Test::HasFailure());
  }
  fill();
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(whole_images(PixelCache(options_in(folder, 4 << 20)), 100, 9, 7), 100);
}

TEST(PixelCache, AKilledProcessLeavesWholeImagesOnly) {
  const TemporaryFolder folder;
  int found = 0;
  for (int kill = 0; kill < 20; ++kill) {
    const auto child = ::fork();
    if (child == 0) {
      const PixelCache cache(options_in(folder, 64 << 20));
      for (int number = 0; number < 400; ++number)
        if (!cache.find(key_of_image(number), 1)) add_image(cache, number, 60, 50);
      ::_exit(0);
    }
    if (kill < 19) {
      ::usleep(static_cast<useconds_t>(2000 + 1700 * kill));
      ::kill(child, SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    const int now = whole_images(PixelCache(options_in(folder, 64 << 20)), 400, 60, 50);
    EXPECT_GE(now, found);
    found = now;
  }
  EXPECT_EQ(found, 400);  // the last was left alone
}

TEST(PixelCache, AFileThatIsNotOfThisBootIsReplaced) {
  const TemporaryFolder folder;
  std::string path;
  {
    const PixelCache cache(options_in(folder));
    add_image(cache, 1, 4, 4);
    path = cache.path();
  }
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(16) << "another boot";
  EXPECT_FALSE(PixelCache(options_in(folder)).find(key_of_image(1), 0));
  std::filesystem::resize_file(path, 10);
  EXPECT_FALSE(PixelCache(options_in(folder)).find(key_of_image(1), 0));
}

TEST(PixelCache, AFullDiskIsWarnedOfOnce) {
  const TemporaryFolder folder;
  std::vector<std::string> warnings;
  const log::WarningListener listener([&](const std::string& line) { warnings.push_back(line); });
  const PixelCache cache(options_in(folder));
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit few { 20 << 10, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &few);
  for (int number = 0; number < 30; ++number) add_image(cache, number, 20, 20);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "cannot write to '" + cache.path() +
                          "': File too large; images that are not in it are decoded each time"}));
  EXPECT_GT(whole_images(cache, 30, 20, 20), 3);
}

TEST(PixelCache, NamesAFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  folder.write("images", "a file");
  try {
    const PixelCache cache(options_in(folder));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr(folder / "images"));
  }
}

}  // namespace
}  // namespace ddptrain
