// The parameters and states of a model, by path: what sessions of one model share.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ropewalk/graph/graph.hpp"
#include "ropewalk/runtime/tensor.hpp"

namespace ropewalk {

// Holds every param and state that a session has asked for. A param's start depends on the seed and
// its path alone; it is drawn when someone first reads it, which is never where a checkpoint gives
// the values. Sessions hold the store by shared pointer; those that run at the same time must not
// write what another one reads.
class parameter_store {
 public:
  explicit parameter_store(std::uint64_t seed = 0);
  ~parameter_store();
  parameter_store(const parameter_store&) = delete;
  parameter_store& operator=(const parameter_store&) = delete;

  std::uint64_t seed() const;
  bool has(std::string_view path) const;
  // Error: nothing of that path (the message names the nearest one).
  tensor_view at(std::string_view path) const;
  // Copies elements in. Errors: no such path; another element type or count.
  void set(std::string_view path, const host_data& h);

  struct entry {
    std::string path;
    bool state = false;  // a state of a program, not a parameter of the model
    bool trainable = false;
    dtype type = dtype::f32;
    std::vector<std::int64_t> extent{};
  };
  // Sorted by path.
  std::vector<entry> entries() const;

  // The tensor of a param or state leaf; made if it is new. Its values are there after draw() only.
  // Errors: a leaf of that path with another kind, element type or extents; an initializer that is
  // not one; no memory.
  tensor_view reserve(const graph_node& leaf, std::span<const std::int64_t> extent);
  // Draws the values of all tensors that have none yet. Costs nothing where there are none.
  void draw(pool& threads) const;
  // reserve() and draw(): the tensor with its values.
  tensor_view require(const graph_node& leaf, std::span<const std::int64_t> extent, pool& threads);
  // Back to the initial values, under another seed.
  void reset(std::uint64_t seed, pool& threads);

 private:
  struct table;
  std::unique_ptr<table> table_;
};

}  // namespace ropewalk
