// From the expressions of one kernel to its C++ text.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <ropewalk/graph/schedule.hpp>

#include "lowering_node.hpp"

namespace ropewalk {

// Rows are reduced in this many blocks, whatever the number of threads; a second kernel adds them.
inline constexpr std::int64_t row_blocks = 32;
// Terms added into one accumulator before it is added to a total: keeps the error of sums small.
inline constexpr std::int64_t terms_per_accumulator = 256;

enum class root_kind : std::uint8_t {
  store,       // buffer[element] = value, for every row and column, or every row
  accumulate,  // partial[block, column] or partial[block] = reduction of value over rows
};

struct kernel_root {
  root_kind kind = root_kind::store;
  int value = -1;  // accumulate: the body of the reduction
  reduction how = reduction::sum;
  int buffer = -1, element = -1;  // written; element of a store
  dtype type = dtype::f32;        // of the buffer
  bool every_column = false;      // accumulate: for every column, also where all are alike
};

// What a kernel computes. `space` holds its loop variables; `blocks` reduces rows in blocks.
struct kernel_work {
  iteration_space space;
  bool blocks = false;
  std::vector<kernel_root> roots;
};

// out[a, c] = post(reduction over b): `value` of every root contains one reduction over the row
// variables; the outer variable counts a.
struct column_work {
  iteration_space space;
  int outer = -1;  // variable, -1 where there is one only
  std::vector<kernel_root> roots;
};

struct kernel_text {
  std::string text;
  std::vector<int> buffers, writes;  // in the order of the text
  std::vector<int> dims;             // read as dims[k]
  int parallel = -1;                 // dim
  std::int64_t grain = 1;
  std::vector<int> scratch;  // dims: elements of 8 bytes, of every array
};

// The buffers that kernels name: element types, and which are one and the same (a value that
// replaces a parameter in its place).
struct buffer_table {
  std::vector<dtype> types;
  std::vector<int> same_as;  // itself where it stands alone
  dtype type(int b) const { return types[static_cast<std::size_t>(b)]; }
  int place(int b) const { return same_as[static_cast<std::size_t>(b)]; }
};

kernel_text emit_rows(arena& a, kernel_work work, const buffer_table& types);
kernel_text emit_columns(arena& a, column_work work, const buffer_table& types);

}  // namespace ropewalk
