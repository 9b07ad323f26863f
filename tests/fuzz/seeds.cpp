// fuzz_seeds FOLDER: the first inputs of every fuzzer, FOLDER/<fuzzer>/<file>, made from files of
// the repository or written here.
#include <webp/encode.h>

#include <filesystem>

#include "base/files/digest.h"
#include "base/files/files.h"
#include "checkpoint/manifest.h"
#include "sources/archives.h"
#include "transforms/codecs/decode.h"

using namespace ddptrain;
namespace fs = std::filesystem;

namespace {

const fs::path source = DDPTRAIN_SOURCE;

class Seeds {
 public:
  explicit Seeds(fs::path folder) : folder_(std::move(folder)) {}

  void add(const std::string& fuzzer, const std::string& name, std::string_view content) const {
    make_folders((folder_ / fuzzer).string());
    write_atomically((folder_ / fuzzer / name).string(), content);
  }

  /// Every file of a folder that ends so, with `tail` behind it.
  void add_files(const std::string& fuzzer, const fs::path& from, const std::string& extension,
                 const std::string& tail = "") const {
    for (const auto& entry : fs::directory_iterator(source / from))
      if (entry.path().extension() == extension)
        add(fuzzer, from.filename().string() + "_" + entry.path().filename().string(),
            read_text(entry.path().string()) + tail);
  }

 private:
  fs::path folder_;
};

void add_recipes(const Seeds& seeds) {
  for (const char* folder : {"recipes", "recipes/base", "configs", "tests/recipes"})
    for (const std::string fuzzer : {"recipe", "decoder"}) seeds.add_files(fuzzer, folder, ".yaml");
  seeds.add("recipe", "short.yaml",
            "model: mlp\ndata: {type: image_folder, root: pictures}\nbatch: {global: 8}\n");
  for (const std::string words :
       {"5 epochs", "1000 steps", "20000 samples", "1 h 30 min", "75 %", "0.5 epochs", "64 MiB",
        "1e3", "010", "1_000", ".inf", "true", "25 MB"})
    seeds.add("duration", std::to_string(words.size()) + words.substr(0, 2), words);
  seeds.add("overrides", "words",
            "optimizer.lr=0.2\n~schedule.warmup\nmetrics+=[top_k]\ndata.transforms[1].size=9\n"
            "data.transforms[resize].size=7\nbatch={per_rank: 4, accumulate: 2}\n"
            "train.for=100 steps\nmodel=mlp\n~data.transforms[0]\nname='a b'\n");
}

std::string webp_of(const Image& image, bool lossless) {
  std::uint8_t* bytes = nullptr;
  const int stride = image.width * 3;
  const auto size =
      lossless
          ? WebPEncodeLosslessRGB(image.bytes.data(), image.width, image.height, stride, &bytes)
          : WebPEncodeRGB(image.bytes.data(), image.width, image.height, stride, 40, &bytes);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  WebPFree(bytes);
  return file;
}

void add_images(const Seeds& seeds) {
  for (const char choice : {'\0', '\1', '\4', '\5'}) {
    const std::string tail{'\x55', choice};
    const auto number = std::to_string(choice);
    for (const char* extension : {".jpg", ".png"})
      seeds.add_files("image", "tests/golden/images", extension, tail);
    const auto file = read_text((source / "tests/golden/images/a_rgb.png").string());
    const auto* begin = reinterpret_cast<const std::uint8_t*>(file.data());
    const auto image = decode({{begin, file.size()}, "a_rgb.png"});
    seeds.add("image", "lossy" + number + ".webp", webp_of(image, false) + tail);
    seeds.add("image", "lossless" + number + ".webp", webp_of(image, true) + tail);
  }
}

void add_archives(const Seeds& seeds) {
  const std::vector<Item> items{{"set/a/1.txt", "one"},
                                {"set/b/l", "../a/1.txt", ItemType::link},
                                {"set/b/h", "set/a/1.txt", ItemType::hard_link},
                                {"set/c", "", ItemType::folder}};
  seeds.add("archive", "plain.tar", tar_of(items));
  seeds.add("archive", "plain.zip",
            zip_of({{"set/a.txt", "one"}, {"b\xc3\xa4", "two"}}, utf8_name));
  seeds.add_files("jpeg", "tests/golden/images", ".jpg");
  seeds.add_files("png", "tests/golden/images", ".png");
}

void add_tables(const Seeds& seeds) {
  seeds.add("csv", "plain", "path,label,split\na.jpg,cat,train\nb.jpg,dog,valid\n");
  seeds.add("csv", "quoted", "\xef\xbb\xbf\"path\",x\r\n\"a \"\"b\"\"\nc\",\"\"\r\n");
  seeds.add("table", "plain",
            "a,b,y\n1,x,no\n2,z,yes\n,x,no\n4,,yes\n5,x,no\n6,z,yes\n7,x,no\n8,x,yes\n");
  using namespace std::string_view_literals;
  seeds.add("idx", "labels", "\0\0\x8\1\0\0\0\3abc"sv);
  seeds.add("idx", "pictures", "\0\0\x8\3\0\0\0\1\0\0\0\2\0\0\0\2abcd"sv);
}

void add_texts(const Seeds& seeds) {
  for (const char* name : {"bert", "gpt2", "words"})
    seeds.add("tokenizer", name,
              read_text((source / "tests/text/tokenizer_files" / name).string() + ".json") +
                  "\n\nA text, it's [SEP] naïve");
  seeds.add_files("tokenizer", "tests/golden/tokenizers", ".json",
                  "\n\nA text, it's </s> naïve <0x41> \xf0\x9f\x98\x80");
  seeds.add(
      "list_page", "plain",
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<IsTruncated>true</IsTruncated><NextContinuationToken>a=</NextContinuationToken>"
      "<Contents><Key>a&amp;b.tar</Key><LastModified>2026-01-01</LastModified><ETag>&quot;1"
      "&#34;</ETag><Size>5</Size></Contents><CommonPrefixes><Prefix>c/</Prefix>"
      "</CommonPrefixes></ListBucketResult>");
  seeds.add("json_lines", "plain",
            "{\"text\": \"a \\u00e9\", \"label\": 1}\n\n{\"label\": \"x\", \"text\": \"b\"}\r\n");
}

std::string bytes_of(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

void add_token_files(const Seeds& seeds) {
  std::string header = R"({"tokens":3,"documents":2,"id_bytes":2,"tokenizer":"t",)"
                       R"("tokenizer_options":{"type":"bpe"},"padding":0,"unknown":"a",)"
                       R"("vocabulary":["a","b"],"bytes":[1,1]})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  seeds.add("token_file", "one",
            "ddptoks1" + bytes_of(header.size()) + header + bytes_of(1) + bytes_of(3) +
                bytes_of(0x0000'0001'0000) + bytes_of(0));
}

void add_checkpoints(const Seeds& seeds) {
  const ManifestFile model{"model.safetensors", {88, sha256("model")}, {{"w", "0a1b2c3d"}}};
  seeds.add_files("pickle", "tests/checkpoint/torch_files", ".pth", "");
  seeds.add_files("torch_file", "tests/checkpoint/torch_files", ".pth", "");
  seeds.add("manifest", "one", to_text(Manifest{740, {model}}));
  auto in_ranges = model;
  in_ranges.in_blocks = true;
  in_ranges.ranges = {{0, 80, 0, 0}, {80, 8, 1, 4176}};
  seeds.add("manifest", "ranks", to_text(Manifest{740, {in_ranges}, {80, 4184}}));
  const std::string header = R"({"__metadata__":{"format":"pt","classes":"[\"cat\",\"dog\"]"},)"
                             R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"BF16","shape":[2,2],"data_offsets":[8,16]}})";
  seeds.add("safetensors", "one", std::string{16, 0} + header);
  const std::string length{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  seeds.add("safetensors_file", "one", length + header + std::string(16, '\1'));
}

}  // namespace

int main(int, char** arguments) {
  const Seeds seeds(arguments[1]);
  add_recipes(seeds);
  add_images(seeds);
  add_archives(seeds);
  add_tables(seeds);
  add_texts(seeds);
  add_token_files(seeds);
  add_checkpoints(seeds);
}
