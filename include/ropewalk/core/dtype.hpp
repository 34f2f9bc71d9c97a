// Element types: their names and sizes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ropewalk {

enum class dtype : std::uint8_t { f64, f32, f16, bf16, i32, u8, boolean };

inline constexpr dtype f64 = dtype::f64, f32 = dtype::f32, f16 = dtype::f16, bf16 = dtype::bf16,
                       i32 = dtype::i32, u8 = dtype::u8, boolean = dtype::boolean;

constexpr const char* dtype_name(dtype d) {
  constexpr const char* names[] = {"f64", "f32", "f16", "bf16", "i32", "u8", "bool"};
  return names[static_cast<int>(d)];
}

// Bytes of one element.
constexpr std::size_t dtype_size(dtype d) {
  constexpr std::size_t sizes[] = {8, 4, 2, 2, 4, 1, 1};
  return sizes[static_cast<int>(d)];
}

// True for the types that carry gradients.
constexpr bool is_floating(dtype d) { return d <= dtype::bf16; }

}  // namespace ropewalk
