// text_to_ids FOLDER: seconds from the training texts of IMDB in memory to packed token ids,
// including the vocabulary, on one thread; compare with peers/text_to_ids.py. cpu: seconds of the
// processor, for a busy machine.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "sources/text/numericalize.h"

using namespace ddptrain;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> read_texts(const std::string& folder) {
  std::vector<std::string> paths, texts;
  for (const char* name : {"train/neg", "train/pos"})
    for (const auto& entry : fs::directory_iterator(fs::path(folder) / name))
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) texts.push_back(read_text(path));
  return texts;
}

}  // namespace

int main(int count, char** words) try {
  if (count != 2) throw Error(Exit::recipe, "usage: bench_text_to_ids FOLDER");
  const auto texts = read_texts(words[1]);
  Corpus corpus;
  corpus.classes = {"any"};
  corpus.documents[0].resize(texts.size());
  corpus.read = [&](std::size_t, std::size_t index) { return texts[index]; };
  const auto tokenizer = catalog<Tokenizer>().build(Choice<Tokenizer>("fastai"));
  const auto start = std::chrono::steady_clock::now();
  const auto before = std::clock();
  const auto packed = PackedText::encode(numericalize(corpus, *tokenizer, {}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto ticks = static_cast<double>(std::clock() - before);
  std::printf("texts %zu bytes %zu seconds %.3f cpu %.3f\n", texts.size(), packed.size(),
              took.count(), ticks / CLOCKS_PER_SEC);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
