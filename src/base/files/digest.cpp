#include "base/files/digest.h"

#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, bits reflected

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// table[k][b]: what byte b contributes when k bytes follow it ("slicing by eight").
constexpr Tables make_tables() {
  Tables table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? polynomial : 0u);
    table[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t k = 1; k < 8; ++k)
      table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 0xff];
  return table;
}

constexpr Tables tables = make_tables();

std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), 8);
  return word;
}

std::uint32_t by_tables(std::string_view bytes, std::uint32_t crc) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const auto word = word_of(bytes) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (const char c : bytes)
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes,
                                                               std::uint32_t crc) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    crc = static_cast<std::uint32_t>(__builtin_ia32_crc32di(crc, word_of(bytes)));
  for (const char c : bytes) crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(c));
  return crc;
}
#endif

/// Of two polynomials, modulo the one above; bit 31 is x^0.
std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (; a != 0; a <<= 1) {
    if (a >> 31) sum ^= b;
    b = (b >> 1) ^ ((b & 1) ? polynomial : 0u);
  }
  return sum;
}

}  // namespace

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

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(bytes, ~before);
#endif
  return ~by_tables(bytes, ~before);
}

std::uint32_t crc32c_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t count) {
  auto power = std::uint32_t{1} << 23;  // x^8: one byte behind; bit 31 is x^0
  for (; count > 0; count >>= 1) {
    if (count & 1) first = product(first, power);
    power = product(power, power);
  }
  return first ^ second;
}

}  // namespace ddptrain
