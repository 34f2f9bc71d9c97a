// The memory plan: numbers for every symbolic dim, exact lifetimes, and a place in one arena for
// every temporary and workspace.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ropewalk/graph/schedule.hpp"

namespace ropewalk {

// Every block of the arena begins at a multiple of this.
inline constexpr std::size_t arena_alignment = 64;

// Bytes that must stay untouched from the start of step `first` to the end of step `last`.
struct arena_block {
  std::size_t bytes = 0;
  int first = 0, last = 0;
  std::size_t offset = 0;  // chosen by place()
};

// Gives every block an offset so that no two that live at once overlap; returns the arena's bytes.
// Best fit, once by size and once by time, the smaller result kept.
std::size_t place(std::span<arena_block> blocks);

// The most bytes that live at once (each rounded up to the alignment): no arena can be smaller.
std::size_t largest_live_set(std::span<const arena_block> blocks);

struct plan {
  std::vector<std::int64_t> elements;  // of every buffer of the schedule
  std::vector<arena_block> blocks;
  std::vector<int> buffer_block;     // buffer -> block; -1: not in the arena
  std::vector<int> workspace_block;  // step -> block; -1: the step needs none
  std::size_t arena_bytes = 0;
  std::size_t live_bytes = 0;  // the largest live set
  std::size_t leaf_bytes = 0;  // inputs, params and states
};

// `workspace`: the scratch bytes of every step. A temporary lives from the first step that writes
// it to the last one that touches it; one that holds an output lives to the end. Errors:
// evaluate_size(); a step that reads a temporary before any wrote it; a buffer index that is out of
// range; a view that leaves its buffer.
plan make_plan(const schedule& s, std::span<const dim_binding> bindings,
               std::span<const std::size_t> workspace);

// The memory map as text: a line per block, then the totals.
std::string print(const plan& p, const schedule& s);

}  // namespace ropewalk
