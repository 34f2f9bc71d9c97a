// Valid safetensors files, damaged at random: read or refused, never a crash. Run under sanitizers
// in CI; what is accepted is checked to lie inside the file.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"
#include "ropewalk/io/safetensors.hpp"

using namespace ropewalk;

namespace {

// Reads every byte that a tensor claims; sanitizers and the mapping object if it is not there.
unsigned touch(const tensor_file& file) {
  unsigned sum = 0;
  for (const file_tensor& t : file.tensors())
    for (std::byte b : t.bytes) sum += std::to_integer<unsigned>(b);
  return sum;
}

std::string damaged(std::string text, std::mt19937& bits) {
  static const char* const pieces[] = {"{",
                                       "}",
                                       "[",
                                       "]",
                                       "\"",
                                       ",",
                                       ":",
                                       "-1",
                                       "0",
                                       "1e9",
                                       "null",
                                       "18446744073709551615",
                                       "9223372036854775807",
                                       "\\u0000",
                                       "\"F32\"",
                                       "\"I64\"",
                                       "\"__metadata__\"",
                                       "\"shape\"",
                                       "{}"};
  for (unsigned n = 1 + bits() % 4; n-- > 0 && !text.empty();) {
    // Half the hits in the first bytes: the length field and the start of the header.
    const std::size_t reach = bits() % 2 ? text.size() : std::min<std::size_t>(text.size(), 24);
    const std::size_t at = bits() % reach, value = bits();  // draws in a fixed order
    switch (bits() % 7) {
      case 0:
        text[at] = static_cast<char>(value);
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ 1 << value % 8);
        break;
      case 2:
        text.resize(at);
        break;
      case 3:
        text.insert(at, text.substr(value % text.size(), bits() % 40));
        break;
      case 4:
        text.erase(at, value % 20);
        break;
      case 5:
        text.insert(at, pieces[value % std::size(pieces)]);
        break;
      case 6: {  // a digit of the header: shapes and offsets that are nearly right
        auto digit = text.find_first_of("0123456789", std::max<std::size_t>(at, 8));
        if (digit != std::string::npos) text[digit] = static_cast<char>('0' + value % 10);
      }
    }
  }
  // Most of the time the length field fits again, so that the JSON is reached.
  if (text.size() > 16 && bits() % 4) {
    auto end = text.rfind('}');
    if (end != std::string::npos && end >= 8) {
      std::uint64_t length = end + 1 - 8;
      std::memcpy(text.data(), &length, 8);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("20,000 damaged files") {
  scratch_folder dir;
  std::mt19937 bits(2024);
  std::vector<std::string> valid;
  for (int n = 0; n < 6; ++n) {
    std::string data(64, '\0');  // without a brace, so that the last one is the header's
    std::vector<file_tensor> tensors;
    for (int i = 0; i < n; ++i)
      tensors.push_back(
          {"layer." + std::to_string(i) + ".w", static_cast<dtype>((i + n) % 7), {2, i % 3}, {}});
    for (file_tensor& t : tensors)
      t.bytes = std::as_bytes(std::span(data))
                    .first(dtype_size(t.type) * static_cast<std::size_t>(t.shape[0] * t.shape[1]));
    save_safetensors(dir / "a", tensors, n % 2 ? metadata_list{{"step", "12"}} : metadata_list{});
    valid.push_back(read_file(dir / "a"));
  }
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string& original = valid[bits() % valid.size()];
    const std::string file = damaged(original, bits);
    const std::vector<char> exact(file.begin(), file.end());  // no spare bytes behind its end
    try {
      tensor_file parsed(std::as_bytes(std::span(exact)), "fuzz");
      touch(parsed);
      ++accepted;
    } catch (const error& e) {
      REQUIRE(has(e.what(), "[fuzz] "));
      ++refused;
    }
  }
  CHECK(accepted > 200);  // both sides are reached
  CHECK(refused > 10'000);
  MESSAGE("accepted ", accepted, ", refused ", refused);
}

TEST_CASE("every prefix of a valid file is refused") {
  scratch_folder dir;
  const float data[6] = {};
  file_tensor t{"w", f32, {2, 3}, std::as_bytes(std::span(data))};
  save_safetensors(dir / "a", {&t, 1}, {{"k", "v"}});
  const std::string file = read_file(dir / "a");
  for (std::size_t n = 0; n < file.size(); ++n) {
    write_file_atomic(dir / "b", file.substr(0, n));
    CHECK_THROWS_AS(tensor_file(dir / "b"), error);
  }
  CHECK(touch(tensor_file(dir / "a")) == 0);
}
