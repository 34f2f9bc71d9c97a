// Safetensors: round trips over random files, and each rule of the format broken by one file.
#include "ropewalk/io/safetensors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"

using namespace ropewalk;

namespace {

std::string file_of(const std::string& header, const std::string& data = "") {
  std::string out(8, '\0');
  std::uint64_t n = header.size();
  std::memcpy(out.data(), &n, 8);
  return out + header + data;
}

tensor_file parse(const std::string& file) {
  return tensor_file(std::as_bytes(std::span(file.data(), file.size())), "f.safetensors");
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("what is saved is read back, whatever the tensors") {
  scratch_folder dir;
  std::mt19937 bits(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> data;
    std::vector<file_tensor> tensors;
    const auto count = bits() % 9;
    for (unsigned i = 0; i < count; ++i) {
      file_tensor t{"t\n\"é." + std::to_string(i), static_cast<dtype>(bits() % 7), {}, {}};
      std::size_t bytes = dtype_size(t.type);
      for (unsigned d = bits() % 4; d-- > 0;) {
        t.shape.push_back(bits() % 5);
        bytes *= static_cast<std::size_t>(t.shape.back());
      }
      data.emplace_back(bytes, '\0');
      for (char& c : data.back()) c = static_cast<char>(bits());
      tensors.push_back(t);
    }
    for (unsigned i = 0; i < count; ++i)
      tensors[i].bytes = std::as_bytes(std::span(data[i].data(), data[i].size()));
    std::shuffle(tensors.begin(), tensors.end(), bits);
    metadata_list metadata;
    for (unsigned i = bits() % 3; i-- > 0;)
      metadata.emplace_back(std::to_string(9 - i), std::string("\0\\ \"v\x7f", 7));
    std::ranges::sort(metadata);

    save_safetensors(dir / "a", tensors, metadata);
    tensor_file file(dir / "a");
    CHECK(file.metadata() == metadata);
    REQUIRE(file.tensors().size() == count);
    CHECK(std::ranges::is_sorted(file.names()));
    for (const file_tensor& t : tensors) {
      REQUIRE(file.contains(t.name));
      const file_tensor& found = file.require(t.name, t.type, t.shape);
      CHECK(text_of(found.bytes) == text_of(t.bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(found.bytes.data()) % dtype_size(t.type) == 0);
    }
    std::string once = read_file(dir / "a");
    std::shuffle(tensors.begin(), tensors.end(), bits);
    save_safetensors(dir / "a", tensors, metadata);
    CHECK(read_file(dir / "a") == once);  // the order given does not matter
  }
}

TEST_CASE("NaN and infinities pass through bit for bit") {
  scratch_folder dir;
  const float values[] = {std::numeric_limits<float>::quiet_NaN(), -0.0f,
                          std::numeric_limits<float>::infinity()};
  file_tensor t{"x", f32, {3}, std::as_bytes(std::span(values))};
  save_safetensors(dir / "a", {&t, 1});
  CHECK(std::memcmp(tensor_file(dir / "a").get("x").bytes.data(), values, sizeof values) == 0);
}

TEST_CASE("a moved file keeps its tensors") {
  scratch_folder dir;
  file_tensor t{"x", u8, {2}, std::as_bytes(std::span("ab", 2))};
  save_safetensors(dir / "a", {&t, 1}, {{"step", "7"}});
  tensor_file first(dir / "a"), second(std::move(first));
  CHECK(text_of(second.get("x").bytes) == "ab");
  CHECK(second.require_metadata("step") == "7");
}

TEST_CASE("files that others write: any order, zero sizes, padding, scalars") {
  const std::string header = R"( {"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                             R"("a":{"shape":[],"data_offsets":[0,4],"dtype":"F32"},)"
                             R"("z":{"dtype":"F16","shape":[0,7],"data_offsets":[4,4]}}    )";
  auto file = file_of(header.substr(1), "abcdef");
  auto f = parse(file);
  CHECK(f.names() == std::vector<std::string>{"a", "b", "z"});
  CHECK(text_of(f.get("a").bytes) == "abcd");
  CHECK(text_of(f.get("b").bytes) == "ef");
  CHECK(f.get("z").shape == std::vector<long>{0, 7});
  CHECK(f.get("a").shape.empty());
  CHECK(parse(file_of("{}")).tensors().empty());
  CHECK(parse(file_of(R"({"__metadata__":{}})")).metadata().empty());
}

TEST_CASE("each broken rule is an error that says which") {
  auto one = [](const std::string& fields) {
    return file_of(R"({"w":{)" + fields + "}}", "abcdefgh");
  };
  const std::string f32_2 = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  REQUIRE(message_of([&] { parse(one(f32_2)); }) == "");
  const std::pair<std::string, std::string> cases[] = {
      {"", "file size = 0: must be at least 8"},
      {std::string(8, '\0'), "does not begin with {"},
      {std::string(8, '\xff'), "header length = 18446744073709551615: must be at most 0"},
      {file_of("{}").substr(0, 9), "header length = 2: must be at most 1"},
      {file_of("[]"), "does not begin with {"},
      {file_of(" {}"), "does not begin with {"},
      {file_of("{} x"), "must be JSON"},
      {file_of("{}{}"), "must be JSON"},
      {file_of("{\"\xff\":1}"), "must be JSON"},
      {file_of(std::string("{}\0", 3)), "header, byte 2 = 0: must be JSON"},
      {file_of(R"({"w":)"), "must be JSON"},
      {file_of(R"({"w":5})"), "tensor w = 5: must be an object"},
      {file_of(R"({"w":"x"})"), "tensor w = \"x\": must be an object"},
      {file_of(R"({"w":[1]})"), "tensor w = a list: must be an object"},
      {file_of(R"({"w":null})"), "tensor w = null: must be an object"},
      {file_of(R"({"__metadata__":5})"), "__metadata__  = 5: must be a string"},
      {file_of(R"({"__metadata__":{"k":5}})"), "__metadata__ k = 5: must be a string"},
      {file_of(R"({"__metadata__":{"k":["v"]}})"), "__metadata__ k = a list: must be a string"},
      {file_of(R"({"__metadata__":{"k":{}}})"), "__metadata__ k = an object: must be a string"},
      {file_of(R"({"__metadata__":{"k":"a","k":"b"}})"),
       "__metadata__ key = k: must be given once"},
      {file_of(R"({"__metadata__":{},"__metadata__":{}})"), "must be given once"},
      {one(""), "tensor w, dtype = nothing: must be given"},
      {one(R"("dtype":"F32","shape":[2])"), "tensor w, data_offsets = nothing: must be given"},
      {one(R"("dtype":"F32","data_offsets":[0,8])"), "tensor w, shape = nothing: must be given"},
      {one(f32_2 + R"(,"more":1)"), "field = more: must be dtype, shape or data_offsets"},
      {one(f32_2 + R"(,"dtype":"U8")"), "tensor w, dtype = two values: must be given once"},
      {one(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])"), "tensor w, dtype = I64: must be"},
      {one(R"("dtype":8,"shape":[1],"data_offsets":[0,8])"), "tensor w, dtype = 8: must be a str"},
      {one(R"("dtype":["F32"],"shape":[2],"data_offsets":[0,8])"), "dtype = a list: must be a st"},
      {one(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), "shape = 2: must be a list"},
      {one(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "shape = -2: must be a list"},
      {one(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), "shape = 2.0: must be a list"},
      {one(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), "shape = a list: must be"},
      {one(R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])"), "shape = \"2\": must be"},
      {one(R"("dtype":"F32","shape":[{}],"data_offsets":[0,8])"), "shape = an object: must be"},
      {one(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8])"), "below 2^63"},
      {one(R"("dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8])"), "2^64 bytes"},
      {one(R"("dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0])"), "2^64"},
      {one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "must span 12 bytes for f32 [3]"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,12])"), "[0, 12]: must be in order"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "[8, 0]: must be in order"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[8])"), "1 values: must be two offsets"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), "3 values: must be two"},
      {one(R"("dtype":"F32","shape":[2],"data_offsets":8)"), "data_offsets = 8: must be two"},
      {one(R"("dtype":"U8","shape":[7],"data_offsets":[1,8])"), "begin where the tensor before"},
      {one(R"("dtype":"U8","shape":[7],"data_offsets":[0,7])"), "data size = 8: must be 7"},
      {file_of("{\"w\":{" + f32_2 + "},\"w\":{" + f32_2 + "}}", "abcdefgh"), "tensor = w: must be"},
      {file_of("{\"v\":{" + f32_2 + "},\"w\":{" + f32_2 + "}}", "abcdefgh"),
       "tensor w, data_offsets = 0: must begin where the tensor before it ends, 8"},
  };
  for (const auto& [file, expected] : cases) {
    auto message = message_of([&] { parse(file); });
    CHECK_MESSAGE(has(message, expected), message, " / ", expected);
    CHECK(has(message, "[f.safetensors] "));
  }
  const std::string deep = file_of(R"({"w":)" + std::string(1'000'000, '['));
  CHECK(has(message_of([&] { parse(deep); }), "must be an object"));  // refused at the first one
  const std::string bell = file_of("{\"\\u0007" + std::string(500, 'n') + "\":1}");
  CHECK(message_of([&] { parse(bell); }).size() < 200);  // a stranger's name is cut and cleaned
  CHECK(!has(message_of([&] { parse(bell); }), "\a"));
}

TEST_CASE("a checksum is filled in where it is asked for, and notices what is not the same") {
  scratch_folder dir;
  const auto save = [&](const std::string& data, const metadata_list& metadata) {
    const auto bytes = std::as_bytes(std::span(data.data(), data.size()));
    const file_tensor t[] = {{"v", u8, {1}, bytes.first(1)}, {"w", u8, {39}, bytes.subspan(1)}};
    save_safetensors(dir / "a", t, metadata);
    return read_file(dir / "a");
  };
  const std::string data = "0123456789abcdef0123456789ABCDEF01234567";
  const std::string plain = save(data, {{"k", "v"}});
  CHECK(!has(plain, checksum_key));
  const metadata_list asked = {{"k", "v"}, {checksum_key, "whatever"}};
  const std::string sealed = save(data, asked);
  const std::string sum = parse(sealed).require_metadata(checksum_key);
  CHECK(sum.size() == 16);
  CHECK(save(data, asked) == sealed);
  CHECK(save(data, {{checksum_key, sum}, {"k", "v"}}) == sealed);
  // Another value, key, order of words, or pair of high bits gives another sum.
  CHECK(parse(save(data, {{"k", "w"}, {checksum_key, ""}})).require_metadata(checksum_key) != sum);
  CHECK(parse(save(data, {{"kv", ""}, {checksum_key, ""}})).require_metadata(checksum_key) != sum);
  const auto edited = [&](std::string file, std::size_t at, const std::string& bytes) {
    file.replace(file.size() - data.size() + at, bytes.size(), bytes);
    return message_of([&] { parse(file); });
  };
  CHECK(edited(sealed, 0, data) == "");
  CHECK(edited(plain, 5, "x") == "");
  const std::string swapped = data.substr(9, 8) + data.substr(1, 8);
  CHECK(has(edited(sealed, 1, swapped), "[f.safetensors] checksum = "));
  CHECK(has(edited(sealed, 1, swapped), "the file says " + sum));
  std::string high = data;
  high[8] ^= '\x80', high[16] ^= '\x80';
  CHECK(has(edited(sealed, 0, high), "checksum"));
}

TEST_CASE("require names the file, the tensor, found and expected") {
  auto file = file_of(R"({"h.0.w":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]}})", "abcd");
  auto f = parse(file);
  CHECK(message_of([&] { f.get("h.1.w"); }) ==
        "[f.safetensors] tensor h.1.w is missing among the 1 of the file");
  CHECK(message_of([&] { f.require("h.0.w", f32, {2, 1}); }) ==
        "[f.safetensors] tensor h.0.w, dtype = f16: must be f32");
  CHECK(message_of([&] { f.require("h.0.w", f16, {1, 2}); }) ==
        "[f.safetensors] tensor h.0.w, shape = [2, 1]: must be [1, 2]");
  CHECK(has(message_of([&] { f.require_metadata("step"); }), "key step is missing"));
}

TEST_CASE("what cannot be written is refused and the old file stays") {
  scratch_folder dir;
  write_file_atomic(dir / "a", "old");
  auto refused = [&](std::vector<file_tensor> tensors, const metadata_list& metadata = {}) {
    return message_of([&] { save_safetensors(dir / "a", tensors, metadata); });
  };
  const auto bytes = std::as_bytes(std::span("abcd", 4));
  CHECK(has(refused({{"w", f32, {2}, bytes}}), "tensor w, shape = [2]: must fit its 4 bytes"));
  CHECK(has(refused({{"w", f32, {-1, -1}, bytes}}), "shape = [-1, -1]"));
  CHECK(has(refused({{"w", u8, {1l << 62, 8}, bytes}}), "must fit its 4 bytes of u8"));
  CHECK(has(refused({{"", f32, {1}, bytes}}), "tensor name = : must not be empty"));
  CHECK(has(refused({{"__metadata__", f32, {1}, bytes}}), "must not be empty"));
  CHECK(has(refused({{"w\xff", f32, {1}, bytes}}), "not UTF-8"));
  CHECK(has(refused({}, {{"k", "\xc0\x80"}}), "not UTF-8"));
  CHECK(has(refused({}, {{"k", "1"}, {"k", "2"}}), "key = k: must be given once"));
  CHECK(has(refused({{"w", f32, {1}, bytes}, {"w", u8, {4}, bytes}}), "tensor = w: must be given"));
  CHECK(read_file(dir / "a") == "old");
  CHECK(dir.files() == 1);
}
