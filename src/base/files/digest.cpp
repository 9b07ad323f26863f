#include "base/files/digest.h"

#include <openssl/evp.h>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>()) {
  const auto* algorithm = kind == DigestKind::sha256 ? EVP_sha256() : EVP_md5();
  const bool ready = EVP_DigestInit_ex(state_->context, algorithm, nullptr) == 1;
  DDP_CHECK(ready, "libcrypto has no such digest");
}

Digest::~Digest() = default;

void Digest::add(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Digest::finish() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(state_->context, bytes, &length);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

std::string sha256(std::string_view text) {
  Digest digest(DigestKind::sha256);
  digest.add(text);
  return digest.finish();
}

std::string md5(std::string_view text) {
  Digest digest(DigestKind::md5);
  digest.add(text);
  return digest.finish();
}

std::string digest_file(DigestKind kind, const std::string& path) {
  InputFile file(path);
  Digest digest(kind);
  std::string buffer(1 << 20, '\0');
  while (const auto got = file.read_next(buffer.data(), buffer.size()))
    digest.add({buffer.data(), got});
  return digest.finish();
}

}  // namespace ddptrain
